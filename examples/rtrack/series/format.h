/* SPDX-License-Identifier: MIT */
/* The formats of a time series, one per file. */
#ifndef FORMAT_H
#define FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

#include "text/text.h"

struct columns;
struct member;

/* What a series describes. */
struct subject {
	const char *const *argv; /* the command, or NULL */
	bool is_system;          /* rows describe the system, not a process tree */
	bool is_cgroup;          /* rows describe cgroups alone */
	int64_t interval_ns;
};

/* The data of one row. The deltas count from the previous row. */
struct row {
	int32_t pid;                      /* root of the process tree; 0: none, as of a cgroup */
	const char *cgroup;               /* that the row is of, or NULL */
	int64_t children;                 /* live descendants, or -1 if unknown */
	const struct rt_metrics *process; /* NULL if the row describes the system only */
	const struct rt_delta *process_delta;
	const struct rt_metrics *system; /* NULL if the row describes a process tree only */
	const struct rt_delta *system_delta;
	const struct member *member; /* NULL unless the row describes one process of a tree */
	bool has_no_gpu;             /* the system has none */
};

struct format {
	const char *name;
	const char *suffix; /* files with it get this format by default; NULL: none */
	bool wants_system;  /* rows of a process tree have system columns too */
	/* Get the default columns for a kind of series. NULL: the format has fixed columns. */
	int (*choose)(struct columns *columns, uint32_t kind);
	/* Write the names of the columns. NULL: each row has them. */
	void (*head)(struct text *out, const struct columns *columns);
	void (*row)(struct text *out, const struct columns *columns, const struct row *row);
};

extern const struct format format_csv, format_csv_v1, format_csv_v5, format_jsonl;

/* Returns NULL if there is no such format. */
const struct format *format_by_name(const char *name);

/* Returns the format for the suffix of a file name, or CSV if the suffix is unknown. */
const struct format *format_by_file(const char *file);

#endif
