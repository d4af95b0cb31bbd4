/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The BPF program: fills a row for each of many pids with what its files and CPU clocks show.
 *
 * The files are /proc/PID/{stat,statm,status,io}; the values are read as the kernel reads them for
 * these files. Linux 6.2 is the first that can load the program.
 *
 * Its cost is mostly the time until the kernel's structures are in the cache. So no cache line is
 * touched unless a request needs it. */
#include "bpf/kernel.h"

#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "batch.h"
#include "bpf/signal_sums.h"

#define THREADS_MAX 65536
/* Reads of one process until none of its threads or children exits meanwhile. */
#define ATTEMPTS_MAX 4

#define TASK_REPORT 0x7fu /* include/linux/sched.h */
#define TASK_REPORT_IDLE 0x80u
#define TASK_UNINTERRUPTIBLE 0x2u
#define TASK_IDLE 0x402u
#define TASK_RTLOCK_WAIT 0x1000u
#define TASK_FROZEN 0x8000u
#define SIG_IGN 1

extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym;
extern void bpf_task_release(struct task_struct *task) __ksym;
extern void bpf_rcu_read_lock(void) __ksym;
extern void bpf_rcu_read_unlock(void) __ksym;
extern void *bpf_rdonly_cast(void *object, __u32 type) __ksym;

/* Turns an address into a pointer to a kernel type. If a read through it faults, it yields 0. */
#define kernel_object(type, address)                                                               \
	((const type *)bpf_rdonly_cast((void *)(address), bpf_core_type_id_kernel(type)))

/* Shared with the plug-in, which maps it. */
__u32 count; /* requests */
__u32 cpus;  /* CPUs with counters that can be found; 0 is none */
struct rti_batch_request requests[RTI_BATCH_PIDS];
struct rti_batch_row rows[RTI_BATCH_PIDS];
__u64 cpu_offset[RTI_BATCH_CPUS]; /* from a per-CPU address to the instance of each CPU */
__u64 prefetch_sink;              /* sum of values that were only read to have them in the cache */

/* Any per-CPU variable. The instances of all per-CPU variables are equally far apart, so this one
 * yields cpu_offset. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} per_cpu SEC(".maps");

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* A walk over the list of threads. It ends when next is head. */
struct walk {
	__u64 next, head;
	/* The address space, and the first thread that has it. A leader that has exited before the
	 * other threads has none. */
	__u64 mm, mm_user;
	struct rti_batch_row *row;
	__u64 cpu_ns;
};

static struct walk start_walk(const struct signal_struct *signal, struct rti_batch_row *row)
{
	return (struct walk){
		.next = (__u64)signal->thread_head.next,
		.head = (__u64)&signal->thread_head,
		.row = row,
		.cpu_ns = signal->sum_sched_runtime,
	};
}

static const struct task_struct *next_thread(struct walk *walk)
{
	const struct task_struct *thread;

	thread = kernel_object(struct task_struct,
	                       walk->next - bpf_core_field_offset(struct task_struct, thread_node));
	walk->next = (__u64)thread->thread_node.next;
	return thread;
}

/* Returns true if the leader is the only thread, so that no walk is needed. */
static bool is_single_threaded(const struct task_struct *leader, const struct signal_struct *signal)
{
	return signal->nr_threads == 1 &&
	       (__u64)signal->thread_head.next == (__u64)&leader->thread_node;
}

static long add_clock(__u32 i, struct walk *walk)
{
	if (walk->next == walk->head)
		return 1;
	walk->cpu_ns += next_thread(walk)->se.sum_exec_runtime;
	return 0;
}

/* Returns true if a process has used exactly this CPU time and has not been released. */
static bool has_used(const struct task_struct *task, __u64 ns)
{
	const struct signal_struct *signal = task->signal;
	__u32 sequence = sequence_of(signal);
	struct walk walk;

	order_reads();
	if (is_single_threaded(task, signal)) {
		walk.cpu_ns = signal->sum_sched_runtime + task->se.sum_exec_runtime;
	} else {
		walk = start_walk(signal, NULL);
		bpf_loop(THREADS_MAX, add_clock, &walk, 0);
		if (walk.next != walk.head)
			return false;
	}
	return walk.cpu_ns == ns && is_consistent(signal, sequence) && task->sighand;
}

