/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The BPF programs that watch a process tree: which of its processes have run.
 *
 * A thread is marked when it is forked, or by a search. Whenever a marked thread leaves its CPU,
 * the bit of its process is set. So a sample has to look at the processes with a bit, and at those
 * that run at the moment, which list_on_cpu finds. on_switch runs at every switch of the system:
 * it must pass at once. */
#define RTI_ACCOUNT /* task_mark.h: with a row, which is the pid here */
#include "bpf/kernel.h"

#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "watch.h"

const volatile struct rti_watch_settings settings;
struct rti_watch_shared shared;

#include "bpf/own_pid.h"

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-function" /* threads are not counted here */
#include "bpf/task_mark.h"
#pragma clang diagnostic pop

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 512); /* the plug-in sets another number */
	__type(key, __u32);
	__type(value, struct rti_watch_group);
} groups SEC(".maps");

/* The groups with a changed pid, a bit for each. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 8); /* the plug-in sets another number */
	__type(key, __u32);
	__type(value, __u64);
} summary SEC(".maps");

/* In a cache line of its own. */
struct cpu_state {
	__u64 switches; /* so far */
	/* Addresses of the thread that the last sched_switch put on this CPU, and of its run queue;
	 * 0: not known yet. */
	__u64 last_next, rq;
	__u64 unused[5];
};

/* Not mapped: list_on_cpu reads what is at these addresses. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* the plug-in sets another number */
	__type(key, __u32);
	__type(value, struct cpu_state);
} cpus SEC(".maps");

char LICENSE[] SEC("license") = "Dual MIT/GPL";

static struct rti_watch_group *find_group(__u32 pid)
{
	__u32 key = pid / RTI_WATCH_GROUP;

	return bpf_map_lookup_elem(&groups, &key);
}

static __u64 bit_of(__u32 number)
{
	return 1ull << (number % RTI_WATCH_GROUP);
}

/* The reader clears the bits of a group after that in the summary. So a bit that is set was not
 * seen yet. */
static void note_change(__u32 pid)
{
	struct rti_watch_group *group = find_group(pid);
	__u32 number = pid / RTI_WATCH_GROUP, key = number / RTI_WATCH_GROUP;
	__u64 *word;

	if (!group || *(volatile __u64 *)&group->changed & bit_of(pid))
		return;
	__sync_fetch_and_or(&group->changed, bit_of(pid));
	word = bpf_map_lookup_elem(&summary, &key);
	if (word)
		__sync_fetch_and_or(word, bit_of(number));
}

static void mark_thread(struct task_struct *task, __u32 pid)
{
	struct rti_watch_group *group = find_group(pid);
	struct task_mark *mark;

	if (!pid) /* the reader cannot see it */
		return;
	mark = group ? make_mark(task) : NULL;
	if (!mark || !group) {
		__sync_fetch_and_add(&shared.unmarked, 1);
		return;
	}
	mark->row = pid;
	__sync_fetch_and_or(&group->marked, bit_of(pid));
}

/* Whether the process of a parent has a mark. */
static bool is_marked(const struct task_struct *parent)
{
	__u32 pid = (__u32)own_pid(parent);
	const struct rti_watch_group *group = pid ? find_group(pid) : NULL;

	return group && group->marked & bit_of(pid);
}

/* The child does not run yet. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	const struct task_mark *mark = find_mark(parent);
	const struct task_struct *its_parent;
	struct rti_watch_group *group;
	__u32 pid;

	if (!mark)
		return 0;
	if (parent->tgid == child->tgid) {
		mark_thread(child, mark->row);
		return 0;
	}
	/* A child with the parent of its parent (CLONE_PARENT) belongs to the tree if the latter
	 * does. A helper reads it: to read a pointer from a task that the verifier trusts, it looks
	 * through all types of the kernel by their names. bpf_rdonly_cast() needs Linux 6.2. */
	its_parent = BPF_CORE_READ(child, real_parent);
	if (BPF_CORE_READ(its_parent, tgid) != parent->tgid && !is_marked(its_parent))
		return 0;
	pid = (__u32)own_pid(child);
	mark_thread(child, pid);
	group = find_group(pid);
	if (pid && group) {
		__sync_fetch_and_or(&group->forked, bit_of(pid));
		note_change(pid);
	}
	return 0;
}

/* Threads that the kernel makes for a process, e.g. for io_uring, pass no on_fork. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_new_thread, struct task_struct *task)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	const struct task_mark *mark;

	if (!(task->flags & (PF_IO_WORKER | PF_USER_WORKER)) || task->tgid != parent->tgid)
		return 0;
	mark = find_mark(parent);
	if (mark)
		mark_thread(task, mark->row);
	return 0;
}

/* It may be waited for before it leaves its CPU. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	const struct task_mark *mark = find_mark(task);
	struct rti_watch_group *group;

	if (!mark)
		return 0;
	group = find_group(mark->row);
	/* If the fork of a process was not taken yet, the process must not be found by it any more:
	 * once it was waited for, another process outside of the tree may have its pid. While it is
	 * a zombie, its parent shows that it belongs to the tree. The parent of an orphan may not
	 * belong to it. */
	if (group && BPF_CORE_READ(task, signal, live.counter) == 0 &&
	    is_marked(BPF_CORE_READ(task, real_parent)))
		__sync_fetch_and_and(&group->forked, ~bit_of(mark->row));
	note_change(mark->row);
	return 0;
}

/* A task leads to the run queue of its CPU, where the kernel has CONFIG_FAIR_GROUP_SCHED. A run
 * queue never moves. */
