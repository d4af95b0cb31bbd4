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
	{ KEY_NAME, FOR_ATTACH, OPTION_FOLLOW, "name", "REGEX",
	  "follow the process of this name, e.g. 'nginx|caddy'" },
	{ KEY_FULL, FOR_ATTACH, OPTION_FOLLOW, "full", NULL,
	  "look for REGEX in the command line, as pgrep -f does" },
	{ KEY_ALL, FOR_ATTACH, OPTION_FOLLOW, "all", NULL, "follow all processes of that name" },
	{ KEY_UNIT, FOR_ATTACH, OPTION_FOLLOW, "unit", "NAME",
	  "follow the cgroup of this systemd unit" },
	{ KEY_CONTAINER, FOR_ATTACH, OPTION_FOLLOW, "container", "ID",
	  "follow the cgroup of this container (id or name)" },
	{ KEY_CGROUP, FOR_ATTACH, OPTION_FOLLOW, "cgroup", "PATH",
	  "follow this cgroup, e.g. /system.slice/cron.service" },
	{ KEY_WAIT, FOR_ATTACH, OPTION_FOLLOW, "wait", "[=TIME]",
	  "wait until it exists, at most TIME" },
	{ KEY_PID, FOR_TRACE, OPTION_FOLLOW, "pid", "PID",
	  "trace this process and its descendants" },
	{ KEY_ALL, FOR_TRACE, OPTION_FOLLOW, "all", NULL, "trace all processes of the system" },
	{ KEY_CALLS, FOR_TRACE, OPTION_FOLLOW, "calls", "CALLS",
	  "getrusage, wait4, waitid, separated by commas; default getrusage" },
	{ KEY_LIVE_CHILDREN, FOR_TRACE, OPTION_FOLLOW, "live-children", NULL,
	  "also show what children not yet waited for have used" },
	{ KEY_NO_CHILDREN, FOR_RUN | FOR_ATTACH, OPTION_FOLLOW, "no-children", NULL,
	  "follow only the process, not its descendants" },
	{ KEY_NO_CHILDREN, FOR_TRACE, OPTION_FOLLOW, "no-children", NULL,
	  "trace only the process, not its descendants" },
	{ KEY_ROOT, FOR_SYSTEM, OPTION_FOLLOW, "root", "DIR",
	  "follow the system that DIR/proc and DIR/sys show, e.g. /host" },
	{ KEY_NETNS, FOR_SYSTEM, OPTION_FOLLOW, "netns", "NETNS",
	  "follow the network of this process, or of this name of 'ip netns'" },
	{ KEY_GPU, FOR_SERIES, OPTION_FOLLOW, "gpu", NULL,
	  "measure GPUs too; loads their driver's library" },
	{ KEY_TIMEOUT, FOR_RUN, OPTION_LIMIT, "timeout", "TIME",
	  "end the command after this time; exit with 124" },
	{ KEY_MAX_MEMORY, FOR_RUN, OPTION_LIMIT, "max-memory", "SIZE",
	  "end it above this memory of all processes, e.g. 2G" },
	{ KEY_MAX_CPU_TIME, FOR_RUN, OPTION_LIMIT, "max-cpu-time", "TIME",
	  "end it above this CPU time of all processes" },
	{ KEY_MAX_PROCESSES, FOR_RUN, OPTION_LIMIT, "max-processes", "N",
	  "end it above this number of processes at once" },
	{ KEY_STRICT_LIMITS, FOR_RUN, OPTION_LIMIT, "strict-limits", NULL,
	  "exit with 124 even if a limit was exceeded only briefly" },
	{ KEY_HARD_MEMORY, FOR_RUN, OPTION_LIMIT, "hard-memory", NULL,
	  "also enforce --max-memory with a cgroup" },
	{ 'o', FOR_SERIES, OPTION_WRITE, "output", "FILE",
	  "write the series to FILE, or - for standard output" },
	{ 'a', FOR_SERIES, OPTION_WRITE, "append", NULL, "append to FILE instead of replacing it" },
	{ 'f', FOR_SERIES, OPTION_WRITE, "format", "FORMAT",
	  "csv, csv-v1, csv-v5 or jsonl; default by the suffix" },
	{ KEY_FIELDS, FOR_SERIES, OPTION_WRITE, "fields", "NAMES",
	  "write these, with commas; see 'rtrack info --fields'" },
	{ KEY_PER_PROCESS, FOR_RUN | FOR_ATTACH, OPTION_WRITE, "per-process", NULL,
	  "write a row for each process, not one for all" },
	{ KEY_TIME_FORMAT, FOR_SERIES, OPTION_WRITE, "time-format", "HOW",
	  "form of the timestamps: epoch or iso" },
	{ KEY_META, FOR_SERIES, OPTION_WRITE, "meta", "FILE",
	  "write to FILE what the series is of, as JSON" },
	{ KEY_PROCESSES, FOR_RUN, OPTION_WRITE, "processes", "FILE",
	  "list every process in FILE (CSV, or JSON for *.jsonl)" },
	{ 'o', FOR_TRACE, OPTION_WRITE, "output", "FILE",
	  "write the calls to FILE, or - for standard output" },
	{ 'f', FOR_TRACE, OPTION_WRITE, "format", "FORMAT",
	  "text, jsonl, tracee or tracee-v1beta1; default by the suffix of FILE" },
	{ 'o', FOR_RUSAGE, OPTION_WRITE, "output", "FILE",
	  "write the fields to FILE, as JSON if it is *.json" },
	{ KEY_JSON, FOR_RUSAGE | FOR_INFO, OPTION_WRITE, "json", NULL, "write one JSON object" },
	{ KEY_LIST_FIELDS, FOR_INFO, OPTION_WRITE, "fields", NULL,
	  "list the fields that a series can have" },
	{ KEY_SUMMARY, FOR_SERIES, OPTION_SHOW, "summary", "FORM", "text, json, markdown or none" },
	{ KEY_SUMMARY_FILE, FOR_SERIES, OPTION_SHOW, "summary-file", "FILE",
	  "write the summary to FILE, not to standard error" },
	{ KEY_TEMPLATE, FOR_SERIES, OPTION_SHOW, "template", "TEXT",
	  "write TEXT as summary, e.g. '%e %M'; help: all names" },
	{ KEY_RAW, FOR_SERIES, OPTION_SHOW, "raw", NULL,
	  "do not escape control characters in --template" },
	{ KEY_LABEL, FOR_SERIES, OPTION_SHOW, "label", "TEXT", "add TEXT to the summary" },
	{ KEY_LIVE, FOR_RUN, OPTION_SHOW, "live", "[=WHEN]",
	  "show figures in the last row: auto, always or never" },
	{ KEY_LIVE, FOR_ATTACH | FOR_SYSTEM, OPTION_SHOW, "live", "[=WHEN]",
	  "show a line of figures: auto, always or never" },
	{ KEY_COLOR, FOR_SERIES, OPTION_SHOW, "color", "WHEN",
	  "colour the summary: auto, always or never" },
	{ 'q', FOR_SERIES, OPTION_SHOW, "quiet", NULL,
	  "write no live line, and no summary unless to a file" },
	{ 'q', FOR_TRACE, OPTION_SHOW, "quiet", NULL, "write no summary" },
	{ 'v', FOR_SERIES, OPTION_SHOW, "verbose", NULL, "write a longer summary" },
	{ 'v', FOR_INFO, OPTION_SHOW, "verbose", NULL,
	  "show all figures, and why some are missing" },
	{ 'i', FOR_SERIES, OPTION_MEASURE, "interval", "TIME",
	  "time between samples, e.g. 100ms or 5m; default 1s" },
	{ 'd', FOR_SERIES, OPTION_MEASURE, "duration", "TIME", "end the series after this time" },
	{ 'd', FOR_TRACE, OPTION_MEASURE, "duration", "TIME", "end the trace after this time" },
	{ KEY_COUNT, FOR_SERIES, OPTION_MEASURE, "count", "N", "end the series after N samples" },
	{ KEY_ACCOUNTING, FOR_RUN, OPTION_MEASURE, "accounting", "METHOD",
	  "auto, poll, wait, cgroup or bpf" },
	{ KEY_PSS, FOR_RUN | FOR_ATTACH, OPTION_MEASURE, "pss", "HOW",
	  "read what processes share: exact, budget or off; default budget" },
	{ KEY_BACK_END, FOR_TRACE, OPTION_MEASURE, "back-end", "HOW", "auto, bpf or ptrace" },
	{ KEY_RING_BYTES, FOR_TRACE, OPTION_MEASURE, "ring-bytes", "SIZE",
	  "memory for calls that wait to be written; default 32 MiB" },
	{ 'h', FOR_ALL, OPTION_HELP, "help", NULL, "show this help and exit" },
	{ 'V', FOR_ALL, OPTION_HELP, "version", NULL, "show the version and exit" },
	{ KEY_TIMEOUT, FOR_ATTACH, OPTION_OLD, "timeout", "TIME", "" },
	{ 'f', FOR_RUSAGE, OPTION_OLD, "format", "FORMAT", "text or json" },
	{ KEY_PID, FOR_RUSAGE, OPTION_OLD, "pid", "PID", "" },
	{ KEY_CHILDREN, FOR_RUSAGE, OPTION_OLD, "children", NULL, "" },
	{ KEY_THREAD, FOR_RUSAGE, OPTION_OLD, "thread", NULL, "" },
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

const char *option_row_argument(const struct option_row *row, size_t *len)
{
	const char *name = row->argument + strspn(row->argument, "[=");

	*len = strcspn(name, "]");
	return name;
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
