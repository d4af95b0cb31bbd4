/* SPDX-License-Identifier: MIT */
/* Finds what to attach to by what people know: the name of a process, of a systemd unit, or the id
 * of a container. */
#ifndef TARGETS_H
#define TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#define TARGET_PATH_MAX 1024
#define TARGET_MISSING -1

/* Each finds the only one that matches. Returns 0; TARGET_MISSING if none does; or an exit code
 * after a message that says what is wrong, and lists the matches if there are several.
 *
 * watch: an inotify descriptor, or -1. It becomes readable when a cgroup is made in a directory in
 * which one was looked for. Processes show in no such way. */

/* A process by its name, or by the file name of its first argument: an extended regular expression
 * that matches the whole name. rtrack itself is never found. pid receives a decimal number. */
int target_find_process(const char *regex, int watch, char pid[TARGET_PATH_MAX]);

/* Say what a name is, and list the processes that have the expression in their command line. */
void target_explain_process(const char *regex);

/* Say if there can be no unit. */
void target_explain_unit(const char *name);

/* Whether a process has a name that matches, still. */
bool target_is_process(const char *regex, int32_t pid);

/* A cgroup by its name, which is copied. One that cannot be used for another reason than that it is
 * missing counts as found. */
int target_find_cgroup(const char *name, int watch, char path[TARGET_PATH_MAX]);

/* The cgroup of a unit, e.g. "cron.service" or "cron", as a path below the mounts. */
int target_find_unit(const char *name, int watch, char path[TARGET_PATH_MAX]);

/* The cgroup of a container by the beginning of its id, as docker, podman, containerd and CRI-O
 * write it into names of cgroups. */
int target_find_container(const char *id, int watch, char path[TARGET_PATH_MAX]);

#endif
