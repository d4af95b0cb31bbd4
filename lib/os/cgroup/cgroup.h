/* SPDX-License-Identifier: MIT */
/* The cgroup that a command runs in, and the kernel's account of everything in it.
 *
 * That account does not depend on which process waits for which. There are two versions of cgroups.
 * v2 is one hierarchy: its cpu.stat exists without any controller. v1 has one hierarchy per
 * controller, or for several at once, and a process has a cgroup in each. Both may be mounted at
 * once (hybrid): a controller is then in v1 or in v2.
 *
 * So "the cgroup" of a command is a directory in each hierarchy that accounts for something. Each
 * is a child of the caller's cgroup in that hierarchy, and all have the same name. The library
 * makes them. The supervisor starts the program in them and removes them once they are empty. If a
 * supervisor is killed, its directories are removed when the command is freed, or when another
 * command is started after the exit of the caller. */
#ifndef RTI_CGROUP_H
#define RTI_CGROUP_H

#include <stdbool.h>

#include "os/context.h"

/* What a cgroup accounts for. */
#define RTI_CGROUP_CPU (1u << 0)    /* v1: cpuacct */
#define RTI_CGROUP_MEMORY (1u << 1) /* v1: memory */
#define RTI_CGROUP_IO (1u << 2)     /* v1: blkio */
#define RTI_CGROUP_TASKS (1u << 3)  /* v1: pids */

#define RTI_CGROUP_DIRS_MAX 5 /* v2, and one v1 hierarchy for each account */

/* The directory of a cgroup in one hierarchy. */
struct rti_cgroup_dir {
	char path[1024];        /* absolute */
	char name[1024];        /* as in /proc/PID/cgroup */
	uint32_t hierarchy;     /* number in /proc/PID/cgroup; 0 is v2 */
	uint32_t accounts;      /* RTI_CGROUP_ bits */
	bool is_read_only;      /* it is mounted so */
	bool has_cpu_scheduler; /* v1: processes in it are scheduled as one group (`cpu`) */
	bool has_cpuset;        /* v1: a new cgroup has no CPUs, so nothing can run in it */
};

/* A cgroup: its directories, v2 first. Owns them and the cached descriptors. */
struct rti_cgroup {
	struct rti_cgroup_dir *dir; /* NULL if there is no cgroup */
	uint32_t count;
	uint32_t left; /* RTI_CGROUP_ bits: a process of the tree runs outside of that directory */
	struct rti_file cpu, cpu_split; /* cpu.stat; or cpuacct.usage and cpuacct.stat */
};

#define RTI_CGROUP_INIT                                                                            \
	{                                                                                          \
		NULL, 0, 0, RTI_FILE_INIT, RTI_FILE_INIT                                           \
	}

/* --- Where the caller is (cgroup_search.c). --- */

/* Find the caller's own cgroup, for reading. Overwrites *group. Returns 0, or -EOPNOTSUPP if no
 * hierarchy is mounted that shows it; -ENOMEM; or another -errno. The cgroup is then empty. */
int rti_cgroup_enclosing(struct rti_cgroup *group, const struct rti_context *ctx);

/* --- Making, ending, and what runs in it (cgroup.c). --- */

/* Not in a hierarchy that schedules CPU time, too. E.g.: on RHEL 8, `cpu` and `cpuacct` are one
 * hierarchy: what runs in a cgroup shares the CPUs with others as one group, and may be refused
 * real-time scheduling. */
#define RTI_CGROUP_KEEP_SCHEDULING 1u
#define RTI_CGROUP_V1_ALONE 2u

/* Remove the cgroups below the enclosing one that commands of processes which have exited left
 * behind, unless a process runs in them. */
void rti_cgroup_remove_stale(const struct rti_cgroup *enclosing, const struct rti_context *ctx);

/* Make a cgroup below the enclosing one: in v2, or in the hierarchy of cpuacct if v2 is not there
 * or cannot be used, and in the hierarchies of the other controllers as far as possible. Overwrites
 * *group.
 *
 * Returns 0; -EOPNOTSUPP if no hierarchy accounts for CPU time; or why none could be made there:
 * -EACCES, -EROFS, -ENOMEM and the like. On failure the cgroup is empty. */
int rti_cgroup_make(struct rti_cgroup *group, const struct rti_cgroup *enclosing,
                    const struct rti_context *ctx, unsigned flags);

/* Write the directories for the supervisor, see supervisor_protocol.h. Returns 0 or
 * -ENAMETOOLONG. */
int rti_cgroup_describe(const struct rti_cgroup *group, char *out, size_t out_size);

/* Remove and forget the directories that the program could not be started in. Bit i of placed
 * stands for group->dir[i]. */
void rti_cgroup_keep_placed(struct rti_cgroup *group, uint32_t placed);

/* The directory that has an account, or NULL. */
const struct rti_cgroup_dir *rti_cgroup_dir_of(const struct rti_cgroup *group, uint32_t account);

/* Returns true if a process runs in the cgroup or in one below it, in any hierarchy. Returns false
 * if that is unknown. Unless a process may have left v2, none runs in v1 alone. */