static void add_io(struct rti_batch_row *row, const struct task_io_accounting *io)
{
	if (bpf_core_field_exists(io->rchar) && bpf_core_field_exists(io->read_bytes)) {
		row->rchar += io->rchar;
		row->wchar += io->wchar;
		row->read_bytes += io->read_bytes;
		row->write_bytes += io->write_bytes;
		row->cancelled_write_bytes += io->cancelled_write_bytes;
		row->syscr += io->syscr;
		row->syscw += io->syscw;
	}
}

static void add_usage(struct walk *walk, struct rti_batch_row *row,
                      const struct task_struct *thread)
{
	if (!walk->mm) {
		walk->mm = (__u64)thread->mm;
		walk->mm_user = (__u64)thread;
	}
	row->cpu_ns += thread->se.sum_exec_runtime;
	row->user_part_ns += thread->utime;
	row->system_part_ns += thread->stime;
	row->minflt += thread->min_flt;
	row->majflt += thread->maj_flt;
	row->voluntary_switches += thread->nvcsw;
	row->involuntary_switches += thread->nivcsw;
	if (row->has & RTI_BATCH_IO)
		add_io(row, &thread->ioac);
}

static long add_thread(__u32 i, struct walk *walk)
{
	if (walk->next == walk->head)
		return 1;
	add_usage(walk, walk->row, next_thread(walk));
	return 0;
}

/* Set the usage of threads that have exited and of reaped children. */
static void set_usage_of_exited(const struct signal_struct *signal, struct rti_batch_row *row)
{
	row->cpu_ns = signal->sum_sched_runtime;
	row->user_part_ns = signal->utime;
	row->system_part_ns = signal->stime;
	row->reaped_user_ns = signal->cutime;
	row->reaped_system_ns = signal->cstime;
	row->threads = (__u32)signal->nr_threads;
	row->minflt = signal->min_flt;
	row->majflt = signal->maj_flt;
	row->cminflt = signal->cmin_flt;
	row->cmajflt = signal->cmaj_flt;
	row->voluntary_switches = signal->nvcsw;
	row->involuntary_switches = signal->nivcsw;
	row->rchar = row->wchar = row->read_bytes = row->write_bytes = row->cancelled_write_bytes =
	    row->syscr = row->syscw = 0;
	if (row->has & RTI_BATCH_IO)
		add_io(row, &signal->ioac);
}

/* Sum the usage of a process and find its address space. Returns 0, -EAGAIN or -E2BIG. */
static int sum_threads(const struct task_struct *task, struct walk *walk, struct rti_batch_row *row)
{
	const struct signal_struct *signal = task->signal;
	__u32 sequence = sequence_of(signal);

	order_reads();
	*walk = start_walk(signal, row);
	set_usage_of_exited(signal, row);
	if (is_single_threaded(task, signal)) {
		add_usage(walk, row, task);
	} else {
		bpf_loop(THREADS_MAX, add_thread, walk, 0);
		if (walk->next != walk->head)
			return -E2BIG;
	}
	return is_consistent(signal, sequence) ? 0 : -EAGAIN;
}

/* Kinds of resident pages: file, anonymous and shared. */
#define PAGE_KINDS 3

struct pages {
	__u64 counters[PAGE_KINDS];
	__s64 count[PAGE_KINDS];
};

static long add_cpu(__u32 cpu, struct pages *pages)
{
	if (cpu >= RTI_BATCH_CPUS)
		return 1;
	for (int i = 0; i < PAGE_KINDS; i++)
		pages->count[i] +=
		    (__s32)kernel_object(struct seqcount, pages->counters[i] + cpu_offset[cpu])
			->sequence;
	return 0;
}

/* Count the resident pages as percpu_counter_sum_positive() does, or as
 * percpu_counter_read_positive() does if the per-CPU counters cannot be found. */
