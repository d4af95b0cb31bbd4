/* SPDX-License-Identifier: MIT */
/* The table of options. The parser, the help and the messages are made from it. */
#include "option_table.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "text/suggest.h"

static const struct option_row rows[] = {
	{ 'i', FOR_SERIES, "interval", "TIME",
	  "time between samples, e.g. 100ms or 5m; default 1s" },
	{ 'd', FOR_SERIES, "duration", "TIME", "end the series after this time" },
	{ KEY_COUNT, FOR_SERIES, "count", "N", "end the series after N samples" },
	{ KEY_TIMEOUT, FOR_RUN, "timeout", "TIME",
	  "terminate the command after this time; exit with 124" },
	{ KEY_MAX_MEMORY, FOR_RUN, "max-memory", "SIZE",
	  "terminate the command if all its processes need more memory, e.g. 512M" },
	{ KEY_MAX_CPU_TIME, FOR_RUN, "max-cpu-time", "TIME",
	  "terminate the command above this CPU time of all processes" },
	{ KEY_MAX_PROCESSES, FOR_RUN, "max-processes", "N",
	  "terminate the command above this number of processes at once" },
	{ KEY_STRICT_LIMITS, FOR_RUN, "strict-limits", NULL,
	  "exit with 124 also if a limit was passed too briefly to end the command" },
	{ KEY_HARD_MEMORY, FOR_RUN, "hard-memory", NULL,
	  "with --max-memory: have the kernel hold the limit, too, by a cgroup" },
	{ 'o', FOR_SERIES, "output", "FILE", "write the series to FILE, or - for standard output" },
	{ 'a', FOR_SERIES, "append", NULL, "append to FILE instead of replacing it" },
	{ 'f', FOR_SERIES, "format", "FORMAT",
	  "csv, csv-v1, csv-v5 or jsonl; default: by the suffix of FILE" },
	{ KEY_FIELDS, FOR_SERIES, "fields", "NAMES",
	  "write these fields, separated by commas; see 'rtrack info --fields'" },
	{ KEY_PER_PROCESS, FOR_RUN | FOR_ATTACH, "per-process", NULL,
	  "write a row for each process instead of one for all of them" },
	{ KEY_TIME_FORMAT, FOR_SERIES, "time-format", "HOW",
	  "form of the timestamps: epoch or iso; seconds since 1970 or ISO 8601" },
	{ KEY_META, FOR_SERIES, "meta", "FILE", "write to FILE what the series is of, as JSON" },
	{ 'f', FOR_RUSAGE, "format", "FORMAT", "text or json" },
	{ KEY_SUMMARY, FOR_SERIES, "summary", "FORM", "text, json, markdown or none" },
	{ KEY_SUMMARY_FILE, FOR_SERIES, "summary-file", "FILE",
	  "write the summary to FILE, not to standard error" },
	{ KEY_TEMPLATE, FOR_SERIES, "template", "TEXT",
	  "write TEXT as summary, e.g. '%e %M' or '{wall_seconds}'; 'help' lists names" },
	{ KEY_RAW, FOR_SERIES, "raw", NULL,
	  "write texts of a template byte by byte, unless to a terminal" },
	{ KEY_LABEL, FOR_SERIES, "label", "TEXT", "put TEXT into the summary" },
	{ KEY_NO_CHILDREN, FOR_RUN | FOR_ATTACH, "no-children", NULL,
	  "follow only the process, not its descendants" },
	{ KEY_CGROUP, FOR_ATTACH, "cgroup", "PATH",
	  "follow this cgroup, e.g. /system.slice/cron.service" },
	{ KEY_UNIT, FOR_ATTACH, "unit", "NAME", "follow the cgroup of this systemd unit" },
	{ KEY_CONTAINER, FOR_ATTACH, "container", "ID", "follow the cgroup of this container" },
	{ KEY_NAME, FOR_ATTACH, "name", "REGEX",
	  "follow the process of this name, e.g. 'postgres|mysqld'" },
	{ KEY_WAIT, FOR_ATTACH, "wait", NULL, "wait until what these options name is there" },
	{ KEY_TIMEOUT, FOR_ATTACH, "timeout", "TIME",
	  "with --wait: give up after this time; exit with 124" },
	{ KEY_ROOT, FOR_SYSTEM, "root", "DIR",
	  "follow the system that DIR/proc and DIR/sys show, e.g. /host" },
	{ KEY_NETNS, FOR_SYSTEM, "netns", "NETNS",
	  "follow the network of this process, or of this name of 'ip netns'" },
	{ KEY_ACCOUNTING, FOR_RUN, "accounting", "METHOD", "auto, poll, wait, cgroup or bpf" },
	{ KEY_PSS, FOR_RUN | FOR_ATTACH, "pss", "HOW",
	  "read what processes share: exact, budget or off; default budget" },
	{ KEY_GPU, FOR_SERIES, "gpu", NULL,
	  "look at GPUs, too; opens the library of their driver" },
	{ KEY_PROCESSES, FOR_RUN, "processes", "FILE",
	  "list every process in FILE (CSV, or JSON for *.jsonl)" },
	{ KEY_LIVE, FOR_RUN, "live", "[=WHEN]",
	  "show figures in the last row: auto, always or never; by itself it is always, "
	  "auto shows none" },
	{ KEY_LIVE, FOR_ATTACH | FOR_SYSTEM, "live", "[=WHEN]",
	  "show a line that is updated in place: auto, always or never; default auto" },
	{ KEY_COLOR, FOR_SERIES, "color", "WHEN", "colour the summary: auto, always or never" },
	{ KEY_PID, FOR_TRACE, "pid", "PID", "trace this process and its descendants" },
	{ KEY_ALL, FOR_TRACE, "all", NULL, "trace all processes of the system" },
	{ KEY_CALLS, FOR_TRACE, "calls", "CALLS",
	  "getrusage, wait4, waitid, separated by commas; default getrusage" },
	{ KEY_BACK_END, FOR_TRACE, "back-end", "HOW", "auto, bpf or ptrace" },
	{ KEY_LIVE_CHILDREN, FOR_TRACE, "live-children", NULL,
	  "also show what children not yet waited for have used" },
	{ KEY_NO_CHILDREN, FOR_TRACE, "no-children", NULL,
	  "trace only the process, not its descendants" },
	{ 'o', FOR_TRACE, "output", "FILE", "write the calls to FILE, or - for standard output" },
	{ 'f', FOR_TRACE, "format", "FORMAT",
	  "text, jsonl, tracee or tracee-v1beta1; default: by the suffix of FILE" },
	{ 'd', FOR_TRACE, "duration", "TIME", "end the trace after this time" },
	{ KEY_RING_BYTES, FOR_TRACE, "ring-bytes", "SIZE",
	  "memory for calls that wait to be written; default 32 MiB" },
	{ 'q', FOR_TRACE, "quiet", NULL, "write no summary" },
	{ KEY_CHILDREN, FOR_RUSAGE, "children", NULL, "show the children that rtrack waited for" },
	{ KEY_THREAD, FOR_RUSAGE, "thread", NULL, "show the calling thread" },
	{ KEY_PID, FOR_RUSAGE, "pid", "PID", "show this process" },
	{ KEY_JSON, FOR_INFO, "json", NULL, "write one JSON object" },
	{ KEY_LIST_FIELDS, FOR_INFO, "fields", NULL, "list the fields that a series can have" },
	{ 'q', FOR_SERIES, "quiet", NULL, "write no live line, and no summary unless to a file" },
	{ 'v', FOR_SERIES, "verbose", NULL, "write a longer summary" },
	{ 'h', FOR_ALL, "help", NULL, "show this help and exit" },
	{ 'V', FOR_ALL, "version", NULL, "show the version and exit" },
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

_Static_assert(ROW_COUNT < OPTIONS_MAX, "OPTIONS_MAX is too small");

const struct option_row *option_row_at(int index)
{
	return index < ROW_COUNT ? &rows[index] : NULL;
}

const struct option_row *option_row_find(unsigned commands, int key)
{
	for (int i = 0; i < ROW_COUNT; i++) {
		if (rows[i].key == key && rows[i].commands & commands)
			return &rows[i];
	}
	return NULL;
}

int option_row_has_argument(const struct option_row *row)
{
	if (!row->argument)
		return no_argument;
	return *row->argument == '[' ? optional_argument : required_argument;
}

const char *option_row_words(const struct option_row *row, size_t *len)
{
	const char *colon = strchr(row->help, ':'), *end = row->help + strcspn(row->help, ";");
	const char *words = colon && colon < end ? colon + 2 : row->help;

	*len = (size_t)(end - words);
	return words;
}

bool option_row_near_word(const struct option_row *row, const char *argument, char *out,
                          size_t size)
{
	size_t len, at = 0;
	const char *words = option_row_words(row, &len);

	while (at < len) {
		size_t word = strcspn(words + at, " ,;");

		word = word < len - at ? word : len - at;
		snprintf(out, size, "%.*s", (int)word, words + at);
		if (word > 0 && strcmp(out, "or") != 0 && is_near(argument, out))
			return true;
		at += word + 1;
	}
	return false;
}
