/* SPDX-License-Identifier: MIT */
/* The children of one process, from the `children` files of its threads. */
#ifndef RTI_CHILDREN_H
#define RTI_CHILDREN_H

#include "os/context.h"

/* Call each() for the pid of every child of a process, whichever thread forked it: a child belongs
 * to that thread, and the children of a thread that exits move to another one. buf is for the file,
 * so that each() may use the buffer of the context. *threads becomes the number of threads listed.
 *
 * Returns 0; what stopped the list, see util/visit.h; or the first -errno of a file that could not
 * be read, after all others were. Threads without such a file are skipped. */
int rti_children_list(const struct rti_context *ctx, int32_t pid, struct rti_buf *buf,
                      int (*each)(void *arg, int32_t child), void *arg, uint32_t *threads);

#endif
