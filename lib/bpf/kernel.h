/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's structures, as far as the BPF programs read them.
 *
 * The offsets of members are filled in when the program is loaded. So one build fits all kernels
 * and needs the headers of none. */
#ifndef RTI_BPF_KERNEL_H
#define RTI_BPF_KERNEL_H

/* Types that the headers of libbpf expect. */
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

#define BPF_MAP_TYPE_HASH 1
#define BPF_MAP_TYPE_ARRAY 2
#define BPF_MAP_TYPE_PERCPU_ARRAY 6
#define BPF_MAP_TYPE_LRU_HASH 9
#define BPF_MAP_TYPE_RINGBUF 27
#define BPF_MAP_TYPE_TASK_STORAGE 29
#define BPF_F_NO_PREALLOC 1u
#define BPF_F_MMAPABLE 0x400u

/* Flags of helpers. */
#define BPF_NOEXIST 1u
#define BPF_LOCAL_STORAGE_GET_F_CREATE 1u
#define BPF_RB_NO_WAKEUP 1u
#define BPF_RB_FORCE_WAKEUP 2u
#define BPF_RB_AVAIL_DATA 0u

/* include/linux/sched.h */
#define PF_EXITING 0x4u
#define PF_IO_WORKER 0x10u
#define PF_FORKNOEXEC 0x40u
#define PF_USER_WORKER 0x4000u /* since Linux 6.4 */
#define PF_KTHREAD 0x200000u
#define TASK_DEAD 0x80u
#define TASK_NEW 0x800u

#define SIGCHLD 17

/* asm-generic/errno-base.h, include/linux/errno.h */
#define ESRCH 3
#define E2BIG 7
#define EAGAIN 11
#define EOPNOTSUPP 95

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next;
};

struct file;

struct percpu_counter {
	__s64 count;
	__s32 *counters;
};

/* Any kernel structure that begins with 32 bits: the counter of one CPU is read through it. */
struct seqcount {
	unsigned int sequence;
};

struct seqcount_spinlock {
	struct seqcount seqcount;
};

typedef struct {
	struct seqcount_spinlock seqcount;
} seqlock_t;

static inline __u64 positive(__s64 count)
{
	return count > 0 ? (__u64)count : 0;
}

enum { MM_FILEPAGES, MM_ANONPAGES, MM_SWAPENTS, MM_SHMEMPAGES, NR_MM_COUNTERS };

struct mm_struct {
	struct file *exe_file;
	struct percpu_counter rss_stat[NR_MM_COUNTERS]; /* since Linux 6.2 */
	struct {
		long counter;
	} hugetlb_usage; /* pages; only with CONFIG_HUGETLB_PAGE */
	unsigned long hiwater_rss;
	unsigned long total_vm;
	unsigned long start_stack;
	unsigned long arg_start, arg_end;
};

struct task_io_accounting {
	__u64 rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
};

enum { PIDTYPE_PID, PIDTYPE_TGID, PIDTYPE_PGID, PIDTYPE_SID, PIDTYPE_COUNT };

struct pid;

typedef struct {
	int counter;
} atomic_t;

struct task_struct;

struct signal_struct {
	atomic_t live; /* threads that have not begun to exit */
	int nr_threads;
	/* The thread that executes a program, while it ends all others; since Linux 5.17. */
	struct task_struct *group_exec_task;
	int group_exit_code;
	unsigned int flags;
	struct pid *pids[PIDTYPE_COUNT];
	struct list_head thread_head;
	seqlock_t stats_lock;
	__u64 utime, stime, cutime, cstime;
	unsigned long nvcsw, nivcsw, cnvcsw, cnivcsw;
	unsigned long min_flt, maj_flt, cmin_flt, cmaj_flt;
	unsigned long maxrss; /* pages */
	struct task_io_accounting ioac;
	unsigned long long sum_sched_runtime;
};

struct sigaction {
	void *sa_handler;
};

struct k_sigaction {
	struct sigaction sa;
};

struct sighand_struct {
	struct k_sigaction action[64];
};

/* The run queue of a CPU. */
struct rq {
	struct task_struct *curr;
	int cpu;
};

struct cfs_rq {
	struct rq *rq; /* absent without CONFIG_FAIR_GROUP_SCHED */
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
	__u64 sum_exec_runtime;
};

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

struct timens_offsets {
	struct timespec64 boottime;
};

struct time_namespace {
	struct timens_offsets offsets;
};

struct ns_common {
	unsigned int inum;
};

struct mnt_namespace {
	struct ns_common ns;
};

struct pid_namespace {
	struct ns_common ns;
};

struct uid_gid_extent {
	__u32 first, lower_first, count;
};

#define UID_GID_MAP_MAX_BASE_EXTENTS 5 /* include/linux/user_namespace.h */

struct uid_gid_map {
	__u32 nr_extents;
	struct uid_gid_extent extent[UID_GID_MAP_MAX_BASE_EXTENTS];
	struct uid_gid_extent *forward;
};

struct user_namespace {
	struct uid_gid_map uid_map;
};

typedef struct {
	__u32 val;
} kuid_t;

struct cred {
	kuid_t uid;
	struct user_namespace *user_ns;
};

struct new_utsname {
	char nodename[65];
};

struct uts_namespace {
	struct new_utsname name;
};

struct nsproxy {
	struct uts_namespace *uts_ns;
	struct mnt_namespace *mnt_ns;
	struct time_namespace *time_ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct pid {
	unsigned int level;
	struct hlist_head tasks[PIDTYPE_COUNT];
	struct upid numbers[1];
};

struct super_block {
	__u32 s_dev;
};

struct inode {
	unsigned long i_ino;
	__u32 i_generation;
	struct super_block *i_sb;
};

struct qstr {
	const unsigned char *name;
};

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
};

struct dentry {
	struct seqcount_spinlock d_seq;
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	struct mnt_namespace *mnt_ns;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct fs_struct {
	struct path root, pwd;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
};

struct linux_binprm {
	struct file *file;
};

struct thread_info {
	unsigned long flags;
	__u32 status; /* x86 */
};

/* The saved registers of both machines. */
struct pt_regs {
	unsigned long di, si, dx, r10, r8, orig_ax; /* x86-64 */
	unsigned long bx, cx, bp;                   /* x86-64, in calls of the 32-bit ABI */
	__u64 regs[31], orig_x0;                    /* arm64 */
	int syscallno;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	struct sched_entity se;
	struct mm_struct *mm;
	int exit_state, exit_code;
	int on_cpu;
	int pid, tgid;
	struct task_struct *real_parent, *group_leader;
	const struct cred *real_cred, *cred;
	struct list_head thread_node;
	struct pid *thread_pid;
	struct hlist_node pid_links[PIDTYPE_COUNT];
	__u64 utime, stime;
	unsigned long nvcsw, nivcsw;
	__u64 start_boottime;
	unsigned long min_flt, maj_flt;
	char comm[16];
	struct fs_struct *fs;
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	struct task_io_accounting ioac;
	__u64 self_exec_id;
};

/* The context of a program that runs for each task. */
struct bpf_iter__task {
	void *meta;
	struct task_struct *task;
};

struct bpf_array {
	void *pptrs[0];
};

#pragma clang attribute pop

#endif
