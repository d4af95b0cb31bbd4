/* SPDX-License-Identifier: MIT */
/* A cgroup of our own for a command: the kernel's account of everything that runs in it, whoever
 * waits for it.
 *
 * A leaf below the cgroup that we are in (v2, hybrid mounts included). cpu.stat is there without
 * any controller. The leaf is made here; the supervisor starts the program in it and removes it
 * when it is empty. Leaves that a killed supervisor has left behind are removed when the next
 * one is made. */
#ifndef RTI_CGROUP_H
#define RTI_CGROUP_H

#include <stdbool.h>

#include "os/context.h"

struct rti_cgroup {
	char path[1024]; /* absolute; empty while there is none */
	struct rti_file cpu;
};

#define RTI_CGROUP_INIT                                                                            \
	{                                                                                          \
		"", RTI_FILE_INIT                                                                  \
	}

/* The cgroup that we are in ourselves, to be read. 0 or -EOPNOTSUPP. */
int rti_cgroup_enclosing(struct rti_cgroup *group, const struct rti_context *ctx);

/* Make a leaf below that. 0; -EOPNOTSUPP where there is no cgroup v2; -EACCES, -EROFS and the
 * like where we may not. */
int rti_cgroup_make(struct rti_cgroup *group, const struct rti_cgroup *enclosing,
                    const struct rti_context *ctx);

/* What has been used in it so far. 0 or -errno. */
int rti_cgroup_read_cpu(struct rti_cgroup *group, const struct rti_context *ctx, uint64_t *user_ns,
                        uint64_t *system_ns);

/* CPU time used in a cgroup so far, user and system together, ns. Returns UINT64_MAX if it is
 * unknown. Opens cpu.stat and closes it again. */
uint64_t rti_cgroup_read_usage(struct rti_cgroup *group, const struct rti_context *ctx);

/* A file of one number, as "/memory.peak" and "/pids.peak". -ENOENT without the controller, or
 * before its kernel (5.19 and 6.1). */
int rti_cgroup_read_number(const struct rti_cgroup *group, const struct rti_context *ctx,
                           const char *name, uint64_t *number);

/* Bytes read from and written to all devices. -ENOENT without the io controller. */
int rti_cgroup_read_io(const struct rti_cgroup *group, const struct rti_context *ctx,
                       uint64_t *read_bytes, uint64_t *write_bytes);

/* Whether a process runs in it or in a cgroup below it. False if that is unknown. */
bool rti_cgroup_is_populated(const struct rti_cgroup *group, const struct rti_context *ctx);

/* Kill all who are in it, and in those below. 0, or -errno: before 5.14 that cannot be done at
 * once. */
int rti_cgroup_kill(const struct rti_cgroup *group);

/* Remove a leaf that nothing was started in. */
void rti_cgroup_remove(struct rti_cgroup *group);

/* Close what is open; the supervisor removes the leaf. */
void rti_cgroup_close(struct rti_cgroup *group, const struct rti_context *ctx);

#endif
