/* SPDX-License-Identifier: MIT */
/* The columns of a series of processes that are not fields of struct rt_process. */
#include <stdbool.h>
#include <stddef.h>

#include "follow/figures.h"
#include "follow/members.h"
#include "series_columns.h"

static struct value text(const char *s)
{
	return (struct value){ .type = s && *s ? VALUE_TEXT : VALUE_UNKNOWN, .word = s };
}

static struct value interval(const struct row *row)
{
	return (struct value){ .type = VALUE_SECONDS, .whole = row->process_delta->interval_ns };
}

static struct value root_pid(const struct row *row)
{
	return (struct value){ .type = row->pid > 0 ? VALUE_SIGNED : VALUE_UNKNOWN,
		               .number = row->pid };
}

static struct value start_timestamp(const struct row *row)
{
	return (struct value){ .type = VALUE_TIME, .whole = row->member->start_realtime_ns };
}

static struct value name(const struct row *row)
{
	return text(row->member->now->comm);
}

static struct value command_line(const struct row *row)
{
	return text(row->member->command);
}

/* The letters of the kernel. */
static struct value state(const struct row *row)
{
	static const char words[][2] = { "R", "S", "D", "Z", "T", "t", "X", "I", "P", "W" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (row->member->now->state == (unsigned char)words[i][0])
			return (struct value){ .type = VALUE_WORD, .word = words[i] };
	}
	return (struct value){ .type = VALUE_UNKNOWN };
}

static uint64_t cpu_ns(const struct rt_process *process)
{
	return process->cpu_user_ns + process->cpu_system_ns;
}

static struct value cpu(const struct row *row)
{
	return (struct value){ .type = VALUE_SECONDS, .whole = cpu_ns(row->member->now) };
}

static struct value cpu_difference(const struct row *row)
{
	uint64_t now_ns = cpu_ns(row->member->now), base_ns = cpu_ns(row->member->base);

	return (struct value){ .type = now_ns >= base_ns ? VALUE_SECONDS : VALUE_UNKNOWN,
		               .whole = now_ns - base_ns };
}

static struct value cores_used(const struct row *row)
{
	struct value used = cpu_difference(row);
	uint64_t interval_ns = row->process_delta->interval_ns;

	if (used.type == VALUE_UNKNOWN || interval_ns == 0)
		return (struct value){ .type = VALUE_UNKNOWN };
	return (struct value){ .type = VALUE_REAL,
		               .real = (double)used.whole / (double)interval_ns };
}

static struct value pss_source(const struct row *row)
{
	const char *source = pss_source_name(row->member->now->pss_source);

	return (struct value){ .type = source ? VALUE_WORD : VALUE_UNKNOWN, .word = source };
}

#define COLUMN(title, meaning, measure, origin_of_marks, bits, kind_of_value, function,            \
               is_default)                                                                         \
	{                                                                                          \
		.name = (title), .about = (meaning), .unit = (measure),                            \
		.origin = (origin_of_marks), .has = (bits), .type = (kind_of_value),               \
		.compute = (function), .is_usual = (is_default), .kinds = OF_PROCESSES,            \
	}

const struct column member_columns[] = {
	COLUMN("interval_seconds", "time since the sample before, without time suspended", "s",
	       FROM_SAMPLE, 0, VALUE_SECONDS, interval, true),
	COLUMN("root_pid", "the process that was started or attached to", "", FROM_SAMPLE, 0,
	       VALUE_SIGNED, root_pid, true),
	COLUMN("start_timestamp", "when the process began: no other process has this and the pid",
	       "s", FROM_MEMBER, 0, VALUE_TIME, start_timestamp, true),
	COLUMN("name", "name: 15 bytes, which the process may set", "", FROM_MEMBER, 0, VALUE_TEXT,
	       name, true),
	COLUMN("command_line", "words of the command line; read again once a second at most", "",
	       FROM_MEMBER, 0, VALUE_TEXT, command_line, false),
	COLUMN("state", "letter of the kernel: R runs, S and D wait, T is stopped, Z has ended", "",
	       FROM_MEMBER, 0, VALUE_WORD, state, true),
	COLUMN("cores_used", "CPU time in the interval, divided by its length", "1",
	       FROM_MEMBER_BEFORE, RT_HAS_CPU, VALUE_REAL, cores_used, true),
	COLUMN("cpu_seconds", "CPU time of its own threads", "s", FROM_MEMBER, RT_HAS_CPU,
	       VALUE_SECONDS, cpu, true),
	COLUMN("d_cpu_seconds", "CPU time of its own threads", "s", FROM_MEMBER_BEFORE, RT_HAS_CPU,
	       VALUE_SECONDS, cpu_difference, true),
	COLUMN("pss_source", "where pss_bytes comes from: read or estimated", "", FROM_MEMBER,
	       RT_HAS_PSS, VALUE_WORD, pss_source, true),
};

const size_t member_column_count = sizeof(member_columns) / sizeof(member_columns[0]);
