/* SPDX-License-Identifier: MIT */
/* What a collector is: one measured domain, one file, one const table entry, one test.
 *
 * open() gets zeroed state of state_size bytes. -ENOENT, -EACCES and -EOPNOTSUPP from it disable
 * the collector and become its status; other errors fail the constructor of the tracker.
 * collect() writes its fields first and then sets their RT_HAS_ bits in valid (or partial); what
 * it could not read it leaves alone and returns the -errno that becomes the status of its
 * missing bits. close() runs once per successful open(), in reverse order. */
#ifndef RTI_COLLECTOR_H
#define RTI_COLLECTOR_H

#include <rtrack/rtrack.h>

#include "collect/counters.h"
#include "os/context.h"
#include "parse/parse.h"

/* Collects for the machine. */
struct rti_sys_collector {
	const char *name; /* of its file and its test */
	uint64_t provides;
	size_t state_size;
	int (*open)(void *state, const struct rti_context *ctx);
	int (*collect)(void *state, const struct rti_context *ctx, struct rt_metrics *out);
	void (*close)(void *state, const struct rti_context *ctx);
	/* Rows of the last collect(), each of row_size bytes and with its size field set; NULL
	 * and 0 for none. May be NULL. row_size is that of the public struct. */
	const void *(*rows)(const void *state, size_t *count);
};

/* One member as a collector sees it. */
struct rti_target {
	int32_t pid;
	const struct rti_pid_stat *stat; /* as last read; just now for collectors with after_stat */
	/* read before stat, which vouches for it; NULL where there is none */
	const struct rti_cpu_clock *clock;
	/* a live thread to ask for memory when the leader has exited, or 0 */
	int32_t memory_tid;
	/* kept by proctree, or NULL where no more descriptors may be kept */
	struct rti_file *statm, *io;
};

/* Figures of one member. */
struct rti_figures {
	uint64_t valid;   /* RT_HAS_ bits */
	uint64_t partial; /* RT_HAS_ bits of lower bounds */
	uint64_t self[RTI_COUNTERS], children[RTI_COUNTERS];
	uint64_t rss_bytes, pss_bytes, peak_rss_bytes;
	uint64_t threads;
	uint32_t pss_source; /* RT_PSS_ value */
	int ignores_sigchld;
};

/* Collects for one member of a tree; has no state of its own. -ESRCH: nothing to measure here
 * any more (a zombie has no address space), which is no loss. */
struct rti_pid_collector {
	const char *name;
	uint64_t provides;
	int after_stat; /* made of stat, which is read last: see proctree.h */
	int (*collect)(const struct rti_context *ctx, const struct rti_target *target,
	               struct rti_figures *out);
};

/* Those that are also asked for by themselves. */
extern const struct rti_pid_collector rti_pid_mem, rti_pid_pss, rti_pid_io;

/* registry.c: the one file that a new collector edits besides its own. */
extern const struct rti_pid_collector *const rti_pid_collectors[];
extern const struct rti_sys_collector *const rti_sys_collectors[];
extern const size_t rti_pid_collector_count, rti_sys_collector_count;

#endif
