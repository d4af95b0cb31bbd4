/* SPDX-License-Identifier: MIT */
/* Many processes read in one call, by a plug-in that has a program of ours in the kernel: where
 * it is installed, the kernel can run it and we may load it. Otherwise the text files have to
 * do, which say the same.
 *
 * Owner: one tracker. After a fork the child has to close it, and may open one of its own.
 * Invariant: no descriptor or memory is kept by an open that fails. */
#ifndef RTI_BATCH_H
#define RTI_BATCH_H

#include "bpf/batch.h"
#include "os/platform.h"
#include "parse/parse.h"

struct rti_batch;

/* Takes 20 ms or more. 0; -ENOENT: there is no plug-in of this release, or the program is linked
 * statically; -EPERM: we may not; or another -errno: the kernel lacks something, or the caller
 * is in a pid or time namespace of its own. */
int rti_batch_open(struct rti_batch **out);

/* Read a row for each request. Nothing is allocated. 0; or -errno, with the rows unspecified:
 * -ESTALE after a fork. A row with an error has nothing else. */
int rti_batch_read(struct rti_batch *batch, const struct rti_batch_request *requests, size_t count,
                   struct rti_batch_row *rows);

/* NULL is allowed. */
void rti_batch_close(struct rti_batch *batch);

/* A row as the text files and the CPU clocks have it. Of stat it replaces what changes while a
 * process lives and the clocks do not tell; flags and RSS of stat stay as they were, as does the
 * name unless the row has it. */
void rti_batch_stat(const struct rti_batch_row *row, uint64_t tick_ns, struct rti_pid_stat *stat);
void rti_batch_clock(const struct rti_batch_row *row, struct rti_cpu_clock *out);

#endif
