/* SPDX-License-Identifier: MIT */
/* The list of all processes of a command: what samples saw of them, joined with what the
 * supervisor recorded. */
#include "command/process_list.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "util/array.h"

/* A flag of rows while they are gathered: it comes from a sample. */
#define IS_SAMPLED (UINT32_C(1) << 31)

/* /proc gives a start in clock ticks, and the event a moment later exactly. No pid is reused in
 * that time. */
#define SAME_START_NS 50000000u

static struct rt_command_process *add(struct rti_process_list *list)
{
	struct rt_command_process *rows =
	    rti_array_grow(list->rows, &list->capacity, list->count + 1, sizeof(*rows));

	if (!rows) {
		list->is_short = true;
		return NULL;
	}
	list->rows = rows;
	rows = &list->rows[list->count++];
	*rows = (struct rt_command_process){ .size = sizeof(*rows), .exit_code = -1 };
	return rows;
}

void rti_process_list_add_member(struct rti_process_list *list, const struct rti_member_row *m)
{
	struct rt_command_process *row = add(list);

	if (!row)
		return;
	row->flags = m->is_running ? IS_SAMPLED | RT_PROCESS_RUNNING : IS_SAMPLED;
	row->pid = m->process.pid;
	row->ppid = m->process.ppid;
	row->partial = m->known & (RT_HAS_CPU | RT_HAS_PEAK_RSS | RT_HAS_IO);
	row->start_realtime_ns = m->process.start_ticks * list->tick_ns;
	row->cpu_user_ns = m->cpu_user_ns;
	row->cpu_system_ns = m->cpu_system_ns;
	row->peak_rss_bytes = m->peak_rss_bytes;
	row->read_bytes = m->read_bytes;
	row->write_bytes = m->write_bytes;
	memcpy(row->comm, m->process.comm, sizeof(row->comm));
}

void rti_process_list_add_exited(void *list, const struct rti_member_row *m)
{
	rti_process_list_add_member(list, m);
}

void rti_process_list_mark_short(struct rti_process_list *list)
{
	list->is_short = true;
}

static void set_exit(struct rt_command_process *row, const struct rti_process_record *record,
                     uint64_t ahead_ns)
{
	int status = (int)record->status;

	if (!record->end_ns)
		return;
	row->end_realtime_ns = record->end_ns + ahead_ns;
	if (WIFEXITED(status))
		row->exit_code = WEXITSTATUS(status);
	else
		row->signal = WTERMSIG(status);
}

/* ahead_ns: how much CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC. */
static void add_record(struct rti_process_list *list, const struct rti_process_record *record,
                       uint64_t ahead_ns)
{
	struct rt_command_process *row = add(list);

	if (!row)
		return;
	row->pid = record->pid;
	row->ppid = record->ppid;
	row->start_realtime_ns = record->start_ns ? record->start_ns + ahead_ns : 0;
	set_exit(row, record, ahead_ns);
	if (record->flags & RTI_RECORD_FINAL) {
		row->flags = RT_PROCESS_FINAL;
		row->valid |= RT_HAS_CPU;
		row->cpu_user_ns = record->cpu_user_ns;
		row->cpu_system_ns = record->cpu_system_ns;
	}
	if (record->flags & RTI_RECORD_HAS_IO) {
		row->valid |= RT_HAS_IO;
		row->read_bytes = record->read_bytes;
		row->write_bytes = record->write_bytes;
	}
	if (record->flags & RTI_RECORD_HAS_PEAK) {
		row->valid |= RT_HAS_PEAK_RSS;
		row->peak_rss_bytes = record->peak_rss_bytes;
	}
	memcpy(row->comm, record->comm, strnlen(record->comm, sizeof(record->comm)));
}

void rti_process_list_add_records(struct rti_process_list *list,
                                  const struct rti_process_record *records, size_t count,
                                  const struct rti_now *now)
{
	for (size_t i = 0; i < count; i++)
		add_record(list, &records[i], now->boottime_ns - now->monotonic_ns);
}

