/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The BPF programs that account for a process tree.
 *
 * A thread is marked when it is forked, and what it has used is added up when the kernel frees it:
 * sched_process_free comes after its last moment on a CPU. No process has to wait for it. A process
 * has a row that its threads share; the last one of them sends its record.
 *
 * The kernel frees a thread some time after its end: 15 ms, or seconds on a busy system (an RCU
 * grace period). From sched_process_exit until then it is in limbo: in a table, so that a search
 * finds it. Under load, on_free is not called for a few of some thousand threads. So what a thread
 * in limbo has used is secured at the next fork or exit, of any process: before its memory is
 * used otherwise, if all goes well.
 *
 * The loader that libbpf generates takes 32 functions at most (MAX_USED_PROGS in its gen_loader.c):
 * with more, the kernel refuses it. So some functions are always inline. */
#define RTI_ACCOUNT
#include "kernel.h"

#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "account.h"

const volatile struct rti_account_settings settings;
struct rti_account_shared shared;

#include "own_pid.h"
#include "task_mark.h"

#include "account_row.h"

#include "account_limbo.h"
#include "account_sums.h"

#define CPUS_MAX 8192        /* NR_CPUS of x86-64 */
#define SIGNAL_GROUP_EXIT 4u /* include/linux/sched/signal.h */

/* A lane for each CPU, so that no two of them write to one. */
struct lane {
	struct rti_account_use use;
	__u64 freed;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lane);
} lanes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536); /* the plug-in sets another size */
} ring SEC(".maps");

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#include "account_text.h"

/* A process that another one has forked. */
static void count_process(void)
{
	__u64 alive = __sync_fetch_and_add(&shared.alive, 1) + 1;

	__sync_fetch_and_add(&shared.processes, 1);
	raise_to(&shared.alive_peak, alive);
}

#include "account_adopt.h"

/* Wakes a reader that has read all events before. Only a tree with a root has events. */
static void send_event(__u32 kind, __s32 pid)
{
	const struct rti_account_event event = { .kind = kind, .pid = pid };

	if (settings.root && bpf_ringbuf_output(&ring, (void *)&event, sizeof(event), 0) < 0)
		__sync_fetch_and_add(&shared.lost_events, 1);
}

/* The supervisor: not accounted for, but its children are. */
static void mark_supervisor(struct task_struct *child)
{
	struct task_mark *mark = make_mark(child);

	if (mark)
		__sync_fetch_and_or(&mark->flags, MARK_MEMBER | MARK_SUPERVISOR);
	else
		__sync_fetch_and_add(&shared.unmarked, 1);
}

static void mark_child(const struct task_mark *of_parent, struct task_struct *parent,
                       struct task_struct *child)
{
	bool is_thread = parent->tgid == child->tgid;
	struct rti_account_row *row;
	struct task_mark *mark = make_mark(child);

	if (is_thread && of_parent->flags & MARK_SUPERVISOR)
		return;
	if (!mark) {
		__sync_fetch_and_add(&shared.unmarked, 1);
		return;
	}
	if (is_thread) {
		mark->row = of_parent->row;
		row = find_row(mark);
		if (row)
			__sync_fetch_and_add(&row->tasks, 1);
	} else {
		mark->row = new_row(parent, child);
		row = find_row(mark);
		if (row)
			inherit_text(row, find_row(of_parent), child);
		count_process();
		send_event(RTI_ACCOUNT_FORK, own_pid(child));
	}
	__sync_fetch_and_add(&shared.begun, 1);
	begin_thread(mark, 0, &shared.running);
}

/* A child that gets the parent of its parent (CLONE_PARENT) is a descendant of a root only if that
 * is one. */
static bool is_outside(const struct task_struct *parent, struct task_struct *child)
{
	return settings.root && parent->tgid != child->tgid &&
	       read_only(child)->real_parent->tgid != parent->tgid &&
	       !is_member(child->real_parent);
}

/* The address space that goes away can still be read. The kernel has this tracepoint since Linux
 * 6.10. It need not be there to load the program, in contrast to one with types. */
