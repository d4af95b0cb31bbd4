/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The interface between the library, the plug-in and the BPF program that traces calls.
 *
 * All three are of one release. The layout is not stable and no other program may rely on it. */
#ifndef RTI_BPF_TRACE_H
#define RTI_BPF_TRACE_H

#include "os/protocol/trace_record.h"

/* The first 32 bits of what the ring holds: the call of a struct rti_trace_record, or one of
 * these. */
#define RTI_RING_PATH 0x100u /* struct rti_trace_path */
#define RTI_RING_END 0x200u  /* the last traced thread has ended; 64 bits */

#define RTI_PATH_PARTS_BYTES 512

/* The path of a program, before its first call. Its parts lie one after another, the last part of
 * the path first, each with a NUL. E.g.: "true\0bin\0usr\0" */
struct rti_trace_path {
	uint32_t kind;          /* RTI_RING_PATH */
	uint32_t length;        /* of parts that are used, in bytes */
	uint64_t device, inode; /* as in a record */
	char parts[RTI_PATH_PARTS_BYTES];
};

/* When the next event is to wake the reader. Set by the reader; the BPF program sets the last. */
#define RTI_WAKE_AT_ONCE 0u
#define RTI_WAKE_AT_QUARTER 1u /* once a quarter of the ring is in use */
#define RTI_WAKE_DONE 2u       /* the reader was woken and has not read since */

#define RTI_TARGET_ALL 0u
#define RTI_TARGET_PID 1u
#define RTI_TARGET_COMMAND 2u

#define RTI_UID_EXTENTS_MAX 340 /* include/linux/user_namespace.h */

/* A range of user ids: of the library's user namespace, and of the kernel. */
struct rti_uid_extent {
	uint32_t first, kernel_first, count;
};

/* What the BPF programs and the plug-in share. */
struct rti_trace_shared {
	uint64_t lost;     /* events; written by the programs */
	uint64_t threads;  /* of the tree that run; likewise */
	uint64_t unmarked; /* threads that had to be marked and could not be; likewise */
	uint64_t spared;   /* marks that found no storage, so far; likewise */
	uint64_t armed;    /* the thread that starts the command; 0: none */
	/* When the trace began, as the kernel has it outside of time namespaces: CLOCK_BOOTTIME and
	 * CLOCK_MONOTONIC. */
	uint64_t began_ns, began_monotonic_ns;
	uint32_t wake;       /* RTI_WAKE_ value */
	uint32_t found;      /* threads that a search has marked since it was 0 */
	uint32_t is_seeding; /* not all of the tree is marked yet */
	uint32_t uid_extents;
	struct rti_uid_extent uid_extent[RTI_UID_EXTENTS_MAX];
};

/* Constants of the BPF programs: set before they are loaded. */
struct rti_trace_settings {
	uint32_t calls;                            /* RTI_TRACE_ bits */
	uint32_t target;                           /* RTI_TARGET_ value */
	uint32_t quarter_bytes;                    /* of the ring */
	int32_t target_pid;                        /* with RTI_TARGET_PID */
	uint32_t has_children, wakes_for_children; /* 0 or 1 */
	uint32_t lacks_storage;                    /* 1: for tests: behave as if there were none */
	uint32_t marks_max;                        /* raw: at most so many marks; 0: MARKS_MAX */
};

#ifndef __bpf__
#include <stdbool.h>

#define RTI_TRACE_PLUGIN 1u /* changes whenever anything here or in the record does */

struct rti_trace_target {
	uint32_t kind; /* RTI_TARGET_ value */
	uint32_t calls, ring_bytes;
	int32_t pid; /* with RTI_TARGET_PID */
	bool has_children;
	bool wakes_for_children;
	bool lacks_storage; /* for tests: as if no task could have storage */
	bool is_raw;        /* raw tracepoints: for kernels that refuse the others, and for tests */
	uint32_t marks_max; /* for tests, with is_raw: 0 is the usual number */
};

/* Takes the path of a program. */
typedef void rti_trace_path_fn(void *arg, uint64_t device, uint64_t inode, const char *path);

struct rti_trace_state_of_ring {
	uint64_t lost, threads;
	bool is_over;  /* nothing that is traced runs, and all records were read */
	bool has_more; /* the ring is not empty */
};

/* What the plug-in exports as RTI_TRACE_ENTRY. */
struct rti_trace_ops {
	uint32_t version; /* RTI_TRACE_PLUGIN */
	uint32_t record_size;
	/* Load the programs and begin to trace. *out is then to be passed to the other functions.
	 * Returns 0; -ESRCH if there is no process `pid`; -EPERM; -EOPNOTSUPP if the kernel lacks
	 * something; -EBADF if descriptor 0 is not open; or another -errno. */
	int (*open)(void **out, const struct rti_trace_target *target);
	/* From now on trace what the calling thread forks, or no longer. */
	int (*arm)(void *state, bool is_armed);
	/* The ring, which is readable after a wake-up until it is empty. */
	int (*fd)(const void *state);
	/* Take at most `room` records and return how many. Paths are passed on first. */
	int (*read)(void *state, struct rti_trace_record *records, int room,
	            rti_trace_path_fn *add_path, void *arg);
	void (*get_state)(const void *state, struct rti_trace_state_of_ring *out);
	void (*set_wake)(void *state, uint32_t wake); /* RTI_WAKE_ value */
	void (*close)(void *state);
};

#define RTI_TRACE_ENTRY "rti_bpf_trace" /* the name of a const struct rti_trace_ops */
#endif

#endif
