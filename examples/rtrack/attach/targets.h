/* SPDX-License-Identifier: MIT */
/* Finds what to attach to by what people know: the name of a process, of a systemd unit, or the id
 * of a container. */
#ifndef TARGETS_H
#define TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "text/text.h"

#define TARGET_MISSING -1

/* What is looked for: a word, and how. */
struct target {
	const char *word;
	bool is_full;    /* of a process: the word is looked for in its command line */
	bool is_all;     /* all that match are wanted */
	bool has_others; /* descendants are not followed, so that they are wanted, too */
};

/* Each finds the only one that matches, or all that are wanted, and adds them to found, each with a
 * NUL behind it. Returns 0; TARGET_MISSING if none does; or an exit code after a message that says
 * what is wrong, and lists the matches if there are several.
 *
 * watch: an inotify descriptor, or -1. It becomes readable when a cgroup is made in a directory in
 * which one was looked for. Processes show in no such way. */

/* A process by its name, or by the file name of its first argument: an extended regular expression
 * that matches the whole name. rtrack itself is never found, and of processes that descend from one
 * another, only the first. What is found are decimal numbers. */
int target_find_process(const struct target *target, int watch, struct text *found);

/* Say what a name is, and list the processes that have the expression in their command line. */
void target_explain_process(const struct target *target);

/* Whether a process matches, still. */
bool target_is_process(const struct target *target, int32_t pid);

/* Say if there can be no unit. */
void target_explain_unit(const struct target *target);

/* A cgroup by its name, which is copied. One that cannot be used for another reason than that it is
 * missing counts as found. */
int target_find_cgroup(const struct target *target, int watch, struct text *found);

/* The cgroup of a unit, e.g. "cron.service" or "cron", as a path below the mounts. */
int target_find_unit(const struct target *target, int watch, struct text *found);

/* The cgroup of a container by its name, for which docker(1) and podman(1) are asked; or by the
 * beginning of its id, as docker, podman, containerd and CRI-O write it into names of cgroups. */
int target_find_container(const struct target *target, int watch, struct text *found);

/* Say where names come from. */
void target_explain_container(const struct target *target);

#endif
