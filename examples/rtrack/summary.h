/* SPDX-License-Identifier: MIT */
/* The summary at the end. */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <stdbool.h>

#include "follow.h"
#include "options.h"
#include "terminal.h"
#include "text.h"
#include "usage.h"

/* The output of the summary. It is opened before a command is started. */
struct summary {
	const struct options *options;
	int fd; /* -1: no summary */
	struct terminal terminal;
	struct text text;
};

/* Returns 0, or reports the error and returns it as a negative errno value. */
int summary_open(struct summary *s, const struct options *options);

/* Write what a command used. */
void summary_of_command(struct summary *s, const struct usage *usage);

/* Write what process trees used since attaching to them. */
void summary_of_attached(struct summary *s, const struct usage *usages, size_t count,
                         uint64_t wall_ns);

/* Write what the system did. */
void summary_of_system(struct summary *s, const struct follow *system);

/* The two forms: summary_text.c and summary_json.c. */
void text_of_tree(struct text *out, const struct terminal *terminal, const struct usage *usage,
                  bool is_long);
void text_of_system(struct text *out, const struct terminal *terminal, const struct follow *system,
                    bool is_long);
void json_of_command(struct text *out, const struct usage *usage);
void json_of_attached(struct text *out, const struct usage *usages, size_t count, uint64_t wall_ns);
void json_of_system(struct text *out, const struct follow *system);

#endif
