/* SPDX-License-Identifier: MIT */
/* The sentences of a summary for people, which text and Markdown share. */
#ifndef SUMMARY_WORDS_H
#define SUMMARY_WORDS_H

#include "summary_fields.h"

/* Returns true if people are shown this field. is_long: of a longer summary. */
bool summary_shows(const struct summary_field *field, const struct usage *u, bool is_long);

/* Returns true if a field is shown as unknown. */
bool summary_is_unknown(const struct summary_field *field, const struct usage *u);

/* Add the value of a field: "at least 83.8 MiB", or "unknown". */
void summary_add_value(struct text *out, const struct summary_field *field, const struct usage *u);

/* Add what the value means, or nothing. */
void summary_add_meaning(struct text *out, const struct summary_field *field,
                         const struct usage *u);

/* Add what was measured: words of our own, e.g. "process 42: ", and a text of another origin, e.g.
 * "make -j4" or the path of a cgroup. Returns false if there is no such text. */
bool summary_add_subject(struct text *words, struct text *name, const struct usage *u);

/* Add how a command ended, or whether a process runs: "exit 0". */
void summary_add_ending(struct text *out, const struct usage *u);

/* Add what the accounting method is, and whether it is complete: "wait, perhaps incomplete". */
void summary_add_accounting(struct text *out, const struct usage *u);

/* Add one sentence about what may be missing, and why. Returns false past the last. */
bool summary_add_caveat(struct text *out, const struct usage *u, unsigned index);

/* Returns true if the processes that used most shall be shown: there is more than one. */
bool summary_shows_top(const struct usage *u);

/* Add what a process used: "at least 0.310 s". */
void summary_add_top_cpu(struct text *out, const struct top_process *process);
void summary_add_top_memory(struct text *out, const struct top_process *process);

/* Returns the command line of a process, or its name. */
const char *summary_top_command(const struct top_process *process);

#endif
