/* SPDX-License-Identifier: MIT */
/* What a trace has seen: calls by process. */
#include "trace_summary.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/units.h"
#include "text/utf8.h"

enum {
	FIRST_SLOTS = 64,
	LAST_SLOTS = 1 << 16, /* 12 MiB */
	SHOWN = 10            /* processes */
};

static const char *const kind_names[TRACE_KINDS] = {
	[TRACE_SELF] = "getrusage(RUSAGE_SELF)",
	[TRACE_CHILDREN] = "getrusage(RUSAGE_CHILDREN)",
	[TRACE_THREAD] = "getrusage(RUSAGE_THREAD)",
	[TRACE_OTHER_SCOPE] = "getrusage(another argument)",
	[TRACE_WAIT4] = "wait4",
	[TRACE_WAITID] = "waitid",
};

static enum trace_kind kind_of(const struct rt_trace_event *event)
{
	if (event->call == RT_TRACE_CALL_WAIT4)
		return TRACE_WAIT4;
	if (event->call == RT_TRACE_CALL_WAITID)
		return TRACE_WAITID;
	switch (event->who) {
	case RT_RUSAGE_SELF:
		return TRACE_SELF;
	case RT_RUSAGE_CHILDREN:
		return TRACE_CHILDREN;
	case RT_RUSAGE_THREAD:
		return TRACE_THREAD;
	default:
		return TRACE_OTHER_SCOPE;
	}
}

/* Returns the slot of a process, or the free one that it would get. The table is never full. */
static struct trace_process *find_slot(struct trace_process *slots, size_t count, int32_t pid,
                                       bool is_here)
{
	size_t at = ((uint32_t)pid * 2654435761u) & (count - 1);

	while (slots[at].pid != 0 && (slots[at].pid != pid || slots[at].is_here != is_here))
		at = (at + 1) & (count - 1);
	return &slots[at];
}

/* Returns true if there is room for one more process. At most three quarters of the slots are in
 * use. */
static bool make_room(struct trace_summary *s)
{
	size_t count = s->slot_count ? s->slot_count * 2 : FIRST_SLOTS;
	struct trace_process *slots;

	if (s->process_count + 1 <= s->slot_count / 4 * 3)
		return true;
	slots = count <= LAST_SLOTS ? calloc(count, sizeof(*slots)) : NULL;
	if (!slots)
		return false;
	for (size_t i = 0; i < s->slot_count; i++) {
		const struct trace_process *p = &s->slots[i];

		if (p->pid != 0)
			*find_slot(slots, count, p->pid, p->is_here) = *p;
	}
	free(s->slots);
	s->slots = slots;
	s->slot_count = count;
	return true;
}

/* Returns NULL if there is no room, or no pid. */
static struct trace_process *process_of(struct trace_summary *s, const struct rt_trace_event *event)
{
	bool is_here = event->pid > 0, has_room = make_room(s);
	int32_t pid = is_here ? event->pid : event->host_pid;
	struct trace_process *p;

	if (pid <= 0 || s->slot_count == 0)
		return NULL;
	p = find_slot(s->slots, s->slot_count, pid, is_here);
	if (p->pid != 0)
		return p;
	if (!has_room)
		return NULL;
	s->process_count++;
	p->pid = pid;
	p->is_here = is_here;
	return p;
}

void trace_summary_add(struct trace_summary *s, const struct rt_trace_event *event)
{
	struct trace_process *p = process_of(s, event);
	bool is_leader = event->tid == event->pid, has_failed = event->result < 0;
	enum trace_kind kind = kind_of(event);

	s->calls++;
	s->failed += has_failed;
	if (!p) {
		s->calls_of_others++;
		return;
	}
	if (is_leader || p->total == 0)
		memcpy(p->comm, event->comm, sizeof(p->comm));
	p->total++;
	p->calls[kind]++;
	p->failed[kind] += has_failed;
}

/* Most calls first. */
static int compare(const void *a, const void *b)
{
	const struct trace_process *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Move the processes to the beginning, sorted. The table cannot be searched any more. */
static void sort(struct trace_summary *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->slot_count; i++) {
		if (s->slots[i].pid != 0)
			s->slots[count++] = s->slots[i];
	}
	if (count > 0)
		qsort(s->slots, count, sizeof(*s->slots), compare);
}

static void add_process(struct text *out, const struct trace_process *p, bool has_utf8)
{
	bool is_first = true;

	for (int kind = 0; kind < TRACE_KINDS; kind++) {
		if (p->calls[kind] == 0)
			continue;
		text_printf(out, "  %12s  %s", human_count(p->calls[kind]).s, kind_names[kind]);
		if (p->failed[kind] > 0)
			text_printf(out, ", %s failed", human_count(p->failed[kind]).s);
		if (is_first) {
			text_add(out, "  by ");
			utf8_add_printable(out, p->comm, has_utf8);
			text_printf(out, "[%s%d]", p->is_here ? "" : "host ", (int)p->pid);
		}
		is_first = false;
		text_add(out, "\n");
	}
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void add_head(struct text *out, const struct trace_summary *s,
                     const struct rt_trace_totals *totals)
{
	const char *back_end = totals->back_end == RT_TRACE_BACK_END_PTRACE ? "ptrace" : "bpf";

	text_printf(out, "rtrack: traced %s call%s", human_count(s->calls).s, plural(s->calls));
	if (s->process_count > 0)
		text_printf(out, " of %s%s process%s", s->calls_of_others ? "at least " : "",
		            human_count(s->process_count).s, s->process_count == 1 ? "" : "es");
	text_printf(out, " by %s, %s failed, %s lost%s%s\n", back_end, human_count(s->failed).s,
	            human_count(totals->lost).s,
	            totals->lost ? ": their memory was full; a larger --ring-bytes may help" : "",
	            s->is_interrupted ? "; interrupted: later calls are missing" : "");
}

void trace_summary_write(struct trace_summary *s, const struct rt_trace_totals *totals,
                         bool has_utf8, struct text *out)
{
	uint64_t calls_left = s->calls;
	size_t shown = s->process_count < SHOWN ? s->process_count : SHOWN;

	sort(s);
	add_head(out, s, totals);
	for (size_t i = 0; i < shown; i++) {
		add_process(out, &s->slots[i], has_utf8);
		calls_left -= s->slots[i].total;
	}
	if (shown < s->process_count)
		text_printf(out, "  %12s  by %s%s more process%s\n", human_count(calls_left).s,
		            s->calls_of_others ? "at least " : "",
		            human_count(s->process_count - shown).s,
		            s->process_count - shown == 1 ? "" : "es");
	else if (calls_left > 0)
		text_printf(out, "  %12s  by other processes\n", human_count(calls_left).s);
}

void trace_summary_free(struct trace_summary *s)
{
	free(s->slots);
	*s = (struct trace_summary){ 0 };
}
