/* SPDX-License-Identifier: MIT */
/* New members by a scan of /proc: the processes of the system that name a member as their parent.
 * For discovery.c alone. */
#ifndef RTI_PROC_SCAN_H
#define RTI_PROC_SCAN_H

#include "tree/state.h"

/* Add the descendants of all members. If the directory cannot be listed, this is noted. */
void rti_scan_proc(struct rti_tree *tree);

#endif
