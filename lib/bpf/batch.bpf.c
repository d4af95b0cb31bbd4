/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The program in the kernel: for each of many pids a row with what /proc/PID/{stat,statm,status,io} and its CPU clocks
 * say, read as the kernel reads it for them. Linux 6.2 is the first that can load it. */
#include "kernel.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "batch.h"

#define MOST_THREADS 65536
#define ATTEMPTS 4 /* to find a process whose threads and children do not come to an end meanwhile */

#define PF_KTHREAD 0x00200000u /* include/linux/sched.h */
#define TASK_REPORT 0x7fu
#define TASK_REPORT_IDLE 0x80u
#define TASK_UNINTERRUPTIBLE 0x2u
#define TASK_IDLE 0x402u
#define TASK_RTLOCK_WAIT 0x1000u
#define TASK_FROZEN 0x8000u
#define SIGCHLD 17
#define SIG_IGN 1

/* asm-generic/errno-base.h, asm-generic/errno.h */
#define ESRCH 3
#define E2BIG 7
#define EAGAIN 11
#define EOPNOTSUPP 95

extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym;
extern void bpf_task_release(struct task_struct *task) __ksym;
extern void bpf_rcu_read_lock(void) __ksym;
extern void bpf_rcu_read_unlock(void) __ksym;
extern void *bpf_rdonly_cast(void *object, __u32 type) __ksym;

/* An address as a pointer whose reads fault to 0 instead of at all. */
#define kernel_object(type, address) ((const type *)bpf_rdonly_cast((void *)(address), bpf_core_type_id_kernel(type)))

/* Shared with the plug-in, which maps it. */
__u32 count, want;
__u32 cpus; /* whose counters can be found; 0 is none */
__s32 pids[RTI_BATCH_PIDS];
struct rti_batch_row rows[RTI_BATCH_PIDS];
__u64 cpu_offset[RTI_BATCH_CPUS]; /* from a variable's address to the instance of each CPU */
__u64 fence;

/* Anything of which every CPU has its own: the counters of all such things lie equally far apart. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} per_cpu SEC(".maps");

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Reads before it happen before reads after it. */
static void order_reads(void)
{
	__sync_fetch_and_add(&fence, 0);
}

/* Sums over the threads that live and those that have ended. */
struct sums {
	__u64 next, head;  /* where the list of threads goes on, and where it ends */
	__u64 mm, mm_user; /* of the first thread that has one: a leader that exits before the rest has none */
	__u64 cpu_ns, user_ns, system_ns, minflt, majflt, voluntary, involuntary;
	__u64 rchar, wchar, read_bytes, write_bytes, cancelled_bytes;
};

static void add_io(struct sums *sums, const struct task_io_accounting *io)
{
	if (bpf_core_field_exists(io->rchar)) {
		sums->rchar += io->rchar;
		sums->wchar += io->wchar;
	}
	if (bpf_core_field_exists(io->read_bytes)) {
		sums->read_bytes += io->read_bytes;
		sums->write_bytes += io->write_bytes;
		sums->cancelled_bytes += io->cancelled_write_bytes;
	}
}

static long add_thread(__u32 i, struct sums *sums)
{
	const struct task_struct *thread;

	if (sums->next == sums->head)
		return 1;
	thread = kernel_object(struct task_struct, sums->next - bpf_core_field_offset(struct task_struct, thread_node));
	sums->next = (__u64)thread->thread_node.next;
	if (!sums->mm) {
		sums->mm = (__u64)thread->mm;
		sums->mm_user = (__u64)thread;
	}
	sums->cpu_ns += thread->se.sum_exec_runtime;
	sums->user_ns += thread->utime;
	sums->system_ns += thread->stime;
	sums->minflt += thread->min_flt;
	sums->majflt += thread->maj_flt;
	sums->voluntary += thread->nvcsw;
	sums->involuntary += thread->nivcsw;
	add_io(sums, &thread->ioac);
	return 0;
}