SEC("raw_tp/sched_prepare_exec")
int on_prepare_exec(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct task_mark *mark = find_mark(task);
	struct rti_account_row *row = is_accounted_for(mark) ? find_row(mark) : NULL;

	if (row)
		note_old_memory(row, read_only(task));
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	const struct task_mark *mark = find_mark(task);
	struct rti_account_row *row = is_accounted_for(mark) ? find_row(mark) : NULL;

	if (!row)
		return 0;
	row->execs++;
	note_new_memory(row, read_only(task));
	if (settings.wants_records)
		note_text(row, read_only(task));
	return 0;
}

/* As kernel/exit.c, wait_task_zombie(). No thread is left that could end the process otherwise: its
 * status is final. So is the name of its thread group leader, which no process has waited for.
 * Several threads may get here. The leader sets its exit code before it does, so the last call
 * stores the final status. */
static __always_inline void note_status(struct rti_account_row *row, const struct task_struct *task)
{
	const struct signal_struct *signal = task->signal;
	const struct task_struct *leader = task->group_leader;

	row->status = (__u32)(signal->flags & SIGNAL_GROUP_EXIT ? signal->group_exit_code
	                                                        : leader->exit_code);
	bpf_probe_read_kernel(row->comm, sizeof(row->comm), leader->comm);
}

/* All threads of a process have begun to exit. Several of them may get here at the same time: what
 * the last one finds is kept. */
static void end_process(struct rti_account_row *row, struct task_struct *task)
{
	if (row) {
		note_status(row, task);
		note_last_memory(row, task);
	}
	if (row && __sync_fetch_and_or(&row->flags, RTI_ROW_ENDED) & RTI_ROW_ENDED)
		return;
	__sync_fetch_and_add(&shared.alive, -1);
	send_event(RTI_ACCOUNT_EXIT, own_pid(task));
	if (!row)
		return;
	check_text(row, task);
}

static void begin_exit(struct task_mark *mark, struct task_struct *task)
{
	struct rti_account_row *row = find_row(mark);

	if (row)
		row->end_ns = bpf_ktime_get_boot_ns();
	end_thread(mark, &shared.running);
	if (read_only(task)->signal->live.counter == 0)
		end_process(row, read_only(task));
	enter_limbo(mark, task);
}

/* The child does not run yet. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	const struct task_mark *mark = find_mark(parent);

	if (!mark && settings.root)
		mark = adopt_now(parent);
	if (mark && mark->flags & MARK_MEMBER) {
		if (!is_outside(parent, child))
			mark_child(mark, parent, child);
	} else if (shared.armed && (__u64)parent == shared.armed && parent->tgid != child->tgid) {
		mark_supervisor(child);
	}
	secure_some();
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct task_mark *mark = find_mark(task);

	if (!mark && settings.root)
		mark = adopt_now(task);
	if (!mark)
		mark = adopt_worker(task);
	secure_some();
	if (is_accounted_for(mark))
		begin_exit(mark, task);
	return 0;
}

/* on_exit is not called again for a thread that began to exit before it was adopted. */
static void adopt(struct task_struct *task, struct task_struct *leader)
{
	struct task_mark *mark = adopt_thread(task, leader);

	if (mark && read_only(task)->flags & PF_EXITING)
		begin_exit(mark, task);
}

/* Adopt the threads of the tree that are no members yet. One that is being forked is marked by
 * on_fork at this moment; if that finds no mark of its parent, the next walk adopts it. Without a
 * root the verifier has nothing to check here: half of the time that it takes. */
SEC("iter/task")
int adopt_all(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task, *leader;

	if (!settings.root || !task)
		return 0;
	if (task->flags & PF_KTHREAD || task->__state == TASK_NEW)
		return 0;
	leader = task->group_leader;
	if (!leader || is_member(task) || !belongs(task))
		return 0;
	adopt(task, leader);
	return 0;
}

