/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the library, its BPF plug-in and the program in the kernel tell each other. All are of one release: the layout
 * is no promise to anybody else. Times are ns. */
#ifndef RTI_BPF_BATCH_H
#define RTI_BPF_BATCH_H

#include <stddef.h>
#include <stdint.h>

#define RTI_BATCH_PLUGIN 1u /* changes whenever anything below does */

/* What a row has. */
#define RTI_BATCH_MEMORY (1u << 0)    /* an address space: a zombie has none */
#define RTI_BATCH_EXACT_RSS (1u << 1) /* rss_pages is summed over the CPUs; also asks for that */
#define RTI_BATCH_IO (1u << 2)        /* the kernel keeps account of it */
#define RTI_BATCH_IGNORES_SIGCHLD (1u << 3)

/* One process at one moment: nothing in it is of before or after a thread of it ended, or a child of it was reaped. */
struct rti_batch_row {
	int32_t error; /* 0; -ESRCH; or the text has to be read: -EAGAIN it would not stand still, -E2BIG too many
	                * threads, -EOPNOTSUPP a thread of the kernel, whose name only the text has */
	uint32_t has;
	int32_t pid, tgid, ppid;
	uint32_t flags, threads;
	uint32_t state; /* its letter */
	char comm[16];
	uint64_t start_ns;                             /* since boot */
	uint64_t cpu_ns, user_part_ns, system_part_ns; /* exact; and as sampled at ticks */
	uint64_t reaped_user_ns, reaped_system_ns;
	uint64_t minflt, majflt, cminflt, cmajflt;
	uint64_t voluntary_switches, involuntary_switches; /* of threads that have ended too */
	/* Exact as statm has it since Linux 6.17, with RTI_BATCH_EXACT_RSS; else as stat has it: without what each CPU
	 * has yet to add. Those of a thread that lives, where the leader has ended. */
	uint64_t rss_pages, stat_rss_pages, peak_rss_pages;
	uint64_t rchar, wchar, read_bytes, write_bytes, cancelled_write_bytes; /* reaped children's too */
};

/* How much one call of the program reads, which decides the memory that both sides share. */
#define RTI_BATCH_PIDS 256
#define RTI_BATCH_CPUS 64 /* an exact RSS takes 10 ns for each of them and three counters: not on wider machines */

struct rti_batch_ops {
	uint32_t version; /* RTI_BATCH_PLUGIN */
	uint32_t row_size;
	/* 0 or -errno: -EPERM; what the kernel lacks is any other. */
	int (*open)(void **out);
	/* 0 or -errno. -ESTALE in a process that was forked off since, which shares memory with its parent. */
	int (*read)(void *state, const int32_t *pids, size_t count, uint32_t want, struct rti_batch_row *rows);
	void (*close)(void *state);
};

#define RTI_BATCH_ENTRY "rti_bpf_batch" /* the name of a const struct rti_batch_ops */

#endif