/* As the sequence lock of the kernel's own readers: 1 when nobody has moved a thread's use to the process, or a child's
 * to its parent, while it was summed; 0 then; -E2BIG. */
static int sum_threads(const struct signal_struct *signal, struct sums *sums, struct rti_batch_row *row)
{
	__u32 sequence = signal->stats_lock.seqcount.seqcount.sequence;

	order_reads();
	*sums = (struct sums){
		.next = (__u64)signal->thread_head.next,
		.head = (__u64)&signal->thread_head,
		.cpu_ns = signal->sum_sched_runtime,
		.user_ns = signal->utime,
		.system_ns = signal->stime,
		.minflt = signal->min_flt,
		.majflt = signal->maj_flt,
		.voluntary = signal->nvcsw,
		.involuntary = signal->nivcsw,
	};
	add_io(sums, &signal->ioac);
	row->reaped_user_ns = signal->cutime;
	row->reaped_system_ns = signal->cstime;
	row->cminflt = signal->cmin_flt;
	row->cmajflt = signal->cmaj_flt;
	bpf_loop(MOST_THREADS, add_thread, sums, 0);
	if (sums->next != sums->head)
		return -E2BIG;
	order_reads();
	return !(sequence & 1) && sequence == signal->stats_lock.seqcount.seqcount.sequence;
}

struct cpu_sum {
	__u64 counters;
	__s64 pages;
};

static long add_cpu(__u32 cpu, struct cpu_sum *sum)
{
	if (cpu >= RTI_BATCH_CPUS)
		return 1;
	sum->pages += (__s32)kernel_object(struct seqcount, sum->counters + cpu_offset[cpu])->sequence;
	return 0;
}

/* percpu_counter_read_positive(), and percpu_counter_sum_positive(). */
static __u64 pages(const struct percpu_counter *counter, int is_exact)
{
	struct cpu_sum sum = { (__u64)counter->counters, counter->count };

	if (is_exact)
		bpf_loop(cpus, add_cpu, &sum, 0);
	return sum.pages > 0 ? (__u64)sum.pages : 0;
}

static void read_memory(const struct mm_struct *mm, struct rti_batch_row *row)
{
	int is_exact = want & RTI_BATCH_EXACT_RSS && cpus;

	row->stat_rss_pages = pages(&mm->rss_stat[MM_FILEPAGES], 0) + pages(&mm->rss_stat[MM_ANONPAGES], 0) +
	                      pages(&mm->rss_stat[MM_SHMEMPAGES], 0);
	row->rss_pages = row->stat_rss_pages;
	if (is_exact)
		row->rss_pages = pages(&mm->rss_stat[MM_FILEPAGES], 1) + pages(&mm->rss_stat[MM_ANONPAGES], 1) +
		                 pages(&mm->rss_stat[MM_SHMEMPAGES], 1);
	row->peak_rss_pages = mm->hiwater_rss;
	if (row->peak_rss_pages < row->rss_pages)
		row->peak_rss_pages = row->rss_pages;
	row->has |= is_exact ? RTI_BATCH_MEMORY | RTI_BATCH_EXACT_RSS : RTI_BATCH_MEMORY;
}

/* task_state_index() of include/linux/sched.h, and the letters of fs/proc/array.c. */
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

static void put_identity(const struct task_struct *task, struct rti_batch_row *row)
{
	row->pid = task->pid;
	row->tgid = task->tgid;
	row->ppid = task->real_parent->tgid;
	row->flags = task->flags;
	row->threads = (__u32)task->signal->nr_threads;
	row->state = state_letter(task);
	row->start_ns = task->start_boottime;
	__builtin_memcpy(row->comm, task->comm, sizeof(row->comm));
	if ((__u64)task->sighand->action[SIGCHLD - 1].sa.sa_handler == SIG_IGN)
		row->has |= RTI_BATCH_IGNORES_SIGCHLD;
}

