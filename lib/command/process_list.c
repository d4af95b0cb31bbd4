/* SPDX-License-Identifier: MIT */
/* The list of all processes of a command: what samples saw of them, joined with what the
 * supervisor recorded. */
#include "command/process_list.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "command/cpu_bounds.h"
#include "os/cpu_time.h"
#include "util/arith.h"
#include "util/array.h"

/* A flag of rows while they are gathered: it comes from a sample. */
#define IS_SAMPLED (UINT32_C(1) << 31)

/* /proc gives a start in clock ticks, and the event a moment later exactly. No pid is reused in
 * that time. */
#define SAME_START_NS 50000000u

/* How long a process runs on after its exit event has its time: the event goes to every listener of
 * the system. So long a thread runs on after its process has its time (Linux, kernel/exit.c,
 * __exit_signal()), which only its cgroup has then. */
#define EXIT_REST_NS 100000u
/* One part in so many of the CPU time may be missing for that. */
#define THREADS_UNNOTICED 1000

static struct rti_process_row *add(struct rti_process_list *list)
{
	struct rti_process_row *rows =
	    rti_array_grow(list->rows, &list->capacity, list->count + 1, sizeof(*rows));

	if (!rows) {
		list->is_short = true;
		return NULL;
	}
	list->rows = rows;
	rows = &list->rows[list->count++];
	*rows =
	    (struct rti_process_row){ .shown = { .size = sizeof(rows->shown), .exit_code = -1 } };
	return rows;
}