bool rti_cgroup_is_populated(const struct rti_cgroup *group, const struct rti_context *ctx,
                             bool may_have_left_v2);

/* Check in which directories of the cgroup, or below them, a process runs, and add to group->left
 * what it has left. Nothing is added for a process that exits: v1 shows it in the root. start_ticks
 * is its start: another process that has its pid does not count. */
void rti_cgroup_check_process(struct rti_cgroup *group, const struct rti_context *ctx, int32_t pid,
                              uint64_t start_ticks);

/* Returns true if a process is known to be in a directory or in one below it. */
bool rti_cgroup_dir_has(const struct rti_cgroup_dir *dir, const struct rti_context *ctx,
                        int32_t pid);

/* Kill every process in the cgroup and in those below it: at once by cgroup.kill (v2, since 5.14),
 * and one by one what is left or is in v1 alone. A process that is frozen stays until it is thawed.
 * Returns 0; -EPERM if a process may not be killed; or another -errno. */
int rti_cgroup_kill(const struct rti_cgroup *group, const struct rti_context *ctx);

/* Remove a cgroup in which no process was started, and forget it. */
void rti_cgroup_remove(struct rti_cgroup *group);

/* Remove a cgroup that a killed supervisor has left, and those below it, unless a process runs in
 * it. */
void rti_cgroup_reclaim(const struct rti_cgroup *group, const struct rti_context *ctx);

/* Close the cached descriptors and forget the cgroup. Does not remove the directories: the
 * supervisor does. */
void rti_cgroup_close(struct rti_cgroup *group, const struct rti_context *ctx);

/* Set the path of a file of a directory, relative to RTI_ROOT. E.g.: name is "/tasks". Returns 0 or
 * -ENAMETOOLONG. */
int rti_cgroup_file_path(const struct rti_cgroup_dir *dir, const char *name, char out[1024]);

/* --- The accounts (cgroup_account.c). --- */

/* Read the CPU time used in a cgroup so far: cpu.stat (v2), or cpuacct.usage split as in
 * cpuacct.stat (v1). Keeps the files open: rti_cgroup_close() closes them. Returns 0 or -errno. */
int rti_cgroup_read_cpu(struct rti_cgroup *group, const struct rti_context *ctx, uint64_t *user_ns,
                        uint64_t *system_ns);

/* Read the CPU time used in a cgroup so far, user and system together, in ns. Opens the files and
 * closes them again. Returns UINT64_MAX if it is unknown. */
uint64_t rti_cgroup_read_usage(struct rti_cgroup *group, const struct rti_context *ctx);

/* Read the largest memory that the kernel has charged to a cgroup: memory.peak (v2, since 5.19), or
 * memory.max_usage_in_bytes (v1).
 *
 * The kernel charges for anonymous memory, for page cache, tmpfs and kernel memory. So this is an
 * upper bound of the anonymous memory of the processes in it, and it may be above their sum by any
 * amount of page cache. Pages of files that others have read before are not charged: so it is no
 * bound of RSS or PSS. Returns 0 or -errno: -ENOENT if there is no such file. */
int rti_cgroup_read_memory_peak(const struct rti_cgroup *group, const struct rti_context *ctx,
                                uint64_t *bytes);

/* What is charged to a cgroup now. */
struct rti_cgroup_memory {
	uint64_t usage_bytes;       /* all of it: memory.current, or memory.usage_in_bytes */
	uint64_t anon_bytes;        /* anonymous memory of processes */
	uint64_t file_bytes;        /* page cache; with shared memory and tmpfs */
	uint64_t file_mapped_bytes; /* the part of file_bytes that processes map */
	uint64_t shmem_bytes;       /* the part of file_bytes that is shared memory and tmpfs */
};

/* Read what is charged to a cgroup now: two files. memory.stat of both versions lags a little, so
 * the parts may exceed usage_bytes. Returns 0 or -errno: -ENOENT if there is no such file. */
int rti_cgroup_read_memory(const struct rti_cgroup *group, const struct rti_context *ctx,
                           struct rti_cgroup_memory *out);

/* Read the bytes read from and written to all devices: io.stat (v2) or
 * blkio.throttle.io_service_bytes_recursive (v1).
 *
 * *is_whole is false in v1: what the kernel writes back later is charged to the root there, so only
 * reads and direct writes count.
 *
 * Returns 0 or -errno: -ENOENT if there is no such file; -ENODATA if v1 shows no device. Then
 * nothing was read or written, or the kernel does not count. E.g.: Linux 6.18 counts only on
 * devices with a limit in some cgroup. */
int rti_cgroup_read_io(const struct rti_cgroup *group, const struct rti_context *ctx,
                       uint64_t *read_bytes, uint64_t *write_bytes, bool *is_whole);

/* Read the largest number of threads at the same time: pids.peak (since 6.1, both versions).
 * Returns 0 or -errno: -ENOENT if there is no such file. */
int rti_cgroup_read_tasks_peak(const struct rti_cgroup *group, const struct rti_context *ctx,
                               uint64_t *tasks);

#endif
