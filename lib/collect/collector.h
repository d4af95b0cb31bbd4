/* SPDX-License-Identifier: MIT */
/* What a collector is: one measured domain, one file, one const table entry, one test.
 *
 * The entry says all that the core must know. The core never compares a collector with a name. It
 * names a domain by its bit only where accounting depends on that domain: CPU time and page faults
 * for the ledger, RSS for the memory of the tree. E.g.: a new gauge is named nowhere. */
#ifndef RTI_COLLECTOR_H
#define RTI_COLLECTOR_H

#include <rtrack/rtrack.h>

#include "bpf/batch/batch.h"
#include "collect/counters.h"
#include "os/context.h"
#include "os/protocol/supervisor_protocol.h"
#include "parse/parse.h"

#define RTI_SYS_FILES_MAX 3

/* Collects one domain of the whole system.
 *
 * open() gets zeroed state of state_size bytes. If it returns -ENOENT, -EACCES or -EOPNOTSUPP, the
 * domain is missing and the error is its status; any other error fails the constructor of the
 * tracker. collect() writes its fields first and sets their RT_HAS_ bits in valid (or partial)
 * last. What it could not read it leaves alone, and it returns the -errno that becomes the status
 * of the missing bits. close() runs once for each successful open(), in reverse order. */
struct rti_sys_collector {
	uint64_t provides;
	/* The files below /proc that it reads, for messages, the main one of a domain first; and
	 * the domains that each is read for. 0: for all. */
	const char *files[RTI_SYS_FILES_MAX];
	uint64_t read_for[RTI_SYS_FILES_MAX];
	size_t state_size;
	int (*open)(void *state, const struct rti_context *ctx);
	/* out->monotonic_ns is the time of the sample. */
	int (*collect)(void *state, const struct rti_context *ctx, struct rt_metrics *out);
	void (*close)(void *state, const struct rti_context *ctx);
	/* Why one domain is missing after the last collect(), if domains may be missing for
	 * different reasons: -errno, or 0. NULL: for all of them, what collect() returned. */
	int (*error_of)(const void *state, uint64_t has);
	/* The list of the last collect(): an array of the public struct, each with its size field
	 * set. Returns NULL and *count 0 if there is none. May fill it then, without allocating
	 * memory. May be NULL. */
	const void *(*rows)(void *state, size_t *count);
	/* A second list, of what processes use: 0, or the -errno for which it is missing. Each row
	 * as above. May be NULL. */
	int (*processes)(const void *state, const void **rows, size_t *count);
};

/* What status of a process says, for the collectors that share one read of it. Written by
 * pid_status.c. */
struct rti_kept_status {
	bool is_read;
	struct rti_pid_status status;
};

/* One member as a collector sees it. */
struct rti_target {
	int32_t pid;
	/* As last read. Just read for a collector with after_stat. */
	const struct rti_pid_stat *stat;
	/* Read before stat, which proves that it is of the same process. NULL if there is none. */
	const struct rti_cpu_clock *clock;
	/* A live thread to read memory from if the leader has exited, or 0. */
	int32_t memory_tid;
	/* No other thread of the process has ever made a context switch. So status of the leader
	 * has all of them. False: unknown. */
	bool is_leader_alone;
	/* Of this read of the process. NULL: each collector reads status by itself. */
	struct rti_kept_status *kept;
	/* Cached descriptors, or NULL if no more may be cached. */
	struct rti_file *statm, *io, *status, *schedstat;
};

/* How many collectors of processes there are. */
enum {
	RTI_PID_COLLECTORS_MAX = 0
#define PID(name) +1
#include "collect/collectors.def"
};

