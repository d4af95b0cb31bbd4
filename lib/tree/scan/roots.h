/* SPDX-License-Identifier: MIT */
/* Where a tree begins: at a process, at several, or at all processes of a session. */
#ifndef RTI_ROOTS_H
#define RTI_ROOTS_H

#include <stddef.h>
#include <stdint.h>

struct rti_tree;

/* Make these processes the first members. Those that have ended are left out, and each counts once.
 * Returns 0; -ESRCH if there is none; -EACCES if one is hidden; or another -errno. */
int rti_add_roots(struct rti_tree *tree, const int32_t *pids, size_t count);

/* The same for all processes of the session of a process, or of the session with that number. */
int rti_add_session(struct rti_tree *tree, int32_t pid);

#endif