void rti_process_list_add_member(struct rti_process_list *list, const struct rti_member_row *m)
{
	struct rti_process_row *added = add(list);
	struct rt_command_process *row = added ? &added->shown : NULL;

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

void rti_process_list_add_exited(void *arg, const struct rti_member_row *m)
{
	struct rti_process_list *list = arg;

	if (!list->is_finished)
		rti_process_list_add_member(list, m);
}

void rti_process_list_add_row(struct rti_process_list *list, const struct rt_command_process *row,
                              uint32_t command_at, uint32_t cwd_at)
{
	struct rti_process_row *added = add(list);

	if (added)
		*added = (struct rti_process_row){ *row, command_at, cwd_at, 0 };
}

void rti_process_list_take_texts(struct rti_process_list *list, char *texts)
{
	free(list->texts);
	list->texts = texts;
}

void rti_process_list_mark_short(struct rti_process_list *list)
{
	list->is_short = true;
}

void rti_process_list_mark_lossy(struct rti_process_list *list)
{
	list->is_lossy = true;
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

static void set_cpu(struct rt_command_process *row, const struct rti_process_record *record)
{
	if (record->flags & RTI_RECORD_FINAL) {
		row->flags |= RT_PROCESS_FINAL;
		row->valid |= RT_HAS_CPU;
	} else if (record->flags & RTI_RECORD_HAS_CPU) {
		row->partial |= RT_HAS_CPU;
	} else {
		return;
	}
	row->cpu_user_ns = record->cpu_user_ns;
	row->cpu_system_ns = record->cpu_system_ns;
}

/* The kernel brings the CPU time of a process that runs up to date at ticks, and others read it
 * as of then (kernel/sched/cputime.c, thread_group_cputime()). The exit goes on after that. */
static uint64_t cpu_gap_ns(const struct rti_process_record *record)
{
	uint64_t cpu_ns = record->cpu_user_ns + record->cpu_system_ns, lived_ns, lag_ns;

	if (record->flags & RTI_RECORD_FINAL || !(record->flags & RTI_RECORD_HAS_CPU) ||
	    record->end_ns < record->start_ns)
		return 0;
	lived_ns = rti_subtract_saturated(record->end_ns - record->start_ns, cpu_ns);
	lag_ns = RTI_TICK_MAX_NS;
	if (record->cpu_read_ns)
		lag_ns += rti_subtract_saturated(record->end_ns, record->cpu_read_ns);
	return (lived_ns < lag_ns ? lived_ns : lag_ns) + EXIT_REST_NS;
}

static void set_peak_and_io(struct rt_command_process *row, const struct rti_process_record *record)
{
	if (record->flags & RTI_RECORD_HAS_PEAK) {
		if (record->flags & RTI_RECORD_PEAK_LOW)
			row->partial |= RT_HAS_PEAK_RSS;
		else
			row->valid |= RT_HAS_PEAK_RSS;
		row->peak_rss_bytes = record->peak_rss_bytes;
	}
	if (record->flags & RTI_RECORD_HAS_IO) {
		row->valid |= RT_HAS_IO;
		row->read_bytes = record->read_bytes;
		row->write_bytes = record->write_bytes;
	}
	if (record->flags & RTI_RECORD_HAS_OWN_IO) {
		row->flags |= RT_PROCESS_OWN_IO;
		row->own_read_bytes = record->own_read_bytes;
		row->own_write_bytes = record->own_write_bytes;
	}
}

static bool is_within(const struct rti_record_text *text, const struct rti_process_records *all)
{
	return text->len <= all->text_bytes && text->at <= all->text_bytes - text->len;
}

static void set_texts(struct rti_process_row *row, const struct rti_process_record *record,
                      const struct rti_process_records *all)
{
	if (record->flags & (RTI_RECORD_TEXT_CUT | RTI_RECORD_TEXT_SKIPPED))
		row->shown.flags |= RT_PROCESS_CUT;
	if (is_within(&record->command, all)) {
		row->command_at = record->command.at;
		row->shown.command_line_bytes = record->command.len;
	}
	if (is_within(&record->cwd, all)) {
		row->cwd_at = record->cwd.at;
		row->shown.cwd_bytes = record->cwd.len;
	}
}

/* Other processes of the same user may write to the record meanwhile. So it is copied once, and the
 * copy is checked and used. ahead_ns: how much CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC. */
static void add_record(struct rti_process_list *list, const struct rti_process_record *shared,
                       const struct rti_process_records *all, uint64_t ahead_ns)
{
	struct rti_process_record copy = *shared;
	const struct rti_process_record *record = &copy;
	struct rti_process_row *added = add(list);
	struct rt_command_process *row = added ? &added->shown : NULL;

	__asm__ volatile("" : "+m"(copy)); /* the compiler must not read it again */
	if (!row)
		return;
	row->pid = record->pid;
	row->ppid = record->ppid;
	row->start_realtime_ns = record->start_ns ? record->start_ns + ahead_ns : 0;
	set_exit(row, record, ahead_ns);
	set_cpu(row, record);
	added->cpu_gap_ns = cpu_gap_ns(record);
	added->threads_gap_ns = record->threads_ended * (uint64_t)EXIT_REST_NS;
	set_peak_and_io(row, record);
	set_texts(added, record, all);
	/* Without its fork event, its execs may have been missed, too. */
	if (all->sees_every_exec && record->ppid && !(record->flags & RTI_RECORD_EXECUTED))
		row->flags |= RT_PROCESS_NO_EXEC;
	memcpy(row->comm, record->comm, strnlen(record->comm, sizeof(record->comm)));
}

/* Copy the texts. Without memory for them there are none. */
static struct rti_process_records keep_texts(struct rti_process_list *list,
                                             const struct rti_process_records *all)
{
	struct rti_process_records kept = *all;

	free(list->texts);
	list->texts = all->text_bytes ? malloc(all->text_bytes) : NULL;
	if (list->texts) {
		memcpy(list->texts, all->texts, all->text_bytes);
	} else {
		list->is_short |= all->text_bytes > 0;
		kept.text_bytes = 0;
	}
	return kept;
}

void rti_process_list_add_records(struct rti_process_list *list,
                                  const struct rti_process_records *all, const struct rti_now *now)
{
	const struct rti_process_records kept = keep_texts(list, all);

	for (size_t i = 0; i < all->count; i++)
		add_record(list, &all->records[i], &kept, now->boottime_ns - now->monotonic_ns);
}

/* Returns what the rows lack of a total; 0 if that is unknown. */
static uint64_t find_lack(const struct rti_process_list *list, uint64_t total_ns)
{
	uint64_t known_ns = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct rti_process_row *row = &list->rows[i];

		if (!((row->shown.valid | row->shown.partial) & RT_HAS_CPU) ||
		    row->shown.flags & RT_PROCESS_RUNNING)
			return 0;
		known_ns += row->shown.cpu_user_ns + row->shown.cpu_system_ns;
	}
	return rti_subtract_saturated(total_ns, known_ns);
}

static uint64_t gap_of(const struct rti_process_row *row, bool has_threads)
{
	return row->cpu_gap_ns + (has_threads ? row->threads_gap_ns : 0);
}

static uint64_t sum_gaps(const struct rti_process_list *list, bool has_threads)
{
	uint64_t gap_ns = 0;

	for (size_t i = 0; i < list->count; i++)
		gap_ns = rti_add_saturated(gap_ns, gap_of(&list->rows[i], has_threads));
	return gap_ns;
}

/* Each gets its share in proportion to what it may have used beyond its lower bound. What is done
 * at the end of a process is done by the kernel. */
static void share(struct rti_process_list *list, uint64_t lack_ns, bool has_threads)
{
	uint64_t all_ns = sum_gaps(list, has_threads);

	for (size_t i = 0; i < list->count; i++) {
		struct rti_process_row *row = &list->rows[i];
		uint64_t gap_ns = gap_of(row, has_threads);

		if (!gap_ns)
			continue;
		row->shown.cpu_system_ns +=
		    (uint64_t)((double)lack_ns * ((double)gap_ns / (double)all_ns));
		row->shown.valid &= ~RT_HAS_CPU;
		row->shown.partial &= ~RT_HAS_CPU;
		row->shown.estimated |= RT_HAS_CPU;
	}
}

static void mark_low(struct rti_process_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct rt_command_process *row = &list->rows[i].shown;

		row->partial |= row->valid & RT_HAS_CPU;
		row->valid &= ~RT_HAS_CPU;
	}
}

