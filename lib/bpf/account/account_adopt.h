/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Takes processes that run already into the account of a tree.
 *
 * For BPF programs. `settings` and `shared` must be defined. What a thread has used since its start
 * is in its task_struct. What its process has of threads that have ended, and of children that it
 * waited for, is in signal_struct: that is the past of the process, taken once. */
#ifndef RTI_ACCOUNT_ADOPT_H
#define RTI_ACCOUNT_ADOPT_H

#include "bpf/kernel.h"

#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "account.h"
#include "account_row.h"
#include "bpf/own_pid.h"
#include "bpf/task_mark.h"

static bool is_accounted_for(const struct task_mark *mark)
{
	return mark && (mark->flags & (MARK_MEMBER | MARK_SUPERVISOR)) == MARK_MEMBER;
}

static void add_to(__u64 *sum, __u64 value)
{
	__sync_fetch_and_add(sum, value);
}

/* The kernel adds up utime and stime of children so that their sum is what these have run
 * (kernel/exit.c, wait_task_zombie()). */
static void add_past(const struct signal_struct *signal)
{
	const struct task_io_accounting *io = &signal->ioac;
	struct rti_account_use *past = &shared.past;

	add_to(&past->cpu_ns, signal->sum_sched_runtime + signal->cutime + signal->cstime);
	add_to(&past->user_part_ns, signal->utime + signal->cutime);
	add_to(&past->system_part_ns, signal->stime + signal->cstime);
	add_to(&past->minflt, signal->min_flt + signal->cmin_flt);
	add_to(&past->majflt, signal->maj_flt + signal->cmaj_flt);
	add_to(&past->voluntary_switches, signal->nvcsw + signal->cnvcsw);
	add_to(&past->involuntary_switches, signal->nivcsw + signal->cnivcsw);
	if (!bpf_core_field_exists(io->rchar) || !bpf_core_field_exists(io->read_bytes))
		return;
	add_to(&past->read_chars, io->rchar);
	add_to(&past->write_chars, io->wchar);
	add_to(&past->read_calls, io->syscr);
	add_to(&past->write_calls, io->syscw);
	add_to(&past->read_bytes, io->read_bytes);
	add_to(&past->write_bytes, io->write_bytes);
	add_to(&past->cancelled_write_bytes, io->cancelled_write_bytes);
}

/* The row has the threads that ended before, as if they had been freed since. The peak so far may
 * be that of the program which has executed this one after vfork(2), so it does not count. */
static void begin_row(const struct task_mark *mark, const struct task_struct *leader)
{
	const struct signal_struct *signal = leader->signal;
	struct rti_account_row *row = find_row(mark);

	add_past(signal);
	if (!row)
		return;
	row->freed.cpu_ns = signal->sum_sched_runtime;
	row->freed.voluntary_switches = signal->nvcsw;
	row->freed.involuntary_switches = signal->nivcsw;
	row->exec_id = leader->self_exec_id;
	row->foreign_pages = signal->maxrss;
	if (bpf_core_field_exists(signal->ioac.read_bytes)) {
		row->freed.read_bytes = signal->ioac.read_bytes;
		row->freed.write_bytes = signal->ioac.write_bytes;
	}
}

/* Returns whether it is a member now that was none before. */
static bool make_member(struct task_mark *mark)
{
	__u32 old = __sync_fetch_and_or(&mark->flags, MARK_MEMBER);

	if (old & MARK_MEMBER)
		return false;
	__sync_fetch_and_add(&shared.adopted, 1);
	add_to(&shared.begun, 1);
	if (!(old & MARK_ENDED))
		add_to(&shared.running, 1);
	return true;
}

/* Returns the mark of the thread group leader of a process that belongs to the tree, or NULL if it
 * has none. */
static const struct task_mark *adopt_process(struct task_struct *leader)
{
	struct task_struct *parent = leader->real_parent;
	struct task_mark *mark = make_mark(leader);
	struct rti_account_row *row;
	__u32 number;

	if (!mark) {
		add_to(&shared.unmarked, 1);
		return NULL;
	}
	/* Its threads take the row from the mark of a member, so the row comes first. Of two
	 * programs that adopt a process at once, one gives its row back. */
	number = !parent || mark->flags & MARK_MEMBER ? 0 : new_row(parent, leader);
	row = row_of(number);
	if (row && __sync_val_compare_and_swap(&mark->row, 0, number) != 0)
		__sync_val_compare_and_swap(&row->is_in_use, 1, 0);
	if (!make_member(mark) || !parent)
		return mark;
	begin_row(mark, read_only(leader));
	count_process();
	return mark;
}

/* A thread shares the row of its process. */
static void join_row(struct task_mark *mark, const struct task_mark *of_leader)
{
	struct rti_account_row *row;

	mark->row = of_leader->row;
	row = find_row(mark);
	if (row)
		__sync_fetch_and_add(&row->tasks, 1);
}

/* Returns the mark of a thread that belongs to the tree, or NULL if it has none. */
static struct task_mark *adopt_thread(struct task_struct *task, struct task_struct *leader)
{
	const struct task_mark *of_leader = adopt_process(leader);
	struct task_mark *mark = of_leader ? make_mark(task) : NULL;

	if (!mark) {
		/* Otherwise it was counted with its leader. */
		add_to(&shared.unmarked, of_leader != NULL);
		return NULL;
	}
	if (make_member(mark))
		join_row(mark, of_leader);
	return mark;
}

static bool is_member(struct task_struct *task)
{
	const struct task_mark *mark = task ? find_mark(task) : NULL;

	return mark && mark->flags & MARK_MEMBER;
}

/* Whether a thread belongs to the tree: by its process, or its parent, or as the root. */
static bool belongs(struct task_struct *task)
{
	if (is_member(task->group_leader) || is_member(task->real_parent))
		return true;
	return own_pid(task) == settings.root;
}

/* The kernel makes threads for a process without sched_process_fork: the workers of io_uring
 * or vhost (kernel/fork.c, create_io_thread()). One is taken in by the first walk that meets it, or
 * at its end. Returns its mark, or NULL if it is no such thread of the tree. */
static __always_inline struct task_mark *adopt_worker(struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;
	const struct task_mark *of_leader;
	struct task_mark *mark;

	if (!(task->flags & (PF_IO_WORKER | PF_USER_WORKER)) || task->__state == TASK_NEW)
		return NULL;
	of_leader = leader ? find_mark(leader) : NULL;
	if (!is_accounted_for(of_leader))
		return NULL;
	mark = make_mark(task);
	if (!mark)
		add_to(&shared.unmarked, 1);
	else if (make_member(mark))
		join_row(mark, of_leader);
	return mark;
}

/* A thread that executes a program ends all others of its process and becomes the thread group
 * leader (fs/exec.c, de_thread()). It must have the row by then: no later walk could tell its
 * process from a new one. So it is adopted before one of the others goes. */
static __always_inline void adopt_executing(struct task_struct *task)
{
	struct task_struct *executing = task->signal->group_exec_task;
	struct task_struct *leader = task->group_leader;

	if (*(volatile __u32 *)&shared.is_adopting && executing && leader && is_member(leader) &&
	    !is_member(executing))
		adopt_thread(executing, leader);
}

/* A thread without a mark forks or exits. If it belongs to the tree, and the walk has not come to
 * it yet, adopt it now. Returns its mark, or NULL. */
static struct task_mark *adopt_now(struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;

	if (!*(volatile __u32 *)&shared.is_adopting || !leader || !belongs(task))
		return NULL;
	return adopt_thread(task, leader);
}

#endif
