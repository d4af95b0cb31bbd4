/* SPDX-License-Identifier: MIT */
/* New members by a scan of /proc: the processes of the system that name a member as their parent.
 * For discovery.c alone. */
#ifndef RTI_PROC_SCAN_H
#define RTI_PROC_SCAN_H

#include "tree/state/state.h"

/* Add the descendants of all members. Returns 0, or -errno if /proc cannot be listed, or a process
 * that may be one cannot be looked at. */
int rti_scan_proc(struct rti_tree *tree);

/* The same where there are no children files. If /proc cannot be listed, this is noted. */
void rti_note_proc_scan(struct rti_tree *tree);

/* Whether a scan costs less than the children files of so many threads, and shows as much. */
bool rti_proc_scan_pays(const struct rti_tree *tree, uint64_t threads);

#endif