static void note_run_queue(const struct task_struct *task)
{
	const struct rq *rq;
	struct cpu_state *cpu;
	__u32 key;

	if (!bpf_core_field_exists(struct cfs_rq, rq) || !bpf_core_field_exists(struct rq, cpu))
		return;
	rq = BPF_CORE_READ(task, se.cfs_rq, rq);
	key = (__u32)BPF_CORE_READ(rq, cpu);
	cpu = bpf_map_lookup_elem(&cpus, &key);
	if (cpu && !cpu->rq)
		cpu->rq = (__u64)rq;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool is_preempted, struct task_struct *prev, struct task_struct *next)
{
	const struct task_mark *mark = prev->flags & PF_KTHREAD ? NULL : find_mark(prev);
	__u32 key = bpf_get_smp_processor_id();
	struct cpu_state *cpu = bpf_map_lookup_elem(&cpus, &key);

	if (mark)
		note_change(mark->row);
	/* Not at on_exit: what leaves its CPU after that would not be noted. */
	if (mark && prev->__state == TASK_DEAD)
		drop_mark(prev);
	if (!cpu)
		return 0;
	cpu->switches++;
	/* After note_change(): list_on_cpu finds prev here, or it has its bit. A processor that
	 * reorders the two may hide it from one sample. */
	*(volatile __u64 *)&cpu->last_next = (__u64)next;
	if (!cpu->rq)
		note_run_queue(next);
	return 0;
}

/* The kernel takes pages from processes that do not run. */
SEC("tp_btf/mm_vmscan_lru_shrink_inactive")
int BPF_PROG(on_reclaim)
{
	*(volatile __u64 *)&shared.reclaims = shared.reclaims + 1;
	return 0;
}

/* Whether the reader has named the process of a task, or its leader or parent has a mark. The
 * process must be as old as the reader knows it to be: another one may have its pid by now. */
static bool is_wanted(struct task_struct *task, __u32 pid)
{
	struct task_struct *leader = task->group_leader, *parent = task->real_parent;
	const struct rti_watch_group *group = find_group(pid);

	return (group && group->wanted & bit_of(pid) && task->start_boottime < shared.before_ns) ||
	       (leader && find_mark(leader)) || (parent && find_mark(parent));
}

/* The number of the CPU, which kernel.h leaves out. */
struct thread_info___cpu {
	__u32 cpu;
} __attribute__((preserve_access_index));

/* A thread that had its CPU before the watch began has passed no switch to it. What on_switch has
 * seen there since is newer. */
static void note_on_cpu(const struct task_struct *task)
{
	const struct thread_info___cpu *info = (const void *)&task->thread_info;
	struct cpu_state *cpu;
	__u32 key = 0;

	if (!task->on_cpu || !bpf_core_field_exists(info->cpu))
		return;
	bpf_core_read(&key, sizeof(key), &info->cpu);
	cpu = bpf_map_lookup_elem(&cpus, &key);
	if (cpu)
		__sync_val_compare_and_swap(&cpu->last_next, 0, (__u64)task);
}

/* Marks the threads of the tree that were there before. What they fork meanwhile is marked by
 * on_fork. */
SEC("iter/task")
int search(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct rti_watch_group *group;
	const struct task_mark *mark;
	__u32 pid;

	if (!task)
		return 0;
	note_run_queue(task); /* all CPUs have kernel threads, but a pid namespace hides those */
	if (task->flags & (PF_EXITING | PF_KTHREAD))
		return 0;
	mark = find_mark(task);
	if (mark) {
		group = find_group(mark->row);
		if (group)
			__sync_fetch_and_or(&group->marked, bit_of(mark->row));
		return 0;
	}
	pid = (__u32)own_pid(task);
	if (!pid || !is_wanted(task, pid))
		return 0;
	__sync_fetch_and_add(&shared.found, 1);
	/* on_fork marks it at this moment, or its parent had no mark: look again. */
	if (task->__state == TASK_NEW)
		return 0;
	mark_thread(task, pid);
	note_change(pid);
	note_on_cpu(task);
	if (task->flags & PF_EXITING)
		drop_mark(task);
	return 0;
}

/* The thread may have been freed meanwhile. Then this is the pid of any process, or none: a member
 * may be looked at in vain. */
static void list_task(const struct task_struct *task)
{
	__u32 pid = task ? (__u32)own_pid(task) : 0;
	__u64 at = shared.running_count;

	if (!pid || at >= RTI_WATCH_RUNNING_MAX)
		return;
	shared.running[at] = pid;
	shared.running_count = at + 1;
}

/* A CPU runs what the last sched_switch put there, and its run queue says so too. Mostly. Some
 * kernels call no hook when a thread of certain processes leaves its CPU: then the run queue alone
 * has what runs (seen on Linux 6.18 in a virtual machine, of the threads of pid 1). And a thread
 * that is just leaving is not in the run queue any more, and may not have been noted yet. */
static long list_cpu(__u32 number, void *unused)
{
	const struct cpu_state *cpu = bpf_map_lookup_elem(&cpus, &number);
	const struct task_struct *last_next, *rq_curr = NULL;
	const struct rq *rq;

	if (!cpu)
		return 1;
	last_next = (const void *)*(const volatile __u64 *)&cpu->last_next;
	rq = (const void *)cpu->rq;
	if (rq)
		rq_curr = BPF_CORE_READ(rq, curr);
	list_task(last_next);
	if (rq_curr != last_next)
		list_task(rq_curr);
	shared.switches += cpu->switches;
	return 0;
}

SEC("syscall")
int list_on_cpu(void *ctx)
{
	shared.switches = shared.running_count = 0;
	bpf_loop(settings.cpus, list_cpu, NULL, 0);
	return 0;
}

SEC("syscall")
int set_up(void *ctx)
{
	note_own_namespace(bpf_get_current_task_btf());
	shared.began_ns = bpf_ktime_get_boot_ns();
	return 0;
}
