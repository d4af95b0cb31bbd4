/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's structures, as far as the BPF program reads them.
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

#define BPF_MAP_TYPE_PERCPU_ARRAY 6

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next;
};

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

enum { MM_FILEPAGES, MM_ANONPAGES, MM_SWAPENTS, MM_SHMEMPAGES, NR_MM_COUNTERS };

struct mm_struct {
	struct percpu_counter rss_stat[NR_MM_COUNTERS]; /* since Linux 6.2 */
	unsigned long hiwater_rss;
	unsigned long total_vm;
	unsigned long start_stack;
};

struct task_io_accounting {
	__u64 rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
};

struct signal_struct {
	int nr_threads;
	struct list_head thread_head;
	seqlock_t stats_lock;
	__u64 utime, stime, cutime, cstime;
	unsigned long nvcsw, nivcsw;
	unsigned long min_flt, maj_flt, cmin_flt, cmaj_flt;
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

struct sched_entity {
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

struct nsproxy {
	struct time_namespace *time_ns;
};

struct pid {
	unsigned int level;
};

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	struct sched_entity se;
	struct mm_struct *mm;
	int exit_state;
	int tgid;
	struct task_struct *real_parent;
	struct list_head thread_node;
	struct pid *thread_pid;
	__u64 utime, stime;
	unsigned long nvcsw, nivcsw;
	__u64 start_boottime;
	unsigned long min_flt, maj_flt;
	char comm[16];
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	struct task_io_accounting ioac;
};

struct bpf_array {
	void *pptrs[0];
};

#pragma clang attribute pop

#endif