static void send_record(const struct rti_account_row *row, const struct rti_account_sums *use,
                        const struct rti_account_part *part)
{
	struct rti_account_record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		__sync_fetch_and_add(&shared.lost, 1);
		return;
	}
	record->kind = RTI_ACCOUNT_PROCESS;
	record->text = row->text;
	record->pid = row->pid;
	record->ppid = row->ppid;
	record->status = row->status;
	record->flags = row->flags;
	record->start_ns = row->start_ns;
	record->end_ns = row->end_ns;
	record->cpu_ns = part->cpu_ns;
	record->user_part_ns = use->user_part_ns;
	record->system_part_ns = use->system_part_ns;
	record->minflt = use->minflt;
	record->majflt = use->majflt;
	record->voluntary_switches = use->voluntary_switches;
	record->involuntary_switches = use->involuntary_switches;
	record->read_bytes = use->read_bytes;
	record->write_bytes = use->write_bytes;
	record->own_read_bytes = part->read_bytes;
	record->own_write_bytes = part->write_bytes;
	record->peak_pages = row->peak_pages;
	record->execs = row->execs;
	record->reserved = 0;
	__builtin_memcpy(record->comm, row->comm, sizeof(record->comm));
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP); /* the reader comes by */
}

/* The last switch of a thread comes after signal_struct has got its account, or before if a slow
 * parent waits for it. signal_struct is what wait4(2) and getrusage(2) show, so it decides. */
static __always_inline void correct_switches(struct rti_account_use *use,
                                             const struct rti_account_sums *sums,
                                             const struct rti_account_part *part)
{
	use->voluntary_switches += sums->voluntary_switches - part->voluntary_switches;
	use->involuntary_switches += sums->involuntary_switches - part->involuntary_switches;
}

/* Of a process that has ended. */
static void note_peak(const struct rti_account_row *row)
{
	bool has_ended = row->flags & RTI_ROW_ENDED;

	raise_to(&shared.peak_pages, row->peak_pages);
	if (has_ended && !(row->flags & RTI_ROW_LACKS_PEAK))
		return;
	/* If no program saw its end, its last address space was not looked at. */
	raise_to(&shared.hidden_pages, has_ended ? row->foreign_pages : ~0ull);
	__sync_fetch_and_add(&shared.peakless, 1);
}

/* The last thread of a process is freed, or found by a search. use: the sum of its threads. */
static void finish_process(struct rti_account_row *row, const struct rti_account_part *part,
                           struct rti_account_use *use)
{
	struct rti_account_sums sums = { 0 };
	bool is_locked = take_lock(&row->is_noting);
	bool is_final = !(row->flags & RTI_ROW_LACKS_THREAD) && is_locked && end_sums(row, &sums);

	if (is_locked)
		give_lock(&row->is_noting);
	if (is_final)
		correct_switches(use, &sums, part);
	else
		__sync_fetch_and_or(&row->flags, RTI_ROW_LACKS_SUMS);
	if (__sync_val_compare_and_swap(&row->is_sent, 0, 1) != 0)
		return;
	note_peak(row);
	if (settings.wants_records)
		send_record(row, &sums, part);
}

static void free_from_row(struct rti_account_row *row, const struct limbo *limbo,
                          struct rti_account_use *use)
{
	struct rti_account_part *freed = &row->freed;
	__u32 tasks;

	__sync_fetch_and_add(&row->freeing, 1);
	__sync_fetch_and_add(&freed->cpu_ns, limbo->use.cpu_ns);
	__sync_fetch_and_add(&freed->voluntary_switches, limbo->use.voluntary_switches);
	__sync_fetch_and_add(&freed->involuntary_switches, limbo->use.involuntary_switches);
	__sync_fetch_and_add(&freed->read_bytes, limbo->use.read_bytes);
	__sync_fetch_and_add(&freed->write_bytes, limbo->use.write_bytes);
	note_sums(row, limbo);
	tasks = __sync_fetch_and_add(&row->tasks, -1);
	__sync_fetch_and_add(&row->freeing, -1);
	if (tasks != 1)
		return;
	finish_process(row, freed, use);
	__sync_val_compare_and_swap(&row->is_in_use, 1, 0);
}

/* There was no room in limbo. The totals have the thread, and the row of its process lacks it. */
static void drop_from_row(struct rti_account_row *row)
{
	__sync_fetch_and_or(&row->flags, RTI_ROW_LACKS_THREAD);
	if (__sync_fetch_and_add(&row->tasks, -1) != 1)
		return;
	note_peak(row);
	__sync_fetch_and_add(&shared.lost, 1);
	__sync_val_compare_and_swap(&row->is_in_use, 1, 0);
}