static void count_pages(const struct mm_struct *mm, struct pages *out)
{
	const struct percpu_counter *file = &mm->rss_stat[MM_FILEPAGES],
				    *anonymous = &mm->rss_stat[MM_ANONPAGES],
				    *shared = &mm->rss_stat[MM_SHMEMPAGES];

	*out = (struct pages){
		{ (__u64)file->counters, (__u64)anonymous->counters, (__u64)shared->counters },
		{ file->count, anonymous->count, shared->count },
	};
	bpf_loop(cpus, add_cpu, out, 0);
}

/* Returns true if a process has exactly so many resident pages. The address space is that of the
 * leader: a process without a live leader has none here, so that it is read in full. */
static bool has_resident(const struct task_struct *task, __u64 rss_pages)
{
	__u64 mm = (__u64)task->mm;
	struct pages pages;

	if (rss_pages == RTI_BATCH_ANY_RSS)
		return true;
	if (!mm)
		return rss_pages == 0;
	count_pages(kernel_object(struct mm_struct, mm), &pages);
	order_reads();
	return (__u64)task->mm == mm &&
	       positive(pages.count[0]) + positive(pages.count[1]) + positive(pages.count[2]) ==
	           rss_pages;
}

/* The kernel only updates hiwater_rss when memory is released, so the current RSS may be higher. */
static void set_memory(const struct mm_struct *mm, struct rti_batch_row *row)
{
	struct pages pages;

	count_pages(mm, &pages);
	row->shmem_pages = positive(pages.count[2]);
	row->shared_pages = positive(pages.count[0]) + row->shmem_pages;
	row->rss_pages = row->shared_pages + positive(pages.count[1]);
	if (row->has & RTI_BATCH_PEAK) {
		row->peak_rss_pages = mm->hiwater_rss;
		if (row->peak_rss_pages < row->rss_pages)
			row->peak_rss_pages = row->rss_pages;
		row->swap_pages = positive(mm->rss_stat[MM_SWAPENTS].count);
		if (bpf_core_field_exists(mm->hugetlb_usage))
			row->hugetlb_pages = positive(mm->hugetlb_usage.counter);
	} else {
		row->shmem_pages = 0;
	}
	if (row->has & RTI_BATCH_RSS) {
		row->size_pages = mm->total_vm;
		row->stack = mm->start_stack;
	} else {
		row->rss_pages = row->shared_pages = 0;
	}
}

/* Set RSS and peak; 0 if the process has no address space. Returns 0, or -EAGAIN if the address
 * space may have been freed meanwhile. */
static int read_memory(const struct walk *walk, struct rti_batch_row *row)
{
	row->rss_pages = row->peak_rss_pages = 0;
	row->shared_pages = row->shmem_pages = row->size_pages = row->stack = 0;
	row->swap_pages = row->hugetlb_pages = 0;
	if (!walk->mm || !(row->has & (RTI_BATCH_RSS | RTI_BATCH_PEAK)))
		return 0;
	set_memory(kernel_object(struct mm_struct, walk->mm), row);
	order_reads();
	/* An exec or an exit may have freed it. */
	return (__u64)kernel_object(struct task_struct, walk->mm_user)->mm == walk->mm ? 0
	                                                                               : -EAGAIN;
}

/* Returns the state letter, as task_state_index() of include/linux/sched.h and fs/proc/array.c make
 * it. */
static __u32 state_letter(const struct task_struct *task)
{
	__u32 state = task->__state, reported = (state | (__u32)task->exit_state) & TASK_REPORT;

	if ((state & TASK_IDLE) == TASK_IDLE)
		reported = TASK_REPORT_IDLE;
	if (state & (TASK_RTLOCK_WAIT | TASK_FROZEN))
		reported = TASK_UNINTERRUPTIBLE;
	return reported & 0x80   ? 'I'
	       : reported & 0x40 ? 'P'
	       : reported & 0x20 ? 'Z'
	       : reported & 0x10 ? 'X'
	       : reported & 0x08 ? 't'
	       : reported & 0x04 ? 'T'
	       : reported & 0x02 ? 'D'
	       : reported & 0x01 ? 'S'
	                         : 'R';
}

