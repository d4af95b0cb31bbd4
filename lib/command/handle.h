/* SPDX-License-Identifier: MIT */
/* The handle behind struct rt_command. */
#ifndef RTI_COMMAND_H
#define RTI_COMMAND_H

#include <signal.h>
#include <stdbool.h>

#include "api/tracker.h"
#include "command/process_list.h"
#include "command/supervisor_client.h"
#include "os/cgroup.h"

struct rt_command {
	int32_t pid; /* of the program */
	int pidfd;   /* -1 before 5.3 */
	volatile sig_atomic_t is_over;
	uint32_t accounting;
	bool has_list;
	bool wants_fork_events; /* process events are wished for */
	/* of a program without a supervisor, from before its start until its tracker takes it */
	struct rti_fork_tracker fork_tracker;
	/* socket -1 where there is no supervisor: the program is our own child */
	struct rti_supervisor supervisor;
	struct rti_cgroup cgroup;    /* of the program, until its tracker takes it */
	struct rti_cgroup enclosing; /* ours, which bounds what the program can have used */
	/* CPU time used in there before the start; UINT64_MAX: unknown */
	uint64_t enclosing_ns;
	struct rt_tracker *tracker;
	struct rti_now start;
	uint64_t overhead_ns;    /* of starting and ending; the tracker counts its own */
	uint64_t next_poll_ns;   /* CLOCK_MONOTONIC */
	bool is_supervisor_lost; /* its supervisor has not said all that it knows */
	uint32_t lost_reasons;   /* RT_REASON_ bits that stand, whoever ends after the program */
	int result;              /* of rt_command_wait(), once it is over */
	struct rt_outcome outcome;
	struct rti_process_list process_list;
};

static inline bool rti_command_is_supervised(const struct rt_command *c)
{
	return c->accounting != RT_ACCOUNTING_POLL;
}

/* The program has ended: fill the outcome. 0, or -ECHILD when its exit status is lost. */
int rti_command_finish(struct rt_command *c);

/* Some have ended since then: fill it anew. */
void rti_command_finish_again(struct rt_command *c);

#endif
