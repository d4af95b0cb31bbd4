/* SPDX-License-Identifier: MIT */
/* The list of all processes of a command: what samples saw of them, joined with what the
 * supervisor wrote down. */
#include "command/process_list.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "os/cpu_time.h"
#include "util/array.h"

/* While rows are gathered: it comes from a sample. */
#define IS_SAMPLED (UINT32_C(1) << 31)

/* A start is told to the clock tick by /proc and, a moment later, exactly by the event. No pid
 * comes round in that time. */
#define SAME_START_NS 50000000u

static struct rt_command_process *add(struct rti_process_list *process_list)
{
	struct rt_command_process *rows = rti_array_grow(process_list->rows, &process_list->cap,
	                                                 process_list->count + 1, sizeof(*rows));

	if (!rows) {
		process_list->is_short = true;
		return NULL;
	}
	process_list->rows = rows;
	rows = &process_list->rows[process_list->count++];
	*rows = (struct rt_command_process){ .size = sizeof(*rows), .exit_code = -1 };
	return rows;
}

void rti_process_list_add_member(struct rti_process_list *process_list, const struct rti_member *m,
                                 bool is_running)
{
	const uint64_t record_row = RT_HAS_CPU | RT_HAS_PEAK_RSS | RT_HAS_IO,
		       *own = m->account.self;
	struct rt_command_process *row = add(process_list);

	if (!row)
		return;
	row->flags = is_running ? IS_SAMPLED | RT_PROCESS_RUNNING : IS_SAMPLED;
	row->pid = m->pid;
	row->ppid = m->stat.ppid;
	row->partial = (m->figures.valid | m->figures.partial) & record_row;
	row->start_realtime_ns = m->starttime * process_list->tick_ns;
	row->cpu_user_ns = own[RTI_CPU_USER];
	row->cpu_system_ns = own[RTI_CPU_SYSTEM];
	/* it was read between samples, too */
	if (m->clock.total_ns > own[RTI_CPU_USER] + own[RTI_CPU_SYSTEM]) {
		rti_split_cpu(m->clock.total_ns, m->clock.user_part_ns, m->clock.both_parts_ns,
		              &row->cpu_user_ns, &row->cpu_system_ns);
		row->partial |= RT_HAS_CPU;
	}
	row->peak_rss_bytes = m->peak_rss_bytes;
	if (!row->peak_rss_bytes)
		row->partial &= ~RT_HAS_PEAK_RSS;
	row->read_bytes = own[RTI_READ_BYTES];
	row->write_bytes = own[RTI_WRITE_BYTES];
	memcpy(row->comm, m->stat.comm, sizeof(row->comm));
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

static void add_row_of_record(struct rti_process_list *process_list,
                              const struct rti_process_record *record, uint64_t ahead_ns)
{
	struct rt_command_process *row = add(process_list);

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

void rti_process_list_add_records(struct rti_process_list *process_list,
                                  const struct rti_process_record *list, size_t count,
                                  const struct rti_now *now)
{
	for (size_t i = 0; i < count; i++)
		add_row_of_record(process_list, &list[i], now->boottime_ns - now->monotonic_ns);
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

/* What was not written down at the end is known from the last sample. */
static void join(struct rt_command_process *record_row, const struct rt_command_process *sampled)
{
	uint64_t more = sampled->partial & ~record_row->valid;

	record_row->flags |= sampled->flags & RT_PROCESS_RUNNING;
	if (record_row->flags & RT_PROCESS_RUNNING) { /* it was a thread that ended */
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

static void join_neighbours(struct rti_process_list *process_list)
{
	size_t cached = 0;

	for (size_t i = 0; i < process_list->count; i++) {
		struct rt_command_process *row = &process_list->rows[i],
					  *last = cached ? &process_list->rows[cached - 1] : NULL;

		if (last && is_one_process(last, row)) {
			if (last->flags & IS_SAMPLED) {
				join(row, last);
				*last = *row;
			} else {
				join(last, row);
			}
		} else {
			process_list->rows[cached++] = *row;
		}
	}
	process_list->count = cached;
}

void rti_process_list_finish(struct rti_process_list *process_list, const struct rti_now *now)
{
	uint64_t ahead_ns = now->realtime_ns - now->boottime_ns;

	if (process_list->count == 0)
		return;
	qsort(process_list->rows, process_list->count, sizeof(*process_list->rows),
	      by_pid_and_start);
	join_neighbours(process_list);
	qsort(process_list->rows, process_list->count, sizeof(*process_list->rows), by_start);
	for (size_t i = 0; i < process_list->count; i++) {
		struct rt_command_process *row = &process_list->rows[i];

		row->flags &= ~IS_SAMPLED;
		row->start_realtime_ns += row->start_realtime_ns ? ahead_ns : 0;
		row->end_realtime_ns += row->end_realtime_ns ? ahead_ns : 0;
	}
}

void rti_process_list_free(struct rti_process_list *process_list)
{
	free(process_list->rows);
	*process_list = (struct rti_process_list){ 0 };
}