/* Read a process once. Returns 0, -ESRCH, -E2BIG, or -EAGAIN if it changed meanwhile. */
static int try_read_task(const struct task_struct *task, __u32 want, struct rti_batch_row *row)
{
	bool has_io = bpf_core_field_exists(struct task_io_accounting, rchar) &&
	              bpf_core_field_exists(struct task_io_accounting, read_bytes);
	struct walk walk;
	int err;

	row->has = want & (has_io ? RTI_BATCH_ALL : RTI_BATCH_ALL & ~RTI_BATCH_IO);
	err = sum_threads(task, &walk, row);
	if (err < 0)
		return err;
	row->start_ns = task->start_boottime;
	row->ppid = (__u32)task->real_parent->tgid;
	row->state = state_letter(task);
	if (task->flags & PF_FORKNOEXEC)
		row->has |= RTI_BATCH_FORKED;
	__builtin_memset(row->comm, 0, sizeof(row->comm));
	row->uid = row->pgrp = row->session = 0;
	if (row->has & RTI_BATCH_STATUS) {
		__builtin_memcpy(row->comm, task->comm, sizeof(row->comm));
		row->uid = task->real_cred->uid.val;
		row->pgrp = (__u32)task->signal->pids[PIDTYPE_PGID]->numbers[0].nr;
		row->session = (__u32)task->signal->pids[PIDTYPE_SID]->numbers[0].nr;
		if ((__u64)task->sighand->action[SIGCHLD - 1].sa.sa_handler == SIG_IGN)
			row->has |= RTI_BATCH_IGNORES_SIGCHLD;
	}
	if (!task->sighand) /* it has been released */
		return -ESRCH;
	return read_memory(&walk, row);
}

struct attempt {
	const struct task_struct *task;
	struct rti_batch_row *row;
	__u32 want;
	int err;
};

static long attempt_read(__u32 i, struct attempt *attempt)
{
	attempt->err = try_read_task(attempt->task, attempt->want, attempt->row);
	return attempt->err != -EAGAIN;
}

/* How many processes are looked up before any of them is read. Taking and dropping a task reference
 * is atomic and stalls until earlier loads finish. Look up the whole group first, so that the cache
 * misses of its reads overlap. */
#define GROUP_SIZE 16

struct group {
	__u32 first;
	__u64 tasks[GROUP_SIZE];
};

/* Look up the i-th process of the group. */
static long find_task(__u32 i, struct group *group)
{
	struct task_struct *task;
	__u32 at = group->first + i;

	if (i >= GROUP_SIZE || at >= RTI_BATCH_PIDS)
		return 1;
	group->tasks[i] = 0;
	task = bpf_task_from_pid(requests[at].pid);
	if (!task)
		return 0;
	group->tasks[i] = (__u64)task;
	bpf_task_release(task);
	return 0;
}

/* Finish a process that has used exactly the CPU time that its request names, and has the pages. */
static long skip_idle(__u32 i, struct group *group)
{
	const struct task_struct *task;
	__u32 at = group->first + i;

	if (i >= GROUP_SIZE || at >= RTI_BATCH_PIDS)
		return 1;
	rows[at].error = -ESRCH;
	if (!group->tasks[i] || !requests[at].idle_ns)
		return 0;
	task = kernel_object(struct task_struct, group->tasks[i]);
	if (!has_used(task, requests[at].idle_ns) ||
	    !has_resident(task, requests[at].idle_rss_pages))
		return 0;
	group->tasks[i] = 0;
	rows[at].error = 0;
	rows[at].has = RTI_BATCH_IDLE;
	rows[at].start_ns = task->start_boottime;
	rows[at].cpu_ns = requests[at].idle_ns;
	return 0;
}

/* Read one word of each cache line that the request needs. Returns their sum, so that the compiler
 * keeps the reads. */