static void count_freed(struct task_mark *mark, const struct task_struct *task, struct lane *lane)
{
	__u32 key = mark->limbo - 1;
	struct limbo *limbo = mark->limbo ? bpf_map_lookup_elem(&limbos, &key) : NULL;
	struct rti_account_row *row = find_row(mark);

	add_use(&lane->use, task);
	if (limbo) {
		secure(limbo, task, SECURE_FREED);
		if (row)
			free_from_row(row, limbo, &lane->use);
		leave_limbo(limbo);
	} else if (row) {
		drop_from_row(row);
	}
	lane->freed++;
}

/* For tests: the next search finds that the memory of the thread is another one's. */
static __always_inline void miss_free(const struct task_mark *mark)
{
	__u32 key = mark->limbo - 1;
	struct limbo *limbo = mark->limbo ? bpf_map_lookup_elem(&limbos, &key) : NULL;

	if (limbo)
		limbo->signal = 0;
}

/* Its last moment on a CPU is over: kernel/exit.c, delayed_put_task_struct(). */
SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task)
{
	struct task_mark *mark = find_mark(task);
	struct lane *lane;
	__u32 key = 0;

	secure_some();
	if (!mark)
		return 0;
	if (settings.misses_frees) {
		miss_free(mark);
		return 0;
	}
	lane = bpf_map_lookup_elem(&lanes, &key);
	if (lane && is_accounted_for(mark))
		count_freed(mark, read_only(task), lane);
	drop_mark(task);
	return 0;
}

static long add_lane(__u32 cpu, void *unused)
{
	__u32 key = 0;
	const struct lane *lane = bpf_map_lookup_percpu_elem(&lanes, &key, cpu);

	if (!lane)
		return 1;
	rti_account_add_use(&shared.dead, &lane->use);
	shared.freed += lane->freed;
	return 0;
}

/* Sum up what freed threads have used. The sum is right if no thread is freed meanwhile: then two
 * runs find as many. */
SEC("syscall")
int sum_up(void *ctx)
{
	shared.dead = shared.reclaimed;
	shared.freed = shared.reclaims;
	bpf_loop(CPUS_MAX, add_lane, NULL, 0);
	return 0;
}

static void begin_row_search(struct rti_account_row *row)
{
	volatile const struct rti_account_row *now = row;

	row->search = shared.searches;
	row->found_tasks = 0;
	row->search_tasks = now->tasks;
	if (now->freeing) {
		row->search_tasks = 0; /* `freed` may have a part of a thread */
		shared.found--;
	}
	barrier();
	row->all_found = row->freed;
}

/* Whether each thread of the process was found or was freed before, so that none is in the sum
 * twice and none is missing. E.g.: of three threads, one is found, and one is reclaimed then. What
 * the latter has used is not in `all_found`; two are left, and the second one is found. */
static bool has_all_found(const struct rti_account_row *row)
{
	volatile const struct rti_account_row *now = row;

	if (now->freeing) {
		shared.found--;
		return false;
	}
	return now->tasks == row->search_tasks && row->found_tasks == row->search_tasks &&
	       !(now->flags & RTI_ROW_LACKS_THREAD);
}

/* The last thread of a process that is found sends its record. If one was freed since the first was
 * found, that one or the next search sends it. There is a next search: the number of freed threads
 * has moved, or `found` is too low. */
static void search_row(struct rti_account_row *row, const struct limbo *limbo)
{
	if (!row || row->tgid != limbo->tgid)
		return;
	if (row->search != shared.searches)
		begin_row_search(row);
	row->found_tasks++;
	row->all_found.cpu_ns += limbo->use.cpu_ns;
	row->all_found.voluntary_switches += limbo->use.voluntary_switches;
	row->all_found.involuntary_switches += limbo->use.involuntary_switches;
	row->all_found.read_bytes += limbo->use.read_bytes;
	row->all_found.write_bytes += limbo->use.write_bytes;
	note_sums(row, limbo);
	if (!has_all_found(row))
		return;
	finish_process(row, &row->all_found, &shared.unfreed);
}

