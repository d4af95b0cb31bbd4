/* SPDX-License-Identifier: MIT */
/* The formats of a time series, one per file. */
#ifndef FORMAT_H
#define FORMAT_H

#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "text.h"

/* What a series describes. Headers show it. */
struct subject {
	const char *const *argv; /* the command, or NULL */
	bool is_system;          /* rows describe the system, not a process tree */
	int64_t interval_ns;
};

/* The data of one row. The deltas count from the previous row. */
struct row {
	int32_t pid;                      /* root of the process tree */
	int64_t children;                 /* live descendants, or -1 if unknown */
	const struct rt_metrics *process; /* NULL if the row describes the system only */
	const struct rt_delta *process_delta;
	const struct rt_metrics *system; /* NULL if the row describes a process tree only */
	const struct rt_delta *system_delta;
	bool has_no_gpu; /* the system has none */
};

struct format {
	const char *name;
	const char *suffix; /* files with it get this format by default; NULL: none */
	bool wants_system;  /* rows of a process tree have system columns too */
	/* The head is written again when a run appends to a file. */
	bool repeats_head;
	void (*head)(struct text *out, const struct subject *subject);
	void (*row)(struct text *out, const struct row *row);
};

extern const struct format format_csv, format_csv_v5, format_jsonl;

/* Returns NULL if there is no such format. */
const struct format *format_by_name(const char *name);

/* Returns the format for the suffix of a file name, or CSV if the suffix is unknown. */
const struct format *format_by_file(const char *file);

#endif
