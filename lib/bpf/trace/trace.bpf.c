/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The BPF programs that trace calls of getrusage(2), wait4(2) and waitid(2).
 *
 * They run at the entry and the return of every system call, so all but the traced calls must pass
 * at once. Built twice: with RTI_TRACE_RAW for raw tracepoints. */
#include "bpf/kernel.h"

#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "trace.h"
#include "trace_call.h"

const volatile struct rti_trace_settings settings;
struct rti_trace_shared shared;

#include "bpf/own_pid.h"
#include "bpf/task_mark.h"

#ifdef RTI_TRACE_RAW
#define HOOK(name) SEC("raw_tp/" name)
#else
#define HOOK(name) SEC("tp_btf/" name)
#endif

#define WNOHANG 1u
#define RUSAGE_CHILDREN (-1)

#define ANCESTORS_MAX 4096

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536); /* the plug-in sets another size */
} ring SEC(".maps");

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#include "trace_path.h"

static void announce_end(void)
{
	__u64 record = RTI_RING_END;

	bpf_ringbuf_output(&ring, &record, sizeof(record), BPF_RB_FORCE_WAKEUP);
}

/* A walk from a thread group leader to its ancestors. */
struct ancestry {
	struct task_struct *at;
	int tgid; /* of the first */
	bool is_in_tree;
};

/* Returns 0 to go on. */
static long look_at_ancestor(__u32 i, struct ancestry *walk)
{
	struct task_struct *at = walk->at;
	const struct task_mark *mark;

	/* A process alone: its ancestors do not matter. */
	if (!at || (!settings.has_children && READ(at, tgid) != walk->tgid))
		return 1;
	mark = find_mark(at);
	if ((mark && mark->flags & MARK_MEMBER) ||
	    (settings.target == RTI_TARGET_PID && own_pid(at) == settings.target_pid)) {
		walk->is_in_tree = true;
		return 1;
	}
	if (READ(at, tgid) <= 1)
		return 1;
	walk->at = READ(at, real_parent);
	return 0;
}

/* Whether an ancestor, or the thread group leader, is marked or the target. */
static bool is_in_tree(struct task_struct *task)
{
	struct ancestry walk = { .at = READ(task, group_leader), .tgid = READ(task, tgid) };

	bpf_loop(ANCESTORS_MAX, look_at_ancestor, &walk, 0);
	return walk.is_in_tree;
}

#ifndef RTI_TRACE_RAW
/* It may begin to exit meanwhile. on_exit may have run before it was marked, and then nothing else
 * would count it out. */
static void mark_found(struct task_struct *task)
{
	struct task_mark *mark = make_mark(task);

	if (!mark) {
		__sync_fetch_and_add(&shared.unmarked, 1);
		return;
	}
	if (mark->flags & MARK_MEMBER)
		return;
	begin_thread(mark, 0, &shared.threads);
	__sync_fetch_and_add(&shared.found, 1);
	send_path((__u64)BPF_CORE_READ(task, mm, exe_file));
	if (task->flags & PF_EXITING) {
		end_thread(mark, &shared.threads);
		drop_mark(task);
	}
}

/* Marks the threads of the tree that were there before the trace. What they fork meanwhile is
 * marked by on_fork: two programs might make two marks for one thread. */
SEC("iter/task")
int seed(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	const struct task_mark *mark;

	/* A thread that has begun to exit makes no more calls. */
	if (!task || task->flags & PF_EXITING)
		return 0;
	mark = find_mark(task);
	if ((mark && mark->flags & MARK_MEMBER) || !is_in_tree(task))
		return 0;
	/* A child that does not run yet: on_fork marks it at this moment, or has not because the
	 * search had not begun. So look again. */
	if (task->__state == TASK_NEW)
		__sync_fetch_and_add(&shared.found, 1);
	else
		mark_found(task);
	return 0;
}
#endif

/* After an exec. A program that is its own helper has the name as argv[0] alone: comm is then the
 * number of a descriptor. */
static bool has_name_of_supervisor(const struct task_struct *task)
{
	union name {
		char text[16];
		__u64 words[2];
	} seen = { 0 }, name = { "rtrack-supervis" }; /* as the kernel cuts it */
	const struct mm_struct *mm = READ(task, mm);

	bpf_core_read(&seen, sizeof(seen), &task->comm);
	if (seen.words[0] == name.words[0] && seen.words[1] == name.words[1])
		return true;
	bpf_probe_read_user(&seen, sizeof(seen.text) - 1, (void *)READ(mm, arg_start));
	seen.text[15] = '\0';
	return seen.words[0] == name.words[0] && seen.words[1] == name.words[1];
}

