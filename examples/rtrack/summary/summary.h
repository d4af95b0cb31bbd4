/* SPDX-License-Identifier: MIT */
/* The summary at the end. */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <stdbool.h>

#include "follow/follow.h"
#include "options/options.h"
#include "output/output.h"
#include "output/terminal.h"
#include "text/text.h"
#include "usage.h"

/* The output of the summary. It is opened before a command is started. */
struct summary {
	const struct options *options;
	struct output out; /* its descriptor is negative if there is no summary */
	struct terminal terminal;
};

/* Returns 0, or reports the error and returns it as a negative errno value. */
int summary_open(struct summary *s, const struct options *options);

/* Returns true if the processes that used most are shown. */
bool summary_wants_top(const struct summary *s);

/* Write what was used. Several process trees follow each other. */
void summary_write(struct summary *s, const struct usage *usages, size_t count);

/* Close the output. If nothing was written to a file that was made for it, remove the file. */
void summary_close(struct summary *s);

/* The forms, one per file. */
void summary_as_text(struct text *out, const struct terminal *terminal, const struct usage *usage,
                     bool is_long);
void summary_as_markdown(struct text *out, const struct usage *usage, bool is_long);
void summary_as_json(struct text *out, const struct usage *usage);

#endif