/* The memory of this thread is something else's, and no program was called when it was freed. What
 * it has used is added up here if it was secured, and the entry is free again. start_ns: of
 * the thread in limbo. If it is 0 by now, the program was called after all. */
static void reclaim(struct limbo *limbo, __u64 start_ns)
{
	struct rti_account_row *row = row_of(limbo->row);

	if (__sync_val_compare_and_swap(&limbo->start_ns, start_ns, 0) != start_ns)
		return;
	if (limbo->secured != start_ns) {
		shared.missed++;
		if (row)
			drop_from_row(row);
	} else {
		rti_account_add_use(&shared.reclaimed, &limbo->use);
		shared.reclaims++;
		if (row && row->tgid == limbo->tgid)
			free_from_row(row, limbo, &shared.reclaimed);
	}
	leave_limbo(limbo);
}

/* Secure a thread that is off its CPU. What was secured with the final part of its process stays.
 * If no program was called when the thread was freed, its memory may be anything's by now. E.g.:
 * the buffer of a file. */
static void secure_found(struct limbo *limbo, const struct task_struct *task)
{
	bool was_secured = is_secured(limbo);

	if (is_off_cpu(task) && !(was_secured && limbo->is_released))
		secure(limbo, task, was_secured ? SECURE_AGAIN : SECURE_FIRST);
}

/* It is not off its CPU. */
static void add_leaving(const struct limbo *limbo, const struct task_struct *task)
{
	struct rti_account_use use = { 0 };

	add_use(&use, task);
	if (!is_in_limbo(limbo, task))
		return;
	rti_account_add_use(&shared.unfreed, &use);
	shared.leaving++;
}

/* The kernel may free the thread meanwhile: then the number of freed ones shows that the sum is
 * torn, and the row is left alone. */
static long search_entry(__u32 key, void *unused)
{
	struct limbo *limbo = bpf_map_lookup_elem(&limbos, &key);
	const struct task_struct *task;
	__u64 address, start_ns;

	if (!limbo || !limbo->task)
		return 0;
	start_ns = *(volatile __u64 *)&limbo->start_ns;
	address = *(volatile __u64 *)&limbo->task;
	if (!start_ns)
		return 0;
	task = task_of(limbo);
	if (!is_in_limbo(limbo, task)) {
		if (*(volatile __u64 *)&limbo->task == address)
			reclaim(limbo, start_ns);
		return 0;
	}
	secure_found(limbo, task);
	if (!is_secured(limbo)) {
		add_leaving(limbo, task);
		return 0;
	}
	rti_account_add_use(&shared.unfreed, &limbo->use);
	shared.found++;
	if (*(volatile __u64 *)&limbo->task == address)
		search_row(row_of(limbo->row), limbo);
	return 0;
}

/* Sum up the threads in limbo. */
SEC("syscall")
int search(void *ctx)
{
	__builtin_memset(&shared.unfreed, 0, sizeof(shared.unfreed));
	shared.found = 0;
	shared.leaving = 0;
	shared.searches++;
	bpf_loop(settings.rows, search_entry, NULL, 0);
	return 0;
}

/* Add the threads that run. If one is taken in here, `begun` moves: the reader sees that and sums
 * up again. */
SEC("iter/task")
int walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	const struct task_mark *mark;

	if (!task)
		return 0;
	mark = find_mark(task);
	if (!mark)
		mark = adopt_worker(task);
	if (!is_accounted_for(mark) || mark->limbo)
		return 0;
	add_use(&shared.unfreed, task);
	shared.found++;
	return 0;
}

/* The caller will read the ring. */
SEC("syscall")
int set_up(void *ctx)
{
	note_own_namespace(bpf_get_current_task_btf());
	note_own_root(bpf_get_current_task_btf());
	shared.has_io = has_io_accounts(bpf_get_current_task_btf());
	shared.began_ns = bpf_ktime_get_boot_ns();
	return 0;
}

/* From now on what the calling thread forks is the supervisor. */
SEC("syscall")
int arm(void *ctx)
{
	shared.armed = (__u64)bpf_get_current_task_btf();
	return 0;
}