/* E.g.: of a process with 3000 short threads, wait4(2) lacks 2 %. */
void rti_process_list_fit_cpu(struct rti_process_list *list, uint64_t total_ns)
{
	uint64_t lack_ns = find_lack(list, total_ns);
	bool has_threads =
	    lack_ns > sum_gaps(list, false) && lack_ns > total_ns / THREADS_UNNOTICED;

	if (lack_ns && lack_ns <= sum_gaps(list, has_threads))
		share(list, lack_ns, has_threads);
	else if (lack_ns > rti_cpu_bounds_unnoticed(total_ns))
		mark_low(list);
}

void rti_process_list_raise_io(const struct rti_process_list *list, uint64_t *read_bytes,
                               uint64_t *write_bytes)
{
	uint64_t own_read = 0, own_write = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct rt_command_process *row = &list->rows[i].shown;

		if (row->flags & RT_PROCESS_OWN_IO) {
			own_read = rti_add_saturated(own_read, row->own_read_bytes);
			own_write = rti_add_saturated(own_write, row->own_write_bytes);
		}
		if ((row->valid | row->partial) & RT_HAS_IO) {
			*read_bytes = rti_max(*read_bytes, row->read_bytes);
			*write_bytes = rti_max(*write_bytes, row->write_bytes);
		}
	}
	*read_bytes = rti_max(*read_bytes, own_read);
	*write_bytes = rti_max(*write_bytes, own_write);
}

const char *rti_process_list_text(const struct rti_process_list *list, size_t row, uint32_t text,
                                  size_t *len)
{
	const struct rti_process_row *r = &list->rows[row];
	bool is_command = text == RT_TEXT_COMMAND_LINE;

	*len = is_command ? r->shown.command_line_bytes : r->shown.cwd_bytes;
	return *len ? list->texts + (is_command ? r->command_at : r->cwd_at) : NULL;
}

static const struct rt_command_process *shown_row(const void *row)
{
	return &((const struct rti_process_row *)row)->shown;
}

static int by_pid_and_start(const void *a, const void *b)
{
	const struct rt_command_process *x = shown_row(a), *y = shown_row(b);

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->start_realtime_ns != y->start_realtime_ns)
		return x->start_realtime_ns < y->start_realtime_ns ? -1 : 1;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct rt_command_process *x = shown_row(a), *y = shown_row(b);

	if (x->start_realtime_ns != y->start_realtime_ns)
		return x->start_realtime_ns < y->start_realtime_ns ? -1 : 1;
	return by_pid_and_start(a, b);
}

