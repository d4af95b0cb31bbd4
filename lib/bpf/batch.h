/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the library, its BPF plug-in and the program in the kernel tell each other. All are of
 * one release: the layout is no promise to anybody else. Times are ns. */
#ifndef RTI_BPF_BATCH_H
#define RTI_BPF_BATCH_H

#include <stddef.h>
#include <stdint.h>

#define RTI_BATCH_PLUGIN 2u /* changes whenever anything below does */

/* What is asked of a process, and what a row has: what was not asked for is 0 in it. The rest is
 * in every row. */
#define RTI_BATCH_RSS (1u << 0)
#define RTI_BATCH_PEAK (1u << 1)
#define RTI_BATCH_IO (1u << 2)     /* not where the kernel keeps no account of it */
#define RTI_BATCH_STATUS (1u << 3) /* its name, and whether it ignores SIGCHLD */
#define RTI_BATCH_ALL (RTI_BATCH_RSS | RTI_BATCH_PEAK | RTI_BATCH_IO | RTI_BATCH_STATUS)

/* What only a row has. */
/* it has used idle_ns, as it had: there is nothing else in the row */
#define RTI_BATCH_IDLE (1u << 4)
#define RTI_BATCH_IGNORES_SIGCHLD (1u << 5)

struct rti_batch_request {
	int32_t pid;
	uint32_t want;
	/* a CPU time at which nothing more is to be read of it; 0: there is none */
	uint64_t idle_ns;
};

/* One process at one moment: nothing in it is of before or after a thread of it ended, or a
 * child of it was reaped. */
struct rti_batch_row {
	/* 0; -ESRCH; or the text has to be read: -EAGAIN it would not stand still, -E2BIG too
	 * many threads, -EOPNOTSUPP a thread of the kernel, whose name only the text has */
	int32_t error;
	uint32_t has;
	uint64_t start_ns; /* since boot */
	uint64_t cpu_ns;   /* exact */
	/* A row with an error or RTI_BATCH_IDLE ends here. */
	uint64_t user_part_ns, system_part_ns; /* as sampled at ticks */
	uint64_t reaped_user_ns, reaped_system_ns;
	uint32_t ppid, threads;
	uint64_t minflt, majflt, cminflt, cmajflt;
	uint64_t voluntary_switches, involuntary_switches; /* of threads that have ended too */
	/* 0 where there is no address space; that of a thread that lives, where the leader has
	 * ended. Exact as statm has it since Linux 6.17; on machines with more than
	 * RTI_BATCH_CPUS as stat has it: without what each CPU has yet to add. */
	uint64_t rss_pages, peak_rss_pages;
	/* reaped children's too */
	uint64_t rchar, wchar, read_bytes, write_bytes, cancelled_write_bytes;
	char comm[16];
	uint64_t state; /* its letter */
};

/* How much one call of the program reads, which decides the memory that both sides share. */
#define RTI_BATCH_PIDS 256
/* an exact RSS takes 10 ns for each of them and three counters: not on wider machines */
#define RTI_BATCH_CPUS 64

struct rti_batch_ops {
	uint32_t version; /* RTI_BATCH_PLUGIN */
	uint32_t row_size;
	/* 0 or -errno: -EPERM; what the kernel lacks is any other. */
	int (*open)(void **out);
	/* 0 or -errno. -ESTALE in a process that was forked off since, which shares memory with
	 * its parent. */
	int (*read)(void *state, const struct rti_batch_request *requests, size_t count,
	            struct rti_batch_row *rows);
	void (*close)(void *state);
};

#define RTI_BATCH_ENTRY "rti_bpf_batch" /* the name of a const struct rti_batch_ops */

#endif
