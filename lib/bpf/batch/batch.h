/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The interface between the library, its BPF plug-in and the BPF program.
 *
 * All three are of one release. The layout is not stable and no other program may rely on it. Times
 * are ns. */
#ifndef RTI_BPF_BATCH_H
#define RTI_BPF_BATCH_H

#include <stddef.h>
#include <stdint.h>

#define RTI_BATCH_PLUGIN 7u /* changes whenever anything below does */

/* What a request asks for, and what a row has. Values that were not requested are 0 in the row.
 * Values without a bit are in every row. */
#define RTI_BATCH_RSS (1u << 0)
#define RTI_BATCH_PEAK (1u << 1)
#define RTI_BATCH_IO (1u << 2)     /* never set if the kernel keeps no account of it */
#define RTI_BATCH_STATUS (1u << 3) /* the name, user and groups, and whether SIGCHLD is ignored */
#define RTI_BATCH_ALL (RTI_BATCH_RSS | RTI_BATCH_PEAK | RTI_BATCH_IO | RTI_BATCH_STATUS)

/* Bits that only a row has. */
/* The process has used exactly idle_ns, and has as many pages as idle_rss_pages says: the row has
 * only start_ns and cpu_ns. */
#define RTI_BATCH_IDLE (1u << 4)
#define RTI_BATCH_IGNORES_SIGCHLD (1u << 5)
#define RTI_BATCH_FORKED (1u << 6) /* it has not executed a program since it was forked */

struct rti_batch_request {
	int32_t pid;
	uint32_t want;
	/* If the process has used exactly this CPU time, skip the rest of the row. 0: never. */
	uint64_t idle_ns;
	/* But only if it has so many resident pages, too. RTI_BATCH_ANY_RSS: however many. */
	uint64_t idle_rss_pages;
};

#define RTI_BATCH_ANY_RSS UINT64_MAX

/* One process. Invariant: a row is consistent. No thread of the process exited and none of its
 * children was reaped between the reads of its values. */
struct rti_batch_row {
	/* 0 or -ESRCH. With any other error the text files must be read instead: -EAGAIN if the
	 * process kept changing, -E2BIG if it has too many threads, -EOPNOTSUPP if it is a kernel
	 * thread: only the text has its name. */
	int32_t error;
	uint32_t has;
	uint64_t start_ns; /* since boot */
	uint64_t cpu_ns;   /* exact */
	/* A row with an error or RTI_BATCH_IDLE ends here. */
	uint64_t user_part_ns, system_part_ns; /* sampled at ticks */
	uint64_t reaped_user_ns, reaped_system_ns;
	uint32_t ppid, threads;
	uint64_t minflt, majflt, cminflt, cmajflt;
	uint64_t voluntary_switches, involuntary_switches; /* includes threads that have exited */
	/* 0 if there is no address space. If the leader has exited, that of a live thread. As exact
	 * as statm since Linux 6.17. On systems with more than RTI_BATCH_CPUS, as exact as stat:
	 * without what each CPU has yet to add. */
	uint64_t rss_pages, peak_rss_pages;
	/* With RTI_BATCH_RSS, of the same address space: the part of rss_pages that is of files and
	 * shared memory, all pages that are mapped, and the address of the stack. */
	uint64_t shared_pages, size_pages, stack;
	/* With RTI_BATCH_PEAK: the part of shared_pages that is no file; and what is in no RSS, as
	 * status shows it. */
	uint64_t shmem_pages, swap_pages, hugetlb_pages;
	/* Includes that of reaped children. */
	uint64_t rchar, wchar, read_bytes, write_bytes, cancelled_write_bytes;
	char comm[16];
	uint64_t state;        /* the state letter */
	uint64_t syscr, syscw; /* with RTI_BATCH_IO, likewise */
	uint32_t uid, pgrp, session, reserved;
};

/* Requests per run of the BPF program. It decides how much memory both sides share. */
#define RTI_BATCH_PIDS 256
/* An exact RSS costs 10 ns per CPU for its three counters. With more CPUs it is not computed. */
#define RTI_BATCH_CPUS 64

/* What the plug-in exports as RTI_BATCH_ENTRY. */
struct rti_batch_ops {
	uint32_t version; /* RTI_BATCH_PLUGIN */
	uint32_t row_size;
	/* Load the BPF program. *out is then to be passed to the other functions. Returns 0;
	 * -EPERM; or another -errno if the kernel lacks something. */
	int (*open)(void **out);
	/* Fill a row for each request. Returns 0 or -errno: -ESTALE in a process that was forked
	 * since open(), because it shares the memory with its parent. */
	int (*read)(void *state, const struct rti_batch_request *requests, size_t count,
	            struct rti_batch_row *rows);
	void (*close)(void *state);
};

#define RTI_BATCH_ENTRY "rti_bpf_batch" /* the name of a const struct rti_batch_ops */

#endif
