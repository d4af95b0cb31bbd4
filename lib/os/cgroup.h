/* SPDX-License-Identifier: MIT */
/* The cgroup that a command runs in, and the kernel's account of everything in it.
 *
 * That account does not depend on which process waits for which. The cgroup is a child of the
 * caller's cgroup in the v2 hierarchy, hybrid mounts included. cpu.stat exists there without any
 * controller. The library makes the cgroup. The supervisor starts the program in it and removes
 * it once it is empty. If a supervisor is killed, its cgroup is removed when the next one is
 * made. */
#ifndef RTI_CGROUP_H
#define RTI_CGROUP_H

#include <stdbool.h>

#include "os/context.h"

/* A cgroup directory and the cached descriptor of its cpu.stat. */
struct rti_cgroup {
	char path[1024]; /* absolute; "" if there is no cgroup */
	struct rti_file cpu;
};

#define RTI_CGROUP_INIT                                                                            \
	{                                                                                          \
		"", RTI_FILE_INIT                                                                  \
	}

/* Find the caller's own cgroup, for reading. Overwrites *group. Returns 0, or -EOPNOTSUPP if it
 * cannot be found; the path is then "". */
int rti_cgroup_enclosing(struct rti_cgroup *group, const struct rti_context *ctx);

/* Make a cgroup below the enclosing one. Overwrites *group. Returns 0; -EOPNOTSUPP if there is no
 * cgroup v2; -EACCES, -EROFS and the like if the caller may not make one. On failure the path is
 * "". */
int rti_cgroup_make(struct rti_cgroup *group, const struct rti_cgroup *enclosing,
                    const struct rti_context *ctx);

/* Read the CPU time used in a cgroup so far. Keeps cpu.stat open: rti_cgroup_close() closes it.
 * Returns 0 or -errno. */
int rti_cgroup_read_cpu(struct rti_cgroup *group, const struct rti_context *ctx, uint64_t *user_ns,
                        uint64_t *system_ns);

/* Read the CPU time used in a cgroup so far, user and system together, in ns. Opens cpu.stat and
 * closes it again. Returns UINT64_MAX if it is unknown. */
uint64_t rti_cgroup_read_usage(struct rti_cgroup *group, const struct rti_context *ctx);

/* Read a file that holds one number. E.g.: name is "/memory.peak" or "/pids.peak".
 * Returns 0 or -errno: -ENOENT if the controller is off or the kernel is older than the file
 * (memory.peak needs 5.19, pids.peak needs 6.1), -EBADMSG if there is no number. */
int rti_cgroup_read_number(const struct rti_cgroup *group, const struct rti_context *ctx,
                           const char *name, uint64_t *number);

/* Read the bytes read from and written to all devices. Returns 0 or -errno: -ENOENT if the io
 * controller is off. */
int rti_cgroup_read_io(const struct rti_cgroup *group, const struct rti_context *ctx,
                       uint64_t *read_bytes, uint64_t *write_bytes);

/* Returns true if a process runs in the cgroup or in one below it. Returns false if that is
 * unknown. */
bool rti_cgroup_is_populated(const struct rti_cgroup *group, const struct rti_context *ctx);

/* Kill every process in the cgroup and in those below it. Returns 0 or -errno: a kernel before
 * 5.14 cannot do that in one step. */
int rti_cgroup_kill(const struct rti_cgroup *group);

/* Remove a cgroup in which no process was started, and clear the path. */
void rti_cgroup_remove(struct rti_cgroup *group);

/* Close the cached descriptor and clear the path. Does not remove the directory: the supervisor
 * does. */
void rti_cgroup_close(struct rti_cgroup *group, const struct rti_context *ctx);

#endif
