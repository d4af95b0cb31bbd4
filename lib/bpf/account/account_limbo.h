/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Threads in limbo: they have begun to exit, and the kernel has not freed them.
 *
 * For BPF programs. `settings` and `shared` must be defined. */
#ifndef RTI_ACCOUNT_LIMBO_H
#define RTI_ACCOUNT_LIMBO_H

#include "bpf/kernel.h"

#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "account.h"
#include "account_row.h"
#include "bpf/signal_sums.h"
#include "bpf/task_mark.h"

/* At each fork, exit and free, of any process. One that is not off its CPU is looked at again,
 * unless so many have begun to exit since. */
#define SECURE_AT_ONCE 3
#define SECURE_LATER 256

/* A thread that has begun to exit. */
struct limbo {
	__u64 task;     /* its address; 0: free */
	__u64 start_ns; /* 0: the entry is being taken or given back */
	__u64 signal;   /* address of its signal_struct */
	__u64 pid;      /* and of its struct pid when it began to exit */
	__u32 row;      /* as in a mark */
	__s32 tgid;
	__u64 secured; /* start_ns, once what follows may be used */
	struct rti_account_use use;
	/* By its signal_struct when it was secured, with what it has used itself. */
	struct rti_account_sums of_process;
	__u32 sequence;    /* of these sums */
	__u32 lacks;       /* other threads, which run or are not released; LACKS_ALL */
	__u32 is_released; /* signal_struct has its final part of it */
	__u32 is_leader;
};

#define LACKS_ALL 0xffffffffu /* the sums moved meanwhile */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1024); /* the plug-in sets another number */
	__type(key, __u32);
	__type(value, struct limbo);
} limbos SEC(".maps");

/* number: plus 1; 0: none. */
static __always_inline struct limbo *limbo_of(__u32 number)
{
	__u32 key = number - 1;

	return number ? bpf_map_lookup_elem(&limbos, &key) : NULL;
}

static long take_limbo(__u32 i, struct search *search)
{
	__u32 key = (search->first + i) & (settings.rows - 1);
	struct limbo *limbo = bpf_map_lookup_elem(&limbos, &key);

	if (!limbo || __sync_val_compare_and_swap(&limbo->task, 0, search->task) != 0)
		return 0;
	search->found = key + 1;
	return 1;
}

/* If there is no room, the reader has to wait until the thread is freed. next_limbo moves last: an
 * entry below it that is free is not one that is about to be taken. */
static void enter_limbo(struct task_mark *mark, struct task_struct *task)
{
	struct search search = { .first = *(volatile __u32 *)&shared.next_limbo,
		                 .task = (__u64)task };
	struct limbo *limbo;

	if (__sync_fetch_and_or(&mark->flags, MARK_LIMBO) & MARK_LIMBO)
		return;
	bpf_loop(FREE_TRIES, take_limbo, &search, 0);
	limbo = limbo_of(search.found);
	if (limbo) {
		limbo->secured = 0;
		limbo->row = mark->row;
		limbo->tgid = task->tgid;
		limbo->signal = (__u64)read_only(task)->signal;
		limbo->pid = (__u64)read_only(task)->thread_pid;
		__sync_val_compare_and_swap(&limbo->start_ns, 0, task->start_boottime);
		mark->limbo = search.found;
	}
	__sync_fetch_and_add(&shared.next_limbo, 1);
}

static void leave_limbo(struct limbo *limbo)
{
	__sync_fetch_and_and(&limbo->start_ns, 0);
	__sync_fetch_and_and(&limbo->task, 0);
}

/* A kernel without CONFIG_TASK_IO_ACCOUNTING has none. */
static bool has_io_accounts(const struct task_struct *task)
{
	return bpf_core_field_exists(task->ioac.rchar) &&
	       bpf_core_field_exists(task->ioac.read_bytes);
}

static void add_use(struct rti_account_use *use, const struct task_struct *task)
{
	use->cpu_ns += task->se.sum_exec_runtime;
	use->user_part_ns += task->utime;
	use->system_part_ns += task->stime;
	use->minflt += task->min_flt;
	use->majflt += task->maj_flt;
	use->voluntary_switches += task->nvcsw;
	use->involuntary_switches += task->nivcsw;
	if (has_io_accounts(task)) {
		use->read_chars += task->ioac.rchar;
		use->write_chars += task->ioac.wchar;
		use->read_calls += task->ioac.syscr;
		use->write_calls += task->ioac.syscw;
		use->read_bytes += task->ioac.read_bytes;
		use->write_bytes += task->ioac.write_bytes;
		use->cancelled_write_bytes += task->ioac.cancelled_write_bytes;
	}
}

static __always_inline void add_to_sums(struct rti_account_sums *sums,
                                        const struct rti_account_use *use)
{
	sums->user_part_ns += use->user_part_ns;
	sums->system_part_ns += use->system_part_ns;
	sums->minflt += use->minflt;
	sums->majflt += use->majflt;
	sums->voluntary_switches += use->voluntary_switches;
	sums->involuntary_switches += use->involuntary_switches;
	sums->read_bytes += use->read_bytes;
	sums->write_bytes += use->write_bytes;
}

/* What wait(2) shows of the process: kernel/exit.c, wait_task_zombie(). signal_struct has what its
 * other threads have used, and the thread itself once that is released (__exit_signal()). */