/* Returns the flags of the mark for a child; 0: none. */
static __u32 inherited_flags(struct task_struct *parent, struct task_struct *child)
{
	const struct task_mark *mark = find_mark(parent);
	bool is_thread = READ(parent, tgid) == READ(child, tgid);

	if (mark && mark->flags & MARK_MEMBER) {
		if (!is_thread && !settings.has_children && !(mark->flags & MARK_QUIET))
			return 0;
		return MARK_MEMBER | (mark->flags & MARK_QUIET);
	}
	if (shared.armed && (__u64)parent == shared.armed && !is_thread)
		return MARK_MEMBER | MARK_FIRST;
	if ((shared.is_seeding || shared.unmarked) && (is_thread || settings.has_children) &&
	    is_in_tree(parent))
		return MARK_MEMBER;
	return 0;
}

/* The child does not run yet. */
HOOK("sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 flags = inherited_flags(parent, child);
	struct task_mark *mark;

	if (!flags)
		return 0;
	mark = make_mark(child);
	if (mark) {
		begin_thread(mark, flags, &shared.threads);
		return 0;
	}
	__sync_fetch_and_add(&shared.unmarked, 1);
#ifdef RTI_TRACE_RAW
	/* With storage, a search marks it later and counts it then. Here it never has a mark: so it
	 * is counted in now, and out by on_exit. */
	__sync_fetch_and_add(&shared.threads, 1);
#endif
	return 0;
}

HOOK("sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct task_mark *mark = find_mark(task);

	if (!mark) {
#ifdef RTI_TRACE_RAW
		if (settings.target != RTI_TARGET_ALL && shared.unmarked && is_in_tree(task) &&
		    __sync_fetch_and_add(&shared.threads, -1) == 1)
			announce_end();
#endif
		return 0;
	}
	if (end_thread(mark, &shared.threads))
		announce_end();
	drop_mark(task);
	return 0;
}

/* The supervisor is hidden as soon as it is one. What it forks is quiet until it executes a
 * program. E.g.: it also forks a process that removes a cgroup, later. It is counted all the same:
 * the supervisor, and the library, may go on before the program has come here (kernel/exec.c,
 * exec_mmap()). */
