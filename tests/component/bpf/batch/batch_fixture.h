/* SPDX-License-Identifier: MIT */
/* An open batch reader, and the text files and CPU clocks to compare its rows with. */
#ifndef BATCH_FIXTURE_H
#define BATCH_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

#include "bpf/batch/loader.h"
#include "children.h"
#include "os/platform.h"
#include "os/procfs.h"
#include "suite.h"

struct batch_fixture {
	struct rti_batch *batch;
	struct rti_procfs procfs;
	struct rti_buf buf;
	struct rti_platform platform;
};

extern struct batch_fixture batch_fix;

/* What the text files and the CPU clock of a process say. Memory is that of a thread that still has
 * an address space. */
struct batch_text {
	struct rti_pid_stat stat;
	struct rti_pid_statm statm;
	struct rti_pid_io io;
	struct rti_cpu_clock clock;
	uint64_t peak_kib, shmem_kib;
	uint64_t memory_stat_rss, memory_stat_stack;
	uint64_t voluntary, involuntary; /* sums over the live threads */
	int32_t memory_tid;              /* 0: no thread has memory */
};

/* What a test file can run here. */
enum batch_support {
	BATCH_NONE,         /* nothing: skip */
	BATCH_UNPRIVILEGED, /* opening fails with -EPERM */
	BATCH_FULL,
};

/* Finds out what can run here. Sets *why if that is not everything. Any error but the expected ones
 * is left for a test to fail on. */
enum batch_support batch_probe(const char **why);

/* Open and close batch_fix. */
void batch_set_up(void);
void batch_tear_down(void);

/* Read a file below /proc into batch_fix.buf. */
void batch_read_text(const char *path);

/* Read one row. All bytes of *row are 0x5a before. */
void batch_send_request(const struct rti_batch_request *request, struct rti_batch_row *row);

/* Read all fields of one row. */
void batch_read_row(int32_t pid, struct rti_batch_row *row);

/* Read all fields of one row, but only the marker if the process has used as much CPU time as
 * this, and has so many resident pages; RTI_BATCH_ANY_RSS: however many. */
void batch_request_unless_idle(int32_t pid, uint64_t cpu_ns, uint64_t rss_pages,
                               struct rti_batch_row *row);

/* Read a row and a text of the same moment: the text is the same before and after the row. */
void batch_read_row_and_text(int32_t pid, struct rti_batch_row *row, struct batch_text *text);

/* Stop a process, so that its figures stand still. */
void batch_stop_process(pid_t pid);

/* Kill a child and reap it. */
void batch_end_child(struct child *child);

#define BATCH_THREADS 20

/* For child_start(): start BATCH_THREADS threads, which use 2 ms each and stay, and then as many as
 * the int that arg points to, which use 3 ms each and exit. The threads may still be leaving a
 * barrier when this returns. */
void batch_start_and_end_threads(void *arg);

/* Returns whether the running kernel is this version or a later one. */
bool batch_is_kernel(int major, int minor);

#endif