static int by_pid_and_start(const void *a, const void *b)
{
	const struct rt_command_process *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->start_realtime_ns != y->start_realtime_ns)
		return x->start_realtime_ns < y->start_realtime_ns ? -1 : 1;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct rt_command_process *x = a, *y = b;

	if (x->start_realtime_ns != y->start_realtime_ns)
		return x->start_realtime_ns < y->start_realtime_ns ? -1 : 1;
	return by_pid_and_start(a, b);
}

static bool is_one_process(const struct rt_command_process *a, const struct rt_command_process *b)
{
	return a->pid == b->pid && (a->flags ^ b->flags) & IS_SAMPLED &&
	       b->start_realtime_ns - a->start_realtime_ns < SAME_START_NS;
}

/* What was not recorded at the end is known from the last sample. */
static void join(struct rt_command_process *record_row, const struct rt_command_process *sampled)
{
	uint64_t more = sampled->partial & ~record_row->valid;

	record_row->flags |= sampled->flags & RT_PROCESS_RUNNING;
	if (record_row->flags & RT_PROCESS_RUNNING) { /* a thread has ended, not the process */
		record_row->end_realtime_ns = 0;
		record_row->exit_code = -1;
		record_row->signal = 0;
	}
	record_row->partial = more;
	if (more & RT_HAS_CPU) {
		record_row->cpu_user_ns = sampled->cpu_user_ns;
		record_row->cpu_system_ns = sampled->cpu_system_ns;
	}
	if (more & RT_HAS_PEAK_RSS)
		record_row->peak_rss_bytes = sampled->peak_rss_bytes;
	if (more & RT_HAS_IO) {
		record_row->read_bytes = sampled->read_bytes;
		record_row->write_bytes = sampled->write_bytes;
	}
	if (!record_row->comm[0] || record_row->flags & RT_PROCESS_RUNNING)
		memcpy(record_row->comm, sampled->comm, sizeof(record_row->comm));
}

static void join_neighbours(struct rti_process_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct rt_command_process *row = &list->rows[i],
					  *last = kept ? &list->rows[kept - 1] : NULL;

		if (last && is_one_process(last, row)) {
			if (last->flags & IS_SAMPLED) {
				join(row, last);
				*last = *row;
			} else {
				join(last, row);
			}
		} else {
			list->rows[kept++] = *row;
		}
	}
	list->count = kept;
}

void rti_process_list_finish(struct rti_process_list *list, const struct rti_now *now)
{
	uint64_t ahead_ns = now->realtime_ns - now->boottime_ns;

	if (list->count == 0)
		return;
	qsort(list->rows, list->count, sizeof(*list->rows), by_pid_and_start);
	join_neighbours(list);
	qsort(list->rows, list->count, sizeof(*list->rows), by_start);
	for (size_t i = 0; i < list->count; i++) {
		struct rt_command_process *row = &list->rows[i];

		row->flags &= ~IS_SAMPLED;
		row->start_realtime_ns += row->start_realtime_ns ? ahead_ns : 0;
		row->end_realtime_ns += row->end_realtime_ns ? ahead_ns : 0;
	}
}

void rti_process_list_set_exit(struct rti_process_list *list, int32_t pid, int32_t exit_code,
                               int32_t signal, uint64_t end_realtime_ns)
{
	for (size_t i = 0; i < list->count; i++) {
		struct rt_command_process *row = &list->rows[i];

		if (row->pid != pid || row->flags & RT_PROCESS_RUNNING)
			continue;
		row->exit_code = exit_code;
		row->signal = signal;
		row->end_realtime_ns = end_realtime_ns;
	}
}

void rti_process_list_update(struct rti_process_list *list, const struct rti_tree *tree)
{
	for (size_t i = 0; i < list->count; i++) {
		struct rt_command_process *row = &list->rows[i];

		if (row->flags & RT_PROCESS_RUNNING && !rti_tree_is_running(tree, row->pid))
			row->flags &= ~(uint32_t)RT_PROCESS_RUNNING;
	}
}

void rti_process_list_free(struct rti_process_list *list)
{
	free(list->rows);
	*list = (struct rti_process_list){ 0 };
}
