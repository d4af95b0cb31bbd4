/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The interface between the library, the plug-in and the BPF programs that watch a tree: which of
 * its processes have run since the last sample, and which were forked.
 *
 * All three are of one release. The layout is not stable and no other program may rely on it. Times
 * are ns. */
#ifndef RTI_BPF_WATCH_H
#define RTI_BPF_WATCH_H

#ifdef __bpf__
typedef int int32_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#else
#include <stddef.h>
#include <stdint.h>
#endif

#define RTI_WATCH_PLUGIN 2u /* changes whenever anything here does */

#define RTI_WATCH_GROUP 64u /* pids in a group */

/* So many pids in a row, a bit for each. A pid is as the reader sees it, so there is a bit for each
 * that there may be, and none can be missing. */
struct rti_watch_group {
	uint64_t changed; /* it has run, was forked, or has begun to exit; cleared by the reader */
	uint64_t forked;  /* by a process of the tree; cleared by the reader */
	uint64_t marked;  /* a thread of it has a mark; cleared by the reader before a search */
	uint64_t wanted;  /* written by the reader: the search is to mark its threads */
};

#define RTI_WATCH_CPUS_MAX 8192u
/* Each CPU may add two. What does not fit comes as a change once it leaves its CPU. */
#define RTI_WATCH_RUNNING_MAX (2 * RTI_WATCH_CPUS_MAX)

/* What the BPF programs and the plug-in share. */
struct rti_watch_shared {
	uint64_t spared;    /* marks that found no storage */
	uint64_t unmarked;  /* threads for which there was no mark */
	uint64_t reclaims;  /* the kernel has reclaimed memory of any process so often */
	uint64_t found;     /* by the last search: threads that had no mark */
	uint64_t before_ns; /* written by the plug-in: of the search, as the kernel has it */
	uint64_t began_ns;  /* when the watch began, as the kernel has it: CLOCK_BOOTTIME */
	/* By the last run of list_on_cpu: switches on all CPUs so far, and pids seen on a CPU,
	 * which may be of any process of the system, repeat, and be out of date. */
	uint64_t switches, running_count;
	uint32_t running[RTI_WATCH_RUNNING_MAX];
};

/* Constants of the BPF programs: set before they are loaded. */
struct rti_watch_settings {
	uint32_t cpus;          /* that there may be, RTI_WATCH_CPUS_MAX at most */
	uint32_t lacks_storage; /* for tests: behave as if there were none */
};

#ifndef __bpf__
#include <stdbool.h>

struct rti_watch_change {
	int32_t pid;
	bool is_forked;  /* since the last time, by a process of the tree */
	bool is_running; /* seen on a CPU; it may be a process outside of the tree */
};

struct rti_watch_counts {
	uint64_t switches; /* on all CPUs from the begin of the watch to the last take() */
	uint64_t reclaims, unmarked;
};

/* What the plug-in exports as RTI_WATCH_ENTRY. Each function with a result returns -ESTALE in a
 * process that was forked since open(). */
struct rti_watch_ops {
	uint32_t version; /* RTI_WATCH_PLUGIN */
	uint32_t change_size;
	/* Load the programs and begin. Nothing is marked yet. Returns 0; -EPERM; -EOPNOTSUPP if the
	 * kernel lacks something; -EBADF if descriptor 0 is not open; or another -errno. */
	int (*open)(void **out);
	/* Name a process that the next search marks. */
	void (*want)(void *state, int32_t pid);
	/* Mark all threads of the processes that were named, as far as these were started before
	 * this time of CLOCK_BOOTTIME, and those of children of marked ones. Returns how many had
	 * no mark, or -errno. */
	int (*search)(void *state, uint64_t before_ns);
	/* Whether a process had a thread with a mark in the last search, or was forked since. */
	bool (*is_marked)(const void *state, int32_t pid);
	/* Take processes that have changed since they were taken last, and all that run now, also
	 * outside of the tree. The rest stays for the next call. At least RTI_WATCH_ROOM_MIN must
	 * fit. Returns how many, or -errno. */
	int (*take)(void *state, struct rti_watch_change *changes, size_t room, bool *has_more);
	void (*count)(const void *state, struct rti_watch_counts *out);
	void (*close)(void *state);
};

#define RTI_WATCH_ROOM_MIN (RTI_WATCH_RUNNING_MAX + RTI_WATCH_GROUP)
#define RTI_WATCH_ENTRY "rti_bpf_watch" /* the name of a const struct rti_watch_ops */
#endif

#endif
