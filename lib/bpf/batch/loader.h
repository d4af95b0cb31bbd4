/* SPDX-License-Identifier: MIT */
/* Many processes read in one call, by a plug-in that loads a BPF program of ours: where it is
 * installed, the kernel can run it and we may load it. Otherwise the text files have to do,
 * which say the same.
 *
 * Owner: one tracker. After a fork the child has to close its copy, and may open one of its own.
 * Invariant: an open that fails keeps no descriptor and no memory. */
#ifndef RTI_LOADER_H
#define RTI_LOADER_H

#include "bpf/batch/batch.h"
#include "os/platform.h"
#include "parse/parse.h"

struct rti_batch;

/* Find the plug-in and load the program, which takes 20 ms or more. Returns 0; -ENOENT if there
 * is no plug-in of this release or the program is linked statically; -EPERM if we may not; or
 * another -errno if the kernel lacks something or the caller is in a pid or time namespace of
 * its own. */
int rti_batch_open(struct rti_batch **out);

/* Read a row for each request. Allocates nothing. Returns 0; or -errno, and the rows are
 * unspecified: -ESTALE after a fork. A row with an error has nothing else. */
int rti_batch_read(struct rti_batch *batch, const struct rti_batch_request *requests, size_t count,
                   struct rti_batch_row *rows);

/* NULL is allowed. */
void rti_batch_close(struct rti_batch *batch);

/* Convert a row to what stat has. Replaces what changes while a process lives and the CPU clocks
 * do not show; flags and RSS stay as they were, as do the name and the groups unless the
 * row has them. */
void rti_batch_stat(const struct rti_batch_row *row, uint64_t tick_ns, struct rti_pid_stat *stat);

/* Convert a row to what the CPU clocks have. */
void rti_batch_clock(const struct rti_batch_row *row, struct rti_cpu_clock *out);

#endif