HOOK("sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *program)
{
	struct task_mark *mark = find_mark(task);

	if (settings.target != RTI_TARGET_ALL && (!mark || !(mark->flags & MARK_MEMBER)))
		return 0;
	if (mark && shared.armed && mark->flags & MARK_FIRST && has_name_of_supervisor(task)) {
		__sync_fetch_and_or(&mark->flags, MARK_QUIET | MARK_SUPERVISOR);
		__sync_fetch_and_add(&shared.threads, -1);
	} else if (mark && mark->flags & MARK_QUIET) {
		__sync_fetch_and_and(&mark->flags, ~MARK_QUIET);
	}
	send_path((__u64)BPF_CORE_READ(program, file));
	return 0;
}

/* Returns false if the calls of a thread are not traced. *mark is NULL if it could not get one. */
static bool get_mark(struct task_struct *task, struct task_mark **mark)
{
	if (settings.target == RTI_TARGET_ALL) {
		*mark = make_stored_mark(task);
		return true;
	}
	*mark = find_mark(task);
	if (shared.unmarked && (!*mark || !((*mark)->flags & MARK_MEMBER)) && is_in_tree(task)) {
#ifndef RTI_TRACE_RAW
		mark_found(task);
		*mark = find_mark(task);
#endif
		if (!*mark)
			return true;
	}
	return *mark && ((*mark)->flags & (MARK_MEMBER | MARK_QUIET)) == MARK_MEMBER;
}

HOOK("sys_enter")
int BPF_PROG(on_entry, struct pt_regs *regs, long number)
{
	struct task_struct *task;
	struct task_mark *mark;

	if (!may_be_traced((__u32)number))
		return 0;
	task = bpf_get_current_task_btf();
	if (!(kind_of_call((__u32)number, is_32bit(task)) & settings.calls))
		return 0;
	if (!get_mark(task, &mark))
		return 0;
	if (mark) {
		mark->entry_ns = bpf_ktime_get_ns();
		mark->has_called = 1;
	} else if (settings.target == RTI_TARGET_ALL) {
		__sync_fetch_and_add(&shared.unmarked, 1);
	}
	return 0;
}

/* Whether a call has written figures. waitid(2) with WNOHANG returns 0 without a child, too: then
 * only its siginfo_t differs. Sets RTI_TRACE_UNREAD if that cannot be known. */
static bool has_figures(const struct call *call, long result, __u32 *flags)
{
	__s32 signal = 0;

	if (!call->usage || result < 0)
		return false;
	if (call->kind == RTI_TRACE_WAIT4)
		return result > 0;
	if (call->kind != RTI_TRACE_WAITID || !(call->wait_options & WNOHANG))
		return true;
	if (!call->status || bpf_probe_read_user(&signal, sizeof(signal), (void *)call->status) < 0)
		*flags |= RTI_TRACE_UNREAD;
	return signal == SIGCHLD;
}

static void write_figures(struct rti_trace_record *record, const struct call *call)
{
	__u64 whole[RTI_TRACE_USAGE_WORDS];
	long err;

	record->usage_bytes = 0;
	if (!has_figures(call, record->result, &record->flags))
		return;
	if (call->flags & RTI_TRACE_32BIT) {
		err = bpf_probe_read_user(record->usage, RTI_TRACE_USAGE_BYTES_32,
		                          (void *)call->usage);
		record->usage_bytes = RTI_TRACE_USAGE_BYTES_32;
	} else {
		err = bpf_probe_read_user(whole, sizeof(whole), (void *)call->usage);
		if (err == 0)
			rti_trace_pack_usage(record->usage, whole);
		record->usage_bytes = RTI_TRACE_USAGE_BYTES;
	}
	if (err < 0) {
		record->usage_bytes = 0;
		record->flags |= RTI_TRACE_UNREAD;
	}
}

/* The number of a process or thread in its own pid namespace, and the inode number of that. */
static __s32 inner_number(const struct pid *pid, __u32 *inode)
{
	const struct upid *entry;
	struct pid_namespace *namespace;
	__s32 nr = 0;

	*inode = 0;
	if (!pid)
		return 0;
	if (!pid->level) {
		*inode = pid->numbers[0].ns->ns.inum;
		return pid->numbers[0].nr;
	}
	entry = entry_of(pid, pid->level);
	bpf_core_read(&nr, sizeof(nr), &entry->nr);
	bpf_core_read(&namespace, sizeof(namespace), &entry->ns);
	*inode = BPF_CORE_READ(namespace, ns.inum);
	return nr;
}

static void write_inner_pids(struct rti_trace_record *record, struct task_struct *task)
{
	__u32 own, parent;

	record->ns_tid = inner_number(task->thread_pid, &own);
	record->ns_ppid = inner_number(task->real_parent->signal->pids[PIDTYPE_TGID], &parent);
	if (parent != own)
		record->ns_ppid = 0;
	record->ns_pid = inner_number(task->signal->pids[PIDTYPE_TGID], &own);
	record->pid_namespace = own;
}

static void write_pids(struct rti_trace_record *record, struct task_struct *task)
{
	const struct task_struct *parent = task->real_parent;

	record->host_pid = task->tgid;
	record->host_tid = task->pid;
	record->host_ppid = parent->tgid;
	if (own_level) {
		record->pid = own_number(task->signal->pids[PIDTYPE_TGID]);
		record->tid = own_number(task->thread_pid);
		record->ppid = own_number(parent->signal->pids[PIDTYPE_TGID]);
	} else {
		record->pid = record->host_pid;
		record->tid = record->host_tid;
		record->ppid = record->host_ppid;
	}
}

static void write_process(struct rti_trace_record *record, struct task_struct *task)
{
	const struct mm_struct *mm = task->mm;
	const struct file *exe = mm ? mm->exe_file : NULL;
	const struct inode *inode = exe ? exe->f_inode : NULL;

	record->exe_inode = inode ? inode->i_ino : 0;
	record->exe_device = inode ? inode->i_sb->s_dev | (__u64)inode->i_generation << 32 : 0;
	record->thread_start_ns = task->start_boottime;
	record->process_start_ns = task->group_leader->start_boottime;
	record->parent_start_ns = task->real_parent->group_leader->start_boottime;
	record->cgroup_id = bpf_get_current_cgroup_id();
	record->mount_namespace = task->nsproxy->mnt_ns->ns.inum;
	record->uid = (__u32)bpf_get_current_uid_gid();
	record->cpu = bpf_get_smp_processor_id();
	bpf_get_current_comm(record->comm, sizeof(record->comm));
	bpf_core_read(record->host_name, sizeof(record->host_name),
	              &task->nsproxy->uts_ns->name.nodename);
	record->host_name[sizeof(record->host_name) - 1] = '\0';
}

static void write_call(struct rti_trace_record *record, const struct call *call, long returned,
                       __u64 entry_ns)
{
	record->call = call->kind;
	record->flags = call->flags | (entry_ns ? 0 : RTI_TRACE_NO_ENTRY);
	record->lost = shared.lost;
	record->entry_ns = entry_ns;
	record->return_ns = bpf_ktime_get_ns();
	record->result = returned;
	record->usage_address = call->usage;
	record->status_address = call->status;
	record->who = call->who;
	record->wait_id = call->wait_id;
	record->wait_options = call->wait_options;
}

static void send_record(struct task_struct *task, const struct call *call, long returned,
                        __u64 entry_ns)
{
	struct rti_trace_record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	__u32 wake;
	bool is_urgent = settings.wakes_for_children && call->kind == RTI_TRACE_GETRUSAGE &&
	                 call->who == RUSAGE_CHILDREN && returned == 0;

	/* An event that finds no room must be counted: seen + lost = made. */
	if (!record) {
		__sync_fetch_and_add(&shared.lost, 1);
		return;
	}
	write_call(record, call, returned, entry_ns);
	write_figures(record, call);
	write_pids(record, task);
	write_inner_pids(record, task);
	write_process(record, task);
	/* A wake-up costs more than an event, so most events do not wake the reader. */
	wake = *(volatile __u32 *)&shared.wake;
	if (!is_urgent && wake != RTI_WAKE_AT_ONCE &&
	    (wake == RTI_WAKE_DONE ||
	     bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < settings.quarter_bytes)) {
		bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
		return;
	}
	shared.wake = RTI_WAKE_DONE;
	bpf_ringbuf_submit(record, BPF_RB_FORCE_WAKEUP);
}

/* A return without an entry: a thread may have been waiting when the trace began. Otherwise a
 * seccomp filter has refused the call before it was made, and what it seems to return is made up.
 * getrusage(2) does not wait. */
static bool was_waiting(const struct task_struct *task, struct task_mark *mark, __u32 kind)
{
	if (kind == RTI_TRACE_GETRUSAGE || task->start_boottime >= shared.began_ns ||
	    mark->has_called)
		return false;
	mark->has_called = 1;
	return true;
}

HOOK("sys_exit")
int BPF_PROG(on_return, struct pt_regs *regs, long returned)
{
	__u32 number = SYSCALL_NUMBER(regs);
	struct call call = { 0 };
	struct task_struct *task;
	struct task_mark *mark;
	__u64 entry_ns = 0;
	bool is_32;

	if (!may_be_traced(number))
		return 0;
	task = bpf_get_current_task_btf();
	is_32 = is_32bit(task);
	call.kind = kind_of_call(number, is_32) & settings.calls;
	if (!call.kind)
		return 0;
	if (!get_mark(task, &mark))
		return 0;
	if (mark) {
		entry_ns = mark->entry_ns;
		mark->entry_ns = 0;
	}
	/* There may have been no memory for the time of the entry. */
	if (!entry_ns && mark && !(settings.target == RTI_TARGET_ALL && shared.unmarked) &&
	    !was_waiting(task, mark, call.kind))
		return 0;
	call.flags = is_32 ? RTI_TRACE_32BIT : 0;
	read_arguments(&call, regs, is_32);
	send_record(task, &call, returned, entry_ns);
	return 0;
}

/* Set how the kernel's numbers and paths translate for the caller, which will read the ring. */
SEC("syscall")
int set_up(void *ctx)
{
	struct task_struct *caller = bpf_get_current_task_btf();
	const struct uid_gid_map *map = &caller->cred->user_ns->uid_map;
	const struct uid_gid_extent *extents = map->extent;
	__u32 count = BPF_CORE_READ(map, nr_extents);

	note_own_namespace(caller);
	note_own_root(caller);
	if (count > UID_GID_MAP_MAX_BASE_EXTENTS)
		extents = BPF_CORE_READ(map, forward);
	if (count > RTI_UID_EXTENTS_MAX)
		return -EOPNOTSUPP;
	bpf_probe_read_kernel(shared.uid_extent, count * sizeof(*extents), extents);
	shared.uid_extents = count;
	shared.began_ns = bpf_ktime_get_boot_ns();
	shared.began_monotonic_ns = bpf_ktime_get_ns();
	return 0;
}

/* From now on mark what the calling thread forks. */
SEC("syscall")
int arm(void *ctx)
{
	shared.armed = (__u64)bpf_get_current_task_btf();
	return 0;
}
