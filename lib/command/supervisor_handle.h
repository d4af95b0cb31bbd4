/* SPDX-License-Identifier: MIT */
/* What the library knows of the supervisor of a command: a process of its own, or the caller. */
#ifndef RTI_SUPERVISOR_HANDLE_H
#define RTI_SUPERVISOR_HANDLE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "os/context.h"
#include "os/process/spawn.h"
#include "os/protocol/supervisor_protocol.h"
#include "tree/pure/reaped.h"

/* Written by supervisor_client.c and own_supervisor.c only. */
struct rti_supervisor {
	int32_t supervisor_pid, program_pid;
	int socket; /* -1 once closed, and if is_own */
	int memory; /* shared stats and records; -1 once closed, and if is_own */
	struct rti_shared_stats *shared;              /* NULL once closed */
	struct rti_report started, exited, accounted; /* kind 0: not received yet */
	bool is_own; /* the caller is its own supervisor; cleared once that is closed */
	/* Written by own_supervisor.c: what it has reaped so far. */
	struct rti_reaped reaped;
	uint64_t own_cpu_ns; /* CPU time of the caller for it while it waits */
	/* Why nothing was started: -ENOPKG, none is installed; -EPROTO, it speaks another protocol;
	 * -ECHILD, it ended before it started anything; -ETIMEDOUT, it did not begin in time; or
	 * what a system call before the launch failed with, e.g. -EMFILE or -EPERM. Or why it was
	 * killed: -EBUSY, it was stopped or frozen; -ETIME, the time of the start was over. 0: none
	 * of these. */
	int error;
};

struct rti_supervisor_opts {
	struct rti_spawn program;
	const char *cgroup;      /* to start it in, or "" */
	const char *start_flags; /* RTI_START_ letters */
	bool may_be_caller;      /* the caller may be its own supervisor */
	uint64_t end_ns;         /* of the start, CLOCK_MONOTONIC; UINT64_MAX: none */
	const struct rti_context *ctx;
};

/* What a sleep is for. */
struct rti_supervisor_sleep {
	struct pollfd wakers[4]; /* the first is of the program, the last of another thread */
	int64_t max_ns;          /* it ends early, to look again */
};

/* Keep a report that was received. */
static inline void rti_supervisor_keep_report(struct rti_supervisor *s,
                                              const struct rti_report *report)
{
	if (report->kind == RTI_EXITED)
		s->exited = *report;
	else if (report->kind == RTI_ACCOUNTED)
		s->accounted = *report;
	else
		s->started = *report;
}

#endif
