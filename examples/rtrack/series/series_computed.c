/* SPDX-License-Identifier: MIT */
/* The columns of a series that are not fields of the library, but are computed from some. */
#include <stdbool.h>

#include "series_columns.h"

static struct value word(const char *s)
{
	return (struct value){ .type = s ? VALUE_WORD : VALUE_UNKNOWN, .word = s };
}

static struct value type(const struct row *row)
{
	(void)row;
	return word("sample");
}

static struct value kind(const struct row *row)
{
	if (row->member)
		return word("member");
	if (row->cgroup)
		return word("cgroup");
	return word(row->process ? "process" : "system");
}

static struct value timestamp(const struct row *row)
{
	return (struct value){ .type = VALUE_TIME, .whole = row_sample(row)->realtime_ns };
}

static struct value pid(const struct row *row)
{
	return (struct value){ .type = row->pid > 0 ? VALUE_SIGNED : VALUE_UNKNOWN,
		               .number = row->pid };
}

static struct value cgroup(const struct row *row)
{
	return (struct value){ .type = row->cgroup ? VALUE_TEXT : VALUE_UNKNOWN,
		               .word = row->cgroup };
}

static struct value children(const struct row *row)
{
	return (struct value){ .type = row->children >= 0 ? VALUE_SIGNED : VALUE_UNKNOWN,
		               .number = row->children };
}

static struct value cpu(const struct row *row)
{
	const struct rt_metrics *m = row_sample(row);

	return (struct value){ .type = VALUE_SECONDS, .whole = m->cpu_user_ns + m->cpu_system_ns };
}

static struct value cpu_difference(const struct row *row)
{
	const struct rt_delta *d = row_delta(row);

	return (struct value){ .type = VALUE_SECONDS, .whole = d->cpu_user_ns + d->cpu_system_ns };
}

/* 1.5 is one GPU that was always busy, and one that was busy for half of the interval. */
static struct value gpus_busy(const struct row *row)
{
	const struct rt_delta *d = row_delta(row);
	struct value value = { .type = VALUE_UNKNOWN };

	if (d->interval_ns > 0) {
		value.type = VALUE_REAL;
		value.real = (double)d->gpu_busy_ns / (double)d->interval_ns;
	}
	return value;
}

static struct value swap_used(const struct row *row)
{
	const struct rt_metrics *m = row_sample(row);

	return (struct value){ .type = VALUE_UNSIGNED,
		               .whole = m->swap_total_bytes - m->swap_free_bytes };
}

static struct value source(const struct row *row)
{
	return word(source_name(row_sample(row)->source));
}

static struct value pss_source(const struct row *row)
{
	return word(pss_source_name(row_sample(row)->pss_source));
}

static struct value reasons(const struct row *row)
{
	return (struct value){ .type = VALUE_REASONS, .whole = row_sample(row)->reasons };
}

static struct value partial(const struct row *row)
{
	(void)row;
	return (struct value){ .type = VALUE_PARTIAL };
}

static struct value estimated(const struct row *row)
{
	(void)row;
	return (struct value){ .type = VALUE_ESTIMATED };
}

#define COLUMN(title, meaning, measure, origin_of_marks, bits, kind_of_value, function, ...)       \
	{                                                                                          \
		.name = (title), .about = (meaning), .unit = (measure),                            \
		.origin = (origin_of_marks), .has = (bits), .type = (kind_of_value),               \
		.compute = (function), __VA_ARGS__                                                 \
	}
#define USUAL .is_usual = true, .kinds = OF_ANY
#define TOTAL .is_usual = true, .kinds = OF_TOTALS
#define NOT_OF_SYSTEM .is_usual = true, .kinds = OF_TREE | OF_CGROUP
#define OF_CGROUPS .is_usual = true, .kinds = OF_CGROUP | OF_CGROUP_MEMBERS
#define ON_DEMAND .is_usual = false, .kinds = OF_TOTALS

const struct column computed_columns[] = {
	COLUMN("type", "sample", "", FROM_SAMPLE, 0, VALUE_WORD, type, USUAL),
	COLUMN("kind", "what the row is of: process (a tree), cgroup, system or member (a process)",
	       "", FROM_SAMPLE, 0, VALUE_WORD, kind, USUAL),
	COLUMN("timestamp", "time of the sample, since 1970", "s", FROM_SAMPLE, 0, VALUE_TIME,
	       timestamp, USUAL),
	COLUMN("pid", "the process that was started or attached to", "", FROM_SAMPLE, 0,
	       VALUE_SIGNED, pid, NOT_OF_SYSTEM),
	COLUMN("cgroup", "the cgroup that was attached to", "", FROM_SAMPLE, 0, VALUE_TEXT, cgroup,
	       OF_CGROUPS),
	COLUMN("children", "live descendants", "1", FROM_SAMPLE, RT_HAS_PROCESSES, VALUE_SIGNED,
	       children, NOT_OF_SYSTEM),
	COLUMN("cpu_seconds", "CPU time in user and kernel mode", "s", FROM_SAMPLE, RT_HAS_CPU,
	       VALUE_SECONDS, cpu, ON_DEMAND),
	COLUMN("d_cpu_seconds", "CPU time in user and kernel mode", "s", FROM_DELTA, RT_HAS_CPU,
	       VALUE_SECONDS, cpu_difference, ON_DEMAND),
	COLUMN("gpus_busy", "GPUs in use in the interval: 1.5 is one always and one half of it",
	       "1", FROM_DELTA, RT_HAS_GPU, VALUE_REAL, gpus_busy, TOTAL),
	COLUMN("swap_used_bytes", "swap space in use", "By", FROM_SAMPLE, RT_HAS_SWAP,
	       VALUE_UNSIGNED, swap_used, TOTAL),
	COLUMN("source", "where figures come from: proc, bpf or bpf-account", "", FROM_SAMPLE, 0,
	       VALUE_WORD, source, NOT_OF_SYSTEM),
	COLUMN("pss_source", "where pss_bytes comes from: read or estimated", "", FROM_SAMPLE,
	       RT_HAS_PSS, VALUE_WORD, pss_source, TOTAL),
	COLUMN("reasons", "why counters may be too low", "", FROM_SAMPLE, 0, VALUE_REASONS, reasons,
	       TOTAL),
	COLUMN("partial", "the figures of the row that are lower bounds", "", FROM_SAMPLE, 0,
	       VALUE_PARTIAL, partial, USUAL),
	COLUMN("estimated", "the figures of the row that may be above or below the truth", "",
	       FROM_SAMPLE, 0, VALUE_ESTIMATED, estimated, USUAL),
};

const size_t computed_column_count = sizeof(computed_columns) / sizeof(computed_columns[0]);
