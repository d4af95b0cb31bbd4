/* SPDX-License-Identifier: MIT */
/* The formats of a time series. Each has a file of its own. */
#ifndef FORMAT_H
#define FORMAT_H

#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "text.h"

/* What a series is about: for headers. */
struct subject {
	const char *const *argv; /* the command, or NULL */
	bool is_system;          /* rows are about the machine, not about a process tree */
	int64_t interval_ns;
};

/* What one row is made of. The differences are those since the row before. */
struct row {
	int32_t pid;                      /* of the process tree */
	int64_t children;                 /* descendants alive; -1 when not known */
	const struct rt_metrics *process; /* NULL when the row is about the machine alone */
	const struct rt_delta *process_delta;
	const struct rt_metrics *system; /* NULL when the row is about a process tree alone */
	const struct rt_delta *system_delta;
};

struct format {
	const char *name;
	const char *suffix; /* of files that get this format by default; NULL for none */
	bool wants_system;  /* rows of a process tree need the machine's figures too */
	/* the head is a record that belongs there again when a file is appended to */
	bool repeats_head;
	void (*head)(struct text *out, const struct subject *subject);
	void (*row)(struct text *out, const struct row *row);
};

extern const struct format format_csv, format_csv_v5, format_jsonl;

/* NULL when there is no such format. */
const struct format *format_by_name(const char *name);

/* By the suffix of a file name; CSV when it tells nothing. */
const struct format *format_by_file(const char *file);

#endif
