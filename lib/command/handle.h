/* SPDX-License-Identifier: MIT */
/* The handle behind struct rt_command. */
#ifndef RTI_HANDLE_H
#define RTI_HANDLE_H

#include <stdatomic.h>

#include "api/tracker.h"
#include "command/bpf_account.h"
#include "command/late_report.h"
#include "command/process_list.h"
#include "command/supervisor_client.h"
#include "os/cgroup/cgroup.h"
#include "os/thread/interrupt.h"
#include "os/thread/lock.h"
#include "os/wakeup.h"

/* Of rt_command_opts.flags, all that are known. */
#define RTI_COMMAND_FLAGS                                                                          \
	(RT_COMMAND_LIST_PROCESSES | RT_COMMAND_NEW_GROUP | RT_COMMAND_NEW_SESSION |               \
	 RT_COMMAND_ONLY_FDS | RT_COMMAND_KILL_ON_FREE | RT_COMMAND_SUBREAPER_SELF)

/* Any call but rt_command_free() may come from any thread. All but rt_command_signal() and
 * rt_command_interrupt(), which must be async-signal-safe, hold the lock, except while they sleep.
 * So what these two read is constant or atomic. */
struct rt_command {
	struct rti_lock lock; /* its tracker has it, too */

	/* Written by command.c at the start. */
	int32_t owner;               /* pid of the process that started the command */
	int32_t pid;                 /* of the program */
	int pidfd;                   /* of the program; -1 before Linux 5.3 */
	uint32_t accounting;         /* RT_ACCOUNTING_ value in use */
	bool has_list;               /* of processes */
	bool is_killed_on_free;      /* RT_COMMAND_KILL_ON_FREE */
	bool may_be_supervisor;      /* RT_COMMAND_SUBREAPER_SELF */
	bool lacks_supervisor;       /* none could be started, so AUTO uses POLL */
	struct rti_cgroup enclosing; /* our own cgroup, which bounds what the program can use */
	uint64_t enclosing_ns;       /* CPU time used in it before the start; UINT64_MAX: unknown */
	struct rt_tracker *tracker;
	struct rti_now start;
	uint64_t start_end_ns; /* of the start of the program, CLOCK_MONOTONIC; UINT64_MAX: none */

	/* Written by supervisor_client.c. Its socket is -1 if the program is our own child. */
	struct rti_supervisor supervisor;

	/* Written by wait.c. */
	atomic_bool is_over;
	uint64_t next_poll_ns; /* CLOCK_MONOTONIC: of memory peaks */
	int result;            /* of rt_command_wait(), once it is over */

	/* Written by late_report.c. */
	struct rti_late_report late;

	/* Written by rt_command_signal(), perhaps in a signal handler: the program has ended, and
	 * the caller does not want to wait for its supervisor. */
	atomic_bool is_report_unwanted;

	/* Written by rt_command_interrupt(), perhaps in a signal handler, and by wait.c: one wait
	 * is to end. */
	struct rti_interrupt interrupt;

	/* Written by cgroup_watch.c: when to look at the members next, CLOCK_MONOTONIC. It also
	 * writes what has left a cgroup to that. */
	uint64_t next_look_ns;

	/* Of the start (command.c), the end (outcome.c) and cgroup_watch.c, tracker excluded. */
	uint64_t overhead_ns;

	/* Written by outcome.c. */
	bool is_supervisor_lost; /* the supervisor has not reported all that it knows */
	uint32_t lost_reasons;   /* RT_REASON_ bits that stay, whatever happens later */
	struct rt_outcome outcome;

	struct rti_process_list process_list; /* written by process_list.c */
	struct rti_command_account account;   /* written by bpf_account.c */

	/* For the event loop of a host, opened once it asks. Written by event_loop.c. Apart, since
	 * rt_command_fd() takes a command that is const. */
	struct rti_wakeup *wakeup;
};

/* CPU time of the supervisor: one that uses none while a report of it is due may be stopped. The
 * caller itself has nothing to wait for. */
static inline uint64_t rti_command_supervisor_cpu_ns(const struct rt_command *c)
{
	struct rti_cpu_clock clock = { 0 };

	if (c->supervisor.is_own)
		return 0;
	c->tracker->platform.cpu_clock(c->supervisor.supervisor_pid, &clock);
	return clock.total_ns;
}

static inline bool rti_command_is_supervised(const struct rt_command *c)
{
	return c->accounting != RT_ACCOUNTING_POLL;
}

#endif
