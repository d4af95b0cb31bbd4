/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The rows of processes, and their peaks of memory.
 *
 * For BPF programs. `settings` and `shared` must be defined. */
#ifndef RTI_ACCOUNT_ROW_H
#define RTI_ACCOUNT_ROW_H

#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "account.h"
#include "bpf/own_pid.h"
#include "bpf/task_mark.h"

#define FREE_TRIES 32
#define RAISE_TRIES 16

extern void *bpf_rdonly_cast(void *object, __u32 type) __ksym;

/* A task to read from, and for no helper. To read a pointer from a task that the verifier trusts,
 * it looks through all types of the kernel by their names, up to four times: 0.5 ms each
 * (kernel/bpf/btf.c, btf_nested_type_is_trusted()). This one it does not trust. */
static struct task_struct *read_only(const struct task_struct *task)
{
	return bpf_rdonly_cast((void *)task, bpf_core_type_id_kernel(struct task_struct));
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1024); /* the plug-in sets another number */
	__type(key, __u32);
	__type(value, struct rti_account_row);
} rows SEC(".maps");

static struct rti_account_row *row_of(__u32 number)
{
	__u32 key = number - 1;

	return number ? bpf_map_lookup_elem(&rows, &key) : NULL;
}

static struct rti_account_row *find_row(const struct task_mark *mark)
{
	return row_of(mark->row);
}

struct search {
	__u32 first, found; /* found: number plus 1; 0: none */
	__u64 task;
};

static long take_row(__u32 i, struct search *search)
{
	__u32 key = (search->first + i) & (settings.rows - 1);
	struct rti_account_row *row = bpf_map_lookup_elem(&rows, &key);

	if (!row || __sync_val_compare_and_swap(&row->is_in_use, 0, 1) != 0)
		return 0;
	search->found = key + 1;
	return 1;
}

/* Returns the number of a row plus 1; 0: none is free near where rows were found last. */
static __u32 new_row(struct task_struct *parent, struct task_struct *child)
{
	struct search search = { .first = __sync_fetch_and_add(&shared.next_row, 1) };
	const struct mm_struct *memory;
	struct rti_account_row *row;

	bpf_loop(FREE_TRIES, take_row, &search, 0);
	row = row_of(search.found);
	if (!row) {
		__sync_fetch_and_add(&shared.rowless, 1);
		return 0;
	}
	row->tasks = 1;
	memory = read_only(child)->mm;
	row->flags = memory && memory == read_only(parent)->mm ? RTI_ROW_SHARES_MEMORY : 0;
	row->pid = own_pid(child);
	row->ppid = own_pid(parent);
	row->tgid = child->tgid;
	row->status = 0;
	row->execs = 0;
	row->is_sent = 0;
	row->search = 0;
	row->freeing = 0;
	row->is_noting = 0;
	row->has_sums = 0;
	row->has_leader = 0;
	row->ended_early = 0;
	row->start_ns = child->start_boottime;
	row->end_ns = 0;
	row->freed = (struct rti_account_part){ 0 };
	row->peak_pages = 0;
	row->foreign_pages = 0;
	return search.found;
}

struct raise {
	__u64 *value, to;
};

static long try_raise(__u32 i, struct raise *raise)
{
	__u64 old = *(volatile __u64 *)raise->value;

	return old >= raise->to || __sync_val_compare_and_swap(raise->value, old, raise->to) == old;
}

static void raise_to(__u64 *value, __u64 to)
{
	struct raise raise = { value, to };

	if (*(volatile __u64 *)value < to)
		bpf_loop(RAISE_TRIES, try_raise, &raise, 0);
}

/* The kernel's own peak has what the process shared with its parent until an exec. Above that, it
 * is of the process. */
static void raise_peak(struct rti_account_row *row, struct task_struct *task)
{
	__u64 pages = task->signal->maxrss;

	if (pages > row->foreign_pages)
		raise_to(&row->peak_pages, pages);
}

/* As get_mm_hiwater_rss() of include/linux/mm.h: the peak so far, without what each CPU has yet to
 * add to the counters. Returns 0 if it cannot be read: before Linux 6.16 the address space is gone
 * by sched_process_exit, and before 6.2 it has other counters. */
static __u64 own_peak_pages(const struct mm_struct *mm)
{
	const struct percpu_counter *file, *anonymous, *shared_memory;
	__u64 pages;

	if (!mm || !bpf_core_field_exists(mm->rss_stat[0].count))
		return 0;
	file = &mm->rss_stat[MM_FILEPAGES];
	anonymous = &mm->rss_stat[MM_ANONPAGES];
	shared_memory = &mm->rss_stat[MM_SHMEMPAGES];
	pages = positive(file->count) + positive(anonymous->count) + positive(shared_memory->count);
	return pages > mm->hiwater_rss ? pages : mm->hiwater_rss;
}

/* A program is about to be executed, in another address space. Another thread, which still runs,
 * may raise the peak of this one until it is gone. */
static __always_inline void note_old_memory(struct rti_account_row *row, struct task_struct *task)
{
	__u64 pages = row->flags & RTI_ROW_SHARES_MEMORY ? 0 : own_peak_pages(task->mm);

	raise_to(&row->peak_pages, pages);
	if (pages && task->signal->nr_threads == 1)
		__sync_fetch_and_or(&row->flags, RTI_ROW_SAW_MEMORY);
}

/* A program has been executed: from here on the process has an address space of its own. Of the one
 * before, only what is above the foreign peak shows now. */
static void note_new_memory(struct rti_account_row *row, struct task_struct *task)
{
	__u32 flags = row->flags;

	if (flags & RTI_ROW_SHARES_MEMORY)
		row->foreign_pages = task->signal->maxrss;
	else if (!(flags & RTI_ROW_SAW_MEMORY) && row->foreign_pages)
		__sync_fetch_and_or(&row->flags, RTI_ROW_HIDES_MEMORY);
	if (!(flags & RTI_ROW_SHARES_MEMORY))
		raise_peak(row, task);
	__sync_fetch_and_and(&row->flags, ~(RTI_ROW_SHARES_MEMORY | RTI_ROW_SAW_MEMORY));
}

/* The last address space of a process is about to go away. If the peak of one is not known, it had
 * no more than the foreign peak: that is no loss if the peak of the process is above it. */
static __always_inline void note_last_memory(struct rti_account_row *row, struct task_struct *task)
{
	__u64 pages = own_peak_pages(task->mm);

	raise_peak(row, task);
	raise_to(&row->peak_pages, pages);
	if (row->foreign_pages && row->peak_pages <= row->foreign_pages &&
	    (!pages || row->flags & RTI_ROW_HIDES_MEMORY))
		__sync_fetch_and_or(&row->flags, RTI_ROW_LACKS_PEAK);
}

#endif