static void put_sums(const struct sums *sums, struct rti_batch_row *row)
{
	row->cpu_ns = sums->cpu_ns;
	row->user_part_ns = sums->user_ns;
	row->system_part_ns = sums->system_ns;
	row->minflt = sums->minflt;
	row->majflt = sums->majflt;
	row->voluntary_switches = sums->voluntary;
	row->involuntary_switches = sums->involuntary;
	row->rchar = sums->rchar;
	row->wchar = sums->wchar;
	row->read_bytes = sums->read_bytes;
	row->write_bytes = sums->write_bytes;
	row->cancelled_write_bytes = sums->cancelled_bytes;
	if (bpf_core_field_exists(struct task_io_accounting, rchar) &&
	    bpf_core_field_exists(struct task_io_accounting, read_bytes))
		row->has |= RTI_BATCH_IO;
}

static int try_task(const struct task_struct *task, struct rti_batch_row *row)
{
	struct sums sums;
	int err;

	row->has = 0;
	row->rss_pages = row->stat_rss_pages = row->peak_rss_pages = 0;
	err = sum_threads(task->signal, &sums, row);
	if (err <= 0)
		return err < 0 ? err : -EAGAIN;
	put_sums(&sums, row);
	put_identity(task, row);
	if (!task->sighand) /* it was let go of */
		return -ESRCH;
	if (!sums.mm)
		return 0;
	read_memory(kernel_object(struct mm_struct, sums.mm), row);
	order_reads();
	/* By now an exec or an exit may have freed it. */
	return (__u64)kernel_object(struct task_struct, sums.mm_user)->mm == sums.mm ? 0 : -EAGAIN;
}

struct attempt {
	const struct task_struct *task;
	struct rti_batch_row *row;
	int err;
};

static long try_again(__u32 i, struct attempt *attempt)
{
	attempt->err = try_task(attempt->task, attempt->row);
	return attempt->err != -EAGAIN;
}

static int read_task(const struct task_struct *task, struct rti_batch_row *row)
{
	struct attempt attempt = { task, row, -EOPNOTSUPP };

	if (!(task->flags & PF_KTHREAD))
		bpf_loop(ATTEMPTS, try_again, &attempt, 0);
	return attempt.err;
}

static long read_pid(__u32 i, void *unused)
{
	struct task_struct *task;

	if (i >= RTI_BATCH_PIDS)
		return 1;
	rows[i].error = -ESRCH;
	task = bpf_task_from_pid(pids[i]);
	if (!task)
		return 0;
	bpf_rcu_read_lock();
	rows[i].error = read_task(task, &rows[i]);
	bpf_rcu_read_unlock();
	bpf_task_release(task);
	return 0;
}

SEC("syscall")
int read_batch(void *ctx)
{
	bpf_loop(count, read_pid, NULL, 0);
	return 0;
}

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

/* 0; or -EOPNOTSUPP where the caller knows processes by other pids, or start times, than the kernel does. */
SEC("syscall")
int set_up(void *ctx)
{
	const struct task_struct *caller = bpf_get_current_task_btf();
	const struct timespec64 *boottime = &caller->nsproxy->time_ns->offsets.boottime;
	const struct bpf_array *map = kernel_object(struct bpf_array, &per_cpu);
	__u64 base;

	if (caller->thread_pid->level)
		return -EOPNOTSUPP;
	if (bpf_core_field_exists(caller->nsproxy->time_ns) && (boottime->tv_sec || boottime->tv_nsec))
		return -EOPNOTSUPP;
	base =
	    (__u64)kernel_object(struct list_head, (__u64)map + bpf_core_field_offset(struct bpf_array, pptrs))->next;
	cpus = 0;
	bpf_loop(RTI_BATCH_CPUS + 1, find_cpu, &base, 0);
	return 0;
}
