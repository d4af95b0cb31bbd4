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
#include "bpf/kernel.h"

#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "account.h"

const volatile struct rti_account_settings settings;
struct rti_account_shared shared;

#include "bpf/own_pid.h"
#include "bpf/task_mark.h"

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
#include "account_record.h"
#include "account_search.h"

/* Wakes a reader that has read all events before. Only a tree with a root has events. */
static void send_event(__u32 kind, __s32 pid)
{
	const struct rti_account_event event = { .kind = kind, .pid = pid };

	if (settings.root && bpf_ringbuf_output(&ring, (void *)&event, sizeof(event), 0) < 0)
		__sync_fetch_and_add(&shared.lost_events, 1);
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
		join_row(mark, of_parent);
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

/* All threads of a process have begun to exit. Several of them may get here at the same time: what
 * the last one finds is kept.
 *
 * The status is as in kernel/exit.c, wait_task_zombie(), and final: no thread is left that could
 * end the process otherwise. The leader sets its exit code before it gets here. Its name is final,
 * too: no process has waited for it. */
static void end_process(struct rti_account_row *row, struct task_struct *task)
{
	const struct signal_struct *signal = task->signal;
	const struct task_struct *leader = task->group_leader;

	if (row) {
		row->status = (__u32)(signal->flags & SIGNAL_GROUP_EXIT ? signal->group_exit_code
		                                                        : leader->exit_code);
		bpf_probe_read_kernel(row->comm, sizeof(row->comm), leader->comm);
		note_last_memory(row, task);
	}
	if (row && __sync_fetch_and_or(&row->flags, RTI_ROW_ENDED) & RTI_ROW_ENDED)
		return;
	__sync_fetch_and_add(&shared.alive, -1);
	send_event(RTI_ACCOUNT_EXIT, own_pid(task));
	/* No program was called for an exec: the text is of the program before. */
	if (row && row->exec_id != task->self_exec_id)
		row->text = 0;
}

static void begin_exit(struct task_mark *mark, struct rti_account_row *row,
                       struct task_struct *task)
{
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
	struct task_mark *of_child;

	if (!mark && settings.root)
		mark = adopt_now(parent);
	if (mark && mark->flags & MARK_MEMBER) {
		/* A child that gets the parent of its parent (CLONE_PARENT) is a descendant of a
		 * root only if that is one. */
		if (!settings.root || parent->tgid == child->tgid ||
		    read_only(child)->real_parent->tgid == parent->tgid ||
		    is_member(child->real_parent))
			mark_child(mark, parent, child);
	} else if (shared.armed && (__u64)parent == shared.armed && parent->tgid != child->tgid) {
		/* The supervisor: not accounted for, but its children are. */
		of_child = make_mark(child);
		if (of_child)
			__sync_fetch_and_or(&of_child->flags, MARK_MEMBER | MARK_SUPERVISOR);
		else
			__sync_fetch_and_add(&shared.unmarked, 1);
	}
	secure_some();
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct task_mark *mark = find_mark(task);
	struct rti_account_row *row;
	bool is_last;

	if (settings.root) {
		if (!mark)
			mark = adopt_now(task);
		adopt_executing(task);
	}
	if (!mark)
		mark = adopt_worker(task);
	secure_some();
	if (!is_accounted_for(mark))
		return 0;
	row = find_row(mark);
	/* The thread is no longer one of the live ones. Without a row, nothing corrects its
	 * switches. */
	is_last = read_only(task)->signal->live.counter == 0;
	if (row && !is_last)
		__sync_fetch_and_add(&row->ended_early, 1);
	if (!row || !is_last)
		__sync_fetch_and_add(&shared.ended_early, 1);
	begin_exit(mark, row, task);
	return 0;
}

/* Adopt the threads of the tree that are no members yet. One that is being forked is marked by
 * on_fork at this moment; if that finds no mark of its parent, the next walk adopts it. Without a
 * root the verifier has nothing to check here: half of the time that it takes. */
SEC("iter/task")
int adopt_all(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task, *leader;
	struct task_mark *mark;

	if (!settings.root || !task)
		return 0;
	if (task->flags & PF_KTHREAD || task->__state == TASK_NEW)
		return 0;
	leader = task->group_leader;
	if (!leader || is_member(task) || !belongs(task))
		return 0;
	mark = adopt_thread(task, leader);
	adopt_executing(task);
	/* on_exit is not called again for a thread that began to exit before it was adopted. */
	if (mark && read_only(task)->flags & PF_EXITING)
		begin_exit(mark, find_row(mark), task);
	return 0;
}

static void count_freed(struct task_mark *mark, const struct task_struct *task, struct lane *lane)
{
	struct limbo *limbo = limbo_of(mark->limbo);
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

/* Its last moment on a CPU is over: kernel/exit.c, delayed_put_task_struct(). */
SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task)
{
	struct task_mark *mark = find_mark(task);
	struct limbo *limbo;
	struct lane *lane;
	__u32 key = 0;

	secure_some();
	if (!mark)
		return 0;
	/* For tests: the next search finds that the memory of the thread is another one's. */
	if (settings.misses_frees) {
		limbo = limbo_of(mark->limbo);
		if (limbo)
			limbo->signal = 0;
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