static bool is_one_process(const struct rt_command_process *a, const struct rt_command_process *b)
{
	return a->pid == b->pid && (a->flags ^ b->flags) & IS_SAMPLED &&
	       b->start_realtime_ns - a->start_realtime_ns < SAME_START_NS;
}

/* Of two lower bounds, the larger one is closer. */
static void join_bounds(struct rt_command_process *row, const struct rt_command_process *sampled,
                        uint64_t more)
{
	bool has_cpu = row->partial & RT_HAS_CPU, has_peak = row->partial & RT_HAS_PEAK_RSS;

	if (more & RT_HAS_CPU && (!has_cpu || row->cpu_user_ns + row->cpu_system_ns <
	                                          sampled->cpu_user_ns + sampled->cpu_system_ns)) {
		row->cpu_user_ns = sampled->cpu_user_ns;
		row->cpu_system_ns = sampled->cpu_system_ns;
	}
	if (more & RT_HAS_PEAK_RSS && (!has_peak || row->peak_rss_bytes < sampled->peak_rss_bytes))
		row->peak_rss_bytes = sampled->peak_rss_bytes;
	if (more & RT_HAS_IO) {
		row->read_bytes = sampled->read_bytes;
		row->write_bytes = sampled->write_bytes;
	}
	row->partial |= more;
}

/* What was not recorded at the end is known from the last sample. */
static void join(struct rt_command_process *record_row, const struct rt_command_process *sampled)
{
	record_row->flags |= sampled->flags & RT_PROCESS_RUNNING;
	if (record_row->flags & RT_PROCESS_RUNNING) { /* a thread has ended, not the process */
		record_row->end_realtime_ns = 0;
		record_row->exit_code = -1;
		record_row->signal = 0;
	}
	join_bounds(record_row, sampled, sampled->partial & ~record_row->valid);
	/* A process may have an empty name: prctl(PR_SET_NAME, ""). What was read at its end is
	 * known to be its name. */
	if (record_row->flags & RT_PROCESS_RUNNING ||
	    (!record_row->comm[0] && !(record_row->flags & RT_PROCESS_FINAL)))
		memcpy(record_row->comm, sampled->comm, sizeof(record_row->comm));
}

static void join_neighbours(struct rti_process_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct rti_process_row *row = &list->rows[i],
				       *last = kept ? &list->rows[kept - 1] : NULL;

		if (last && is_one_process(&last->shown, &row->shown)) {
			if (last->shown.flags & IS_SAMPLED) {
				join(&row->shown, &last->shown);
				*last = *row;
			} else {
				join(&last->shown, &row->shown);
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

	list->is_finished = true;
	if (list->count == 0)
		return;
	qsort(list->rows, list->count, sizeof(*list->rows), by_pid_and_start);
	join_neighbours(list);
	qsort(list->rows, list->count, sizeof(*list->rows), by_start);
	for (size_t i = 0; i < list->count; i++) {
		struct rt_command_process *row = &list->rows[i].shown;

		row->flags &= ~IS_SAMPLED;
		row->start_realtime_ns += row->start_realtime_ns ? ahead_ns : 0;
		row->end_realtime_ns += row->end_realtime_ns ? ahead_ns : 0;
	}
}

void rti_process_list_set_exit(struct rti_process_list *list, int32_t pid, int32_t exit_code,
                               int32_t signal, uint64_t end_realtime_ns)
{
	for (size_t i = 0; i < list->count; i++) {
		struct rt_command_process *row = &list->rows[i].shown;

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
		struct rt_command_process *row = &list->rows[i].shown;

		if (row->flags & RT_PROCESS_RUNNING && !rti_tree_is_running(tree, row->pid))
			row->flags &= ~(uint32_t)RT_PROCESS_RUNNING;
	}
}

void rti_process_list_free(struct rti_process_list *list)
{
	free(list->rows);
	free(list->texts);
	*list = (struct rti_process_list){ 0 };
}
