/* SPDX-License-Identifier: MIT */
/* The pids that the kernel has given out since an earlier scan: a process that is new in a tree has
 * one of them.
 *
 * To ask whether a pid is that of a process takes 0.15 us, and opens no file. So it is cheaper to
 * look at these pids than to list the children of each member that has run. E.g.: of a tree of 1000
 * processes all have run, and other programs have forked 200 times: 200 pids are looked at, instead
 * of 1000 files. */
#ifndef RTI_NEWBORNS_H
#define RTI_NEWBORNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/context.h"

/* A fork that has its pid already may not show in /proc yet, if it waits for a CPU or a lock. So a
 * range begins this long ago at least, and two scans ago. */
#define RTI_NEWBORN_OVERLAP_NS 250000000u

/* What was known in a scan: all pids up to this one were looked at. */
struct rti_newborn_mark {
	uint64_t last_pid; /* given out by then; 0: there is no such scan */
	uint64_t forks;    /* on the machine since its boot, of threads too */
	uint64_t at_ns;
};

/* Written by newborns.c only. */
struct rti_newborns {
	struct rti_newborn_mark now, latest, before; /* this scan; the last one; an older one */
	struct rti_file stat;
	uint64_t pid_max;      /* 0: not read yet */
	uint64_t listed_at_ns; /* until when children files were listed in turn */
	size_t listed_next;    /* the member that is next */
	uint64_t looks;        /* so far, at all pids of a range */
	bool has_hidden;       /* a pid was given to a process that cannot be looked at */
};

#define RTI_NEWBORNS_INIT                                                                          \
	{                                                                                          \
		.stat = RTI_FILE_INIT                                                              \
	}

/* Pids in the order in which they are given out: those behind from, up to to. If to is less, they
 * begin again at 1 behind last. */
struct rti_pid_range {
	uint64_t from, to, last;
};

/* Pure. How many pids a range has. */
uint64_t rti_pid_range_count(const struct rti_pid_range *range);

/* Pure. The pids that were given out between two scans. Returns false if that is not known: one of
 * the marks is missing, or so many forks were made that pids may have been given out twice. */
bool rti_newborns_find_range(const struct rti_newborn_mark *from, const struct rti_newborn_mark *to,
                             uint64_t pid_max, struct rti_pid_range *out);

/* Begin a scan in which it would pay to look at newborns. last_pid is the one that was given out
 * last; 0: unknown. Reads one file. Returns whether the range is known. */
bool rti_newborns_begin(struct rti_newborns *newborns, const struct rti_context *ctx,
                        uint64_t last_pid, uint64_t now_ns, struct rti_pid_range *out);

/* Call look() for each pid of the range that is a process, in the order in which the pids were
 * given out. So a parent comes before its children. Returns 0; or what look() returns if that is
 * not 0: then looks at newborns are given up for good. */
int rti_newborns_look(struct rti_newborns *newborns, const struct rti_context *ctx,
                      const struct rti_pid_range *range, int (*look)(void *arg, int32_t pid),
                      void *arg);

/* The scan that was begun has found all processes with a pid of the range. */
void rti_newborns_end(struct rti_newborns *newborns);

/* How many of count members are to have their children files listed now, so that each of them is
 * listed every 16 s: a process with a pid that was chosen for it (clone3(2) with set_tid) is found
 * by that alone. */
size_t rti_newborns_take_turns(struct rti_newborns *newborns, size_t count, uint64_t now_ns);

void rti_newborns_free(struct rti_newborns *newborns, const struct rti_context *ctx);

#endif