static __u64 touch_cache_lines(const struct task_struct *task, __u32 want)
{
	const struct signal_struct *signal = task->signal;
	__u64 sum = task->__state + (__u64)task->exit_state + task->utime + task->nvcsw +
	            signal->utime + signal->cutime + signal->min_flt;

	if (want & RTI_BATCH_IO)
		sum += task->ioac.rchar + task->ioac.cancelled_write_bytes + signal->ioac.rchar;
	if (want & (RTI_BATCH_RSS | RTI_BATCH_PEAK) && task->mm)
		sum += (__u64)task->mm->rss_stat[MM_FILEPAGES].count +
		       (__u64)task->mm->rss_stat[MM_SHMEMPAGES].count;
	return sum;
}

/* Fetch the cache lines of one process. This is done for the whole group before any is needed. */
static long prefetch_task(__u32 i, struct group *group)
{
	__u32 at = group->first + i;

	if (i >= GROUP_SIZE || at >= RTI_BATCH_PIDS)
		return 1;
	if (group->tasks[i])
		prefetch_sink += touch_cache_lines(
		    kernel_object(struct task_struct, group->tasks[i]), requests[at].want);
	return 0;
}

static long read_found_task(__u32 i, struct group *group)
{
	struct attempt attempt = { .err = -EOPNOTSUPP };
	__u32 at = group->first + i;

	if (i >= GROUP_SIZE || at >= RTI_BATCH_PIDS)
		return 1;
	if (!group->tasks[i])
		return 0;
	attempt.task = kernel_object(struct task_struct, group->tasks[i]);
	attempt.row = &rows[at];
	attempt.want = requests[at].want;
	if (!(attempt.task->flags & PF_KTHREAD))
		bpf_loop(ATTEMPTS_MAX, attempt_read, &attempt, 0);
	rows[at].error = attempt.err;
	return 0;
}

/* Tasks that were found are not freed before the RCU lock is released. */
static long read_group(__u32 i, void *unused)
{
	struct group group = { .first = i * GROUP_SIZE };
	__u32 left = count - group.first, size = left < GROUP_SIZE ? left : GROUP_SIZE;

	bpf_rcu_read_lock();
	bpf_loop(size, find_task, &group, 0);
	bpf_loop(size, skip_idle, &group, 0);
	bpf_loop(size, prefetch_task, &group, 0);
	bpf_loop(size, read_found_task, &group, 0);
	bpf_rcu_read_unlock();
	return 0;
}

SEC("syscall")
int read_batch(void *ctx)
{
	bpf_loop((count + GROUP_SIZE - 1) / GROUP_SIZE, read_group, NULL, 0);
	return 0;
}

/* Set cpu_offset of one CPU. */
static long find_cpu(__u32 cpu, __u64 *base)
{
	__u32 first = 0;
	const void *instance = bpf_map_lookup_percpu_elem(&per_cpu, &first, cpu);

	if (!instance)
		return 1;
	if (cpu < RTI_BATCH_CPUS)
		cpu_offset[cpu] = (__u64)instance - *base;
	cpus++;
	return 0;
}

/* Prepare the batch reads of a caller. Returns 0, or -EOPNOTSUPP if pids or start times differ
 * between the caller's namespaces and the kernel's. */
SEC("syscall")
int set_up(void *ctx)
{
	const struct task_struct *caller = bpf_get_current_task_btf();
	const struct timespec64 *boottime = &caller->nsproxy->time_ns->offsets.boottime;
	const struct bpf_array *map = kernel_object(struct bpf_array, &per_cpu);
	__u64 base;

	if (caller->thread_pid->level)
		return -EOPNOTSUPP;
	if (bpf_core_field_exists(caller->nsproxy->time_ns) &&
	    (boottime->tv_sec || boottime->tv_nsec))
		return -EOPNOTSUPP;
	base = (__u64)kernel_object(struct list_head,
	                            (__u64)map + bpf_core_field_offset(struct bpf_array, pptrs))
	           ->next;
	cpus = 0;
	bpf_loop(RTI_BATCH_CPUS + 1, find_cpu, &base, 0);
	return 0;
}
