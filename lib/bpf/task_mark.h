/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which threads belong to a process tree: a mark at each, which its children inherit before they
 * run.
 *
 * For BPF programs: those that trace, or with RTI_ACCOUNT those that account. A mark goes away with
 * its thread, so that a reused pid has none. It does not depend on namespaces. */
#ifndef RTI_TASK_MARK_H
#define RTI_TASK_MARK_H

#include "kernel.h"

#include <bpf/bpf_helpers.h>

#define MARK_MEMBER 1u      /* it belongs to the tree */
#define MARK_QUIET 2u       /* its calls are not reported */
#define MARK_ENDED 4u       /* it has ended: set once, by the side that counts it out */
#define MARK_FIRST 8u       /* it was forked by the thread that starts the command */
#define MARK_SUPERVISOR 16u /* it is our own supervisor, which is not counted */
#define MARK_LIMBO 32u      /* an account looks for a place in limbo for it: once */

struct task_mark {
	__u32 flags; /* MARK_ bits; change them by atomic operations alone */
#ifdef RTI_ACCOUNT
	__u32 row;   /* of its process, plus 1; 0: none */
	__u32 limbo; /* entry of a thread that has begun to exit, plus 1; 0: none */
#else
	__u32 has_called; /* it has made a traced call since the trace began */
	__u64 entry_ns;   /* of the traced call that it is in; 0: none */
#endif
};

#ifdef RTI_TRACE_RAW
/* The kernel gives raw tracepoints no task that could have storage. A task is known by its address
 * then, until sched_process_exit. */
#define MARKS_MAX 32768

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MARKS_MAX);
	__type(key, __u64);
	__type(value, struct task_mark);
} marks SEC(".maps");

static struct task_mark *find_mark(const struct task_struct *task)
{
	__u64 key = (__u64)task;

	return bpf_map_lookup_elem(&marks, &key);
}

static struct task_mark *make_mark(const struct task_struct *task)
{
	__u64 key = (__u64)task;
	struct task_mark none = { 0 };

	bpf_map_update_elem(&marks, &key, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&marks, &key);
}

#define make_stored_mark(task) make_mark(task)

static void drop_mark(const struct task_struct *task)
{
	__u64 key = (__u64)task;

	bpf_map_delete_elem(&marks, &key);
}
#else
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_mark);
} marks SEC(".maps");

/* The kernel may have no storage to give at the moment: it allocates some ahead, from an interrupt.
 * Then the mark lies here, until the task ends. */
#define SPARE_MARKS 64
#define BEING_DROPPED 1

static struct {
	__u64 task; /* its address; 0: free; BEING_DROPPED */
	struct task_mark mark;
} spare[SPARE_MARKS];
static __u32 spares; /* in use */

struct spare_search {
	__u64 task;
	__u32 found; /* SPARE_MARKS: none */
};

static long look_at_spare(__u32 i, struct spare_search *search)
{
	if (i >= SPARE_MARKS || spare[i].task != search->task)
		return 0;
	search->found = i;
	return 1;
}

/* Linux 6.1 knows too little of a number from a search: the mask shows that it is an index. */
static struct task_mark *spare_mark(__u32 found)
{
	if (found >= SPARE_MARKS)
		return NULL;
	barrier_var(found);
	return &spare[found & (SPARE_MARKS - 1)].mark;
}

static long take_spare(__u32 i, struct spare_search *search)
{
	if (i >= SPARE_MARKS || __sync_val_compare_and_swap(&spare[i].task, 0, search->task) != 0)
		return 0;
	search->found = i;
	return 1;
}

static struct task_mark *make_spare(__u64 task)
{
	struct spare_search search = { task, SPARE_MARKS };

	bpf_loop(SPARE_MARKS, take_spare, &search, 0);
	if (search.found >= SPARE_MARKS)
		return NULL;
	__sync_fetch_and_add(&spares, 1);
	__sync_fetch_and_add(&shared.spared, 1);
	return spare_mark(search.found);
}

/* The search and the end of a task may drop the same mark. Only one of them frees it. */
static long drop_spare(__u32 i, struct spare_search *search)
{
	if (i >= SPARE_MARKS || spare[i].task != search->task ||
	    __sync_val_compare_and_swap(&spare[i].task, search->task, BEING_DROPPED) !=
	        search->task)
		return 0;
	spare[i].mark = (struct task_mark){ 0 };
	__sync_val_compare_and_swap(&spare[i].task, BEING_DROPPED, 0);
	__sync_fetch_and_add(&spares, -1);
	return 1;
}

/* Returns NULL if there is none. */
static struct task_mark *find_mark(struct task_struct *task)
{
	struct task_mark *mark = bpf_task_storage_get(&marks, task, NULL, 0);
	struct spare_search search;

	if (mark || !spares)
		return mark;
	search = (struct spare_search){ (__u64)task, SPARE_MARKS };
	bpf_loop(SPARE_MARKS, look_at_spare, &search, 0);
	return spare_mark(search.found);
}

/* For what is no loss: without a spare mark. Returns NULL if there is no storage. */
static struct task_mark *make_stored_mark(struct task_struct *task)
{
	if (settings.lacks_storage)
		return NULL;
	return bpf_task_storage_get(&marks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Returns NULL if even the spare ones are in use. There is no storage to be had either where
 * another program has just made it: a second mark would be counted in, and never out. */
static struct task_mark *make_mark(struct task_struct *task)
{
	struct task_mark *mark = find_mark(task);

	if (!mark)
		mark = make_stored_mark(task);
	if (!mark)
		mark = find_mark(task);
	return mark ? mark : make_spare((__u64)task);
}

/* When the task ends. */
static void drop_mark(struct task_struct *task)
{
	struct spare_search search = { (__u64)task, SPARE_MARKS };

	if (spares)
		bpf_loop(SPARE_MARKS, drop_spare, &search, 0);
}
#endif

/* `threads` counts those of the tree that run, but for the supervisor. Each is counted in once and
 * out once, whichever programs run at the same time. A thread that has ended between the making of
 * its mark and this is not counted in: nothing would count it out. */
static void begin_thread(struct task_mark *mark, __u32 flags, __u64 *threads)
{
	__u32 old = __sync_fetch_and_or(&mark->flags, flags | MARK_MEMBER);

	if (!(old & (MARK_MEMBER | MARK_ENDED)))
		__sync_fetch_and_add(threads, 1);
}

/* Returns true if it was the last one. */
static bool end_thread(struct task_mark *mark, __u64 *threads)
{
	__u32 old = __sync_fetch_and_or(&mark->flags, MARK_ENDED);

	if ((old & (MARK_MEMBER | MARK_SUPERVISOR | MARK_ENDED)) != MARK_MEMBER)
		return false;
	return __sync_fetch_and_add(threads, -1) == 1;
}

#endif