/* The figures of one member. A collector writes values first and sets the bit last. */
struct rti_figures {
	uint64_t valid;     /* RT_HAS_ bits of complete figures */
	uint64_t partial;   /* RT_HAS_ bits of lower bounds */
	uint64_t estimated; /* RT_HAS_ bits of estimates. The three masks are disjoint. */
	uint64_t self[RTI_COUNTERS], children[RTI_COUNTERS];
	struct rt_process row; /* gauges and peaks; the other fields are filled from elsewhere */
	/* With RT_HAS_RSS: the part of RSS that is of files and shared memory, and the size of the
	 * address space. */
	uint64_t shared_bytes, size_bytes;
	/* With RT_HAS_PEAK_RSS: the part of shared_bytes that is no file; and what is in no RSS. */
	uint64_t shmem_bytes, swap_bytes, hugetlb_bytes;
	/* With RT_HAS_CTXSW, unless from a row: CPU time of threads that have ended. */
	uint64_t ended_run_ns;
	bool ignores_sigchld : 1;
	/* With RT_HAS_CPU: its own two CPU times, and the two of what it has reaped, were read in
	 * whole clock ticks. Each may lack almost a tick. */
	bool is_own_in_ticks : 1, is_reaped_in_ticks : 1;
	bool is_reaped_in_us : 1; /* what it has reaped was read in whole microseconds */
	/* Why a collector left a bit clear, by its number in the registry: -errno, or 0. Written by
	 * the code that runs the collectors. */
	int16_t errors[RTI_PID_COLLECTORS_MAX];
};

/* When a figure is read of a member that has run since the last sample. */
enum rti_cadence {
	RTI_EACH_SAMPLE,
	RTI_TEN_HZ /* ten times a second at most: the files cost many times what others do */
};

/* Collects one domain of a member of a tree. Has no state of its own.
 *
 * E.g. for open descriptors:
 *
 *	const struct rti_pid_collector rti_pid_fds = {
 *		.provides = RT_HAS_FDS,
 *		.cadence = RTI_TEN_HZ,
 *		.changes_while_idle = true,
 *		.reset = reset,
 *		.collect = collect,
 *		.add = add,
 *	};
 *
 * The BPF reader knows nothing of descriptors (no from_row), so they are read from /proc in batch
 * mode too. Our own supervisor's descriptors are not the program's (no keep_children_share), so it
 * is left out. */
struct rti_pid_collector {
	uint64_t provides; /* RT_HAS_ bits; no two collectors provide the same one */
	uint64_t needs;    /* RT_HAS_ bits of other collectors that run before this one */
	const char *file;  /* that it reads, below /proc/PID: for messages */
	enum rti_cadence cadence;
	bool after_stat; /* computed from stat, which is read last */
	/* The figure of a process may change while the process does not run, so it is read once a
	 * second even then. E.g.: RSS, since the kernel reclaims pages. */
	bool changes_while_idle;
	bool reads_status; /* by rti_pid_status_read(): the file stays open between samples */
	/* The figure is a peak of RSS, so it is due at once when RSS exceeds the last value. */
	bool rises_with_rss;
	/* A lower bound is an ordinary answer. E.g.: context switches once a thread has exited. */
	bool is_often_partial;
	/* The kernel adds what children used to the process's own count when they are reaped. */
	bool folds_children;
	/* The counters that this domain consists of, for the ledger; count 0 for a gauge. */
	struct rti_counter_range counters;
	/* Read as a sum over live threads, which falls when one exits: the largest value counts. */
	bool counters_may_fall;
	/* RTI_BATCH_ bits to ask the BPF reader for, if rows have them only on request. */
	uint32_t row_request;

	/* Read from /proc. Returns 0 with a bit set in valid, or the -errno of the missing bits.
	 * -ESRCH: there is nothing to measure, which is a complete answer. E.g.: a zombie has no
	 * address space. */
	int (*collect)(const struct rti_context *ctx, const struct rti_target *target,
	               struct rti_figures *out);
	/* The same from a row of the BPF reader, which has all that was asked for. NULL if rows
	 * lack it: it is then read from /proc in batch mode too. */
	void (*from_row)(const struct rti_context *ctx, const struct rti_batch_row *row,
	                 struct rti_figures *out);
	/* Clear the gauges before they are read again. NULL if there are none. */
	void (*reset)(struct rti_figures *out);
	/* Add the gauges of a member to the sum over the tree. NULL for counters, which the ledger
	 * adds up, and for what is no sum. */
	void (*add)(const struct rti_figures *member, struct rt_metrics *sum);
	/* Reduce the figures of our own supervisor to what belongs to the program: the share of
	 * the children that it reaped. NULL: nothing of it belongs to the program, so it is not
	 * read. */
	void (*keep_children_share)(struct rti_figures *out, const struct rti_shared_stats *shared);
};

/* registry.c: made of collectors.def, which a new collector gets a line in. */
extern const struct rti_pid_collector *const rti_pid_collectors[];
extern const struct rti_sys_collector *const rti_sys_collectors[];
extern const size_t rti_pid_collector_count, rti_sys_collector_count;

#endif