static __always_inline void read_sums(struct rti_account_sums *sums,
                                      const struct signal_struct *signal)
{
	sums->user_part_ns = signal->utime;
	sums->system_part_ns = signal->stime;
	sums->minflt = signal->min_flt;
	sums->majflt = signal->maj_flt;
	sums->voluntary_switches = signal->nvcsw;
	sums->involuntary_switches = signal->nivcsw;
	if (bpf_core_field_exists(signal->ioac.read_bytes)) {
		sums->read_bytes = signal->ioac.read_bytes;
		sums->write_bytes = signal->ioac.write_bytes;
	}
}

/* The memory of a thread that was freed may be another thread's, which started later, or anything
 * else's. The pid would not do: a thread that executes a program takes the pid of the thread group
 * leader (fs/exec.c, de_thread()). */
static bool is_in_limbo(volatile const struct limbo *limbo, const struct task_struct *task)
{
	return task->start_boottime == limbo->start_ns && task->tgid == limbo->tgid &&
	       (__u64)task->signal == limbo->signal;
}

/* Whether it is a zombie that no process has waited for. Its pid leads to it until then, and so it
 * is not freed. What only looks like it, in memory that was freed, no pid leads to. */
static bool is_zombie(volatile const struct limbo *limbo)
{
	const struct pid *pid =
	    bpf_rdonly_cast((void *)limbo->pid, bpf_core_type_id_kernel(struct pid));

	return limbo->pid && (__u64)pid->tasks[PIDTYPE_PID].first ==
	                         limbo->task + bpf_core_field_offset(struct task_struct, pid_links);
}

/* When a thread is secured, and what has to be sure of its memory. */
enum secure_when {
	SECURE_FREED, /* the kernel frees it now: nothing */
	SECURE_FIRST, /* it is the thread's, and its parent did not wait for it meanwhile */
	SECURE_AGAIN /* also that it was not freed, since values that are right would be replaced */
};

/* Keep what a thread has used that is off its CPU. Another CPU may secure the same thread at this
 * moment: so nothing is written but final values. */
static void secure(struct limbo *limbo, const struct task_struct *task, enum secure_when when)
{
	struct rti_account_use use = { 0 };
	struct rti_account_sums of_process = { 0 };
	__u32 sequence = sequence_of(task->signal), lacks = task->signal->nr_threads;
	__u32 is_released = !task->sighand, is_leader = task->pid == task->tgid;
	bool is_steady;

	add_use(&use, task);
	read_sums(&of_process, task->signal);
	/* __exit_signal() moves the sums before it clears `sighand`: then they have the thread. */
	is_steady = is_consistent(task->signal, sequence) && is_released == !task->sighand &&
	            (is_released || lacks);
	if (when != SECURE_FREED && (!is_steady || !is_in_limbo(limbo, task)))
		return;
	if (when == SECURE_AGAIN && !is_zombie(limbo))
		return;
	if (!is_released) {
		add_to_sums(&of_process, &use);
		lacks--;
	}
	limbo->use = use;
	limbo->of_process = of_process;
	limbo->sequence = is_steady ? sequence : sequence | 1;
	limbo->lacks = is_steady ? lacks : LACKS_ALL;
	limbo->is_released = is_released;
	limbo->is_leader = is_leader;
	limbo->secured = limbo->start_ns;
}

static bool is_secured(const struct limbo *limbo)
{
	return limbo->secured && limbo->secured == limbo->start_ns;
}

/* Whether it has left its CPU for the last time: kernel/sched/core.c, finish_task(). */
static bool is_off_cpu(const struct task_struct *task)
{
	return task->__state == TASK_DEAD && !(bpf_core_field_exists(task->on_cpu) && task->on_cpu);
}

static const struct task_struct *task_of(volatile const struct limbo *limbo)
{
	return read_only((const void *)limbo->task);
}

/* Returns true if there is nothing left to secure in this entry. */
static __always_inline bool look_at(__u32 at)
{
	__u32 key = at & (settings.rows - 1);
	struct limbo *limbo = bpf_map_lookup_elem(&limbos, &key);
	const struct task_struct *task;

	if (!limbo || !limbo->task || is_secured(limbo))
		return true;
	task = task_of(limbo);
	if (!is_in_limbo(limbo, task) || !is_off_cpu(task))
		return false;
	secure(limbo, task, SECURE_FIRST);
	return is_secured(limbo);
}

/* How many have entered limbo since the entry that is secured next. */
static __u32 count_newer(__u32 at)
{
	return *(volatile __u32 *)&shared.next_limbo - at;
}

/* Secure the oldest. If it still waits for a CPU to exit, look at one of those after it, in turn.
 * Returns 0 to go on. */
static long secure_next(__u32 i, void *unused)
{
	__u32 at = *(volatile __u32 *)&shared.next_secured, newer = count_newer(at);

	if (newer == 0 || newer > settings.rows)
		return 1;
	if (look_at(at) || newer >= SECURE_LATER)
		__sync_val_compare_and_swap(&shared.next_secured, at, at + 1);
	else if (newer > 1)
		look_at(at + 1 + shared.looks++ % (newer - 1));
	return 0;
}

/* Secure threads that have begun to exit before. Cost if there is none: a read of two numbers. */
static void secure_some(void)
{
	if (count_newer(*(volatile __u32 *)&shared.next_secured) > 0)
		bpf_loop(SECURE_AT_ONCE, secure_next, NULL, 0);
}

#endif
