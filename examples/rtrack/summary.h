/* SPDX-License-Identifier: MIT */
/* What is told at the end. */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <stdbool.h>

#include "follow.h"
#include "options.h"
#include "terminal.h"
#include "text.h"
#include "usage.h"

/* Where the summary goes, opened before anything is started. */
struct summary {
	const struct options *options;
	int fd; /* -1: no summary */
	struct terminal terminal;
	struct text text;
};

/* 0, or -1 when the file cannot be opened; the reason has been told. */
int summary_open(struct summary *s, const struct options *options);

/* Tell what a command has used. */
void summary_of_command(struct summary *s, const struct usage *usage);

/* Tell what trees that were attached to have used. */
void summary_of_attached(struct summary *s, const struct usage *usages, size_t count,
                         uint64_t wall_ns);

/* Tell what the machine has done. */
void summary_of_system(struct summary *s, const struct follow *system);

/* summary_text.c and summary_json.c: the two forms. */
void text_of_tree(struct text *out, const struct terminal *terminal, const struct usage *usage,
                  bool is_long);
void text_of_system(struct text *out, const struct terminal *terminal, const struct follow *system,
                    bool is_long);
void json_of_command(struct text *out, const struct usage *usage);
void json_of_attached(struct text *out, const struct usage *usages, size_t count, uint64_t wall_ns);
void json_of_system(struct text *out, const struct follow *system);

#endif
