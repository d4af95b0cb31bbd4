/* SPDX-License-Identifier: MIT */
/* What everything that reads files works with: where they lie, which clocks fit them, and room
 * for one of them. */
#ifndef RTI_CONTEXT_H
#define RTI_CONTEXT_H

#include "os/platform.h"
#include "os/procfs.h"

/* What every collector of one tracker works with. Owned by the tracker. */
struct rti_context {
	const struct rti_procfs *procfs;
	const struct rti_platform *platform;
	struct rti_buf *buf; /* scratch for one read; its contents last until the next */
	uint32_t flags;      /* RT_OPT_ bits */
	uint64_t want;       /* RT_HAS_ bits; 0 is all */
};

/* The environment that fits a source: CPU clocks only where its pids are the caller's. */
void rti_context_platform(const struct rti_procfs *procfs, struct rti_platform *platform);

/* 0, or -EXDEV where the pids that a caller names mean other processes in its /proc: in a pid
 * namespace that kept an outer one. Below a root that was asked for, its pids are meant. env is
 * that of rti_context_platform(). */
int rti_context_check_pids(const struct rti_procfs *procfs, const struct rti_platform *platform);

#endif
