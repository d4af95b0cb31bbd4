/* SPDX-License-Identifier: MIT */
/* The first lines of rtrack info: what is missing here, and what that costs. */
#include "info_brief.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "follow/figures.h"

enum { SHOWN_MAX = 3, LINE_COLUMNS = 80 };

struct lines {
	struct text *out;
	int count, max;
};

void brief_free(struct brief *brief)
{
	text_free(&brief->of_trees);
	text_free(&brief->of_commands);
	text_free(&brief->of_system);
}

/* Add a line, which is cut if it is too long. */
static void add_line(struct text *out, const char *head, const char *about, const char *names)
{
	char line[400];
	int len = snprintf(line, sizeof(line), "%-9s%s%s", head, about, names);

	if (len > LINE_COLUMNS)
		strcpy(line + LINE_COLUMNS - 3, "...");
	text_printf(out, "%s\n", line);
}

static void add_loss(struct lines *lines, bool is_missing, const char *about, const char *names)
{
	if (is_missing && lines->count++ < lines->max)
		add_line(lines->out, "missing", about, names);
}

static void add_names(struct lines *lines, const char *about, const struct text *names)
{
	add_loss(lines, names->len > 0, about, names->data);
}

/* What costs most comes first. Returns how many there are. */
static int add_losses(struct text *out, const struct brief *b, int max)
{
	struct lines lines = { .out = out, .max = max };

	add_loss(&lines, b->accounting == RT_ACCOUNTING_AUTO,
	         "accounting methods: rtrack run does not work", "");
	add_loss(&lines, b->accounting == RT_ACCOUNTING_POLL,
	         "a supervisor: run may miss orphans that end between two samples", "");
	add_names(&lines, "figures of processes: ", &b->of_trees);
	add_names(&lines, "figures of the system: ", &b->of_system);
	add_loss(&lines, b->accounting == RT_ACCOUNTING_WAIT,
	         "a cgroup per command: run may miss what no process waited for", "");
	add_loss(&lines, !b->has_bpf, "BPF programs: attach may miss what no process waited for",
	         "");
	add_loss(&lines, !b->has_events,
	         "process events: --processes may lack short-lived processes", "");
	add_names(&lines, "in the summary of run: ", &b->of_commands);
	add_loss(&lines, b->has_silent_gpu, "GPUs: their driver does not answer, so no figures",
	         "");
	add_loss(&lines, !b->can_trace_by_bpf && !b->can_trace_by_ptrace,
	         "a tracer: rtrack trace does not work", "");
	add_loss(&lines, !b->can_trace_by_bpf && b->can_trace_by_ptrace,
	         "traces by BPF: trace --pid and --all do not work", "");
	return lines.count;
}

static void add_working(struct text *out, const struct brief *b)
{
	char run[40] = "", works[100];

	if (b->accounting != RT_ACCOUNTING_AUTO)
		snprintf(run, sizeof(run), "run by %s, ", accounting_name(b->accounting));
	snprintf(works, sizeof(works), "%sattach by %s%s%s", run, b->has_bpf ? "bpf" : "poll",
	         b->can_trace_by_bpf || b->can_trace_by_ptrace ? ", trace by " : "",
	         b->can_trace_by_bpf      ? "bpf"
	         : b->can_trace_by_ptrace ? "ptrace"
	                                  : "");
	add_line(out, "works", works, "");
}

/* The release of the kernel is cut if there is no room for it: advice is more use. */
static void add_versions(struct text *out, const char *advice)
{
	struct utsname kernel = { .sysname = "unknown" };
	size_t room = LINE_COLUMNS - strlen(advice);
	char line[200];
	int len;

	uname(&kernel);
	len = snprintf(line, sizeof(line), "rtrack %d.%d.%d, %s %s", RT_VERSION_MAJOR,
	               RT_VERSION_MINOR, RT_VERSION_PATCH, kernel.sysname, kernel.release);
	if (*advice && (size_t)len > room)
		strcpy(line + room - 3, "...");
	text_printf(out, "%s%s\n", line, advice);
}

void brief_add(struct text *out, const struct brief *b, bool is_all)
{
	int count = add_losses(out, b, is_all ? INT_MAX : SHOWN_MAX);
	char advice[60] = "";

	if (count == 0)
		add_line(out, "missing", "nothing", "");
	add_working(out, b);
	if (!is_all && count > SHOWN_MAX)
		snprintf(advice, sizeof(advice), "; %d more missing, and why: rtrack info -v",
		         count - SHOWN_MAX);
	else if (!is_all)
		snprintf(advice, sizeof(advice), "; all figures, and why not: rtrack info -v");
	add_versions(out, advice);
}
