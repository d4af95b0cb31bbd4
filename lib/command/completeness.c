/* SPDX-License-Identifier: MIT */
/* Completeness: what an outcome may claim to know, and which of its figures are lower bounds. */
#include "command/completeness.h"

#include <rtrack/rtrack.h>

#include "command/cpu_bounds.h"
#include "os/cpu_time.h"
#include "os/protocol/supervisor_protocol.h"
#include "util/arith.h"

/* A thread reaps itself (kernel/exit.c, release_task()), and uses some more CPU time before it
 * leaves the CPU. That is in the account of the cgroup alone. Linux 6.18, means of 40 threads: 2 to
 * 7 us on an idle system, 36 to 46 us on a busy one. */
#define THREAD_TAIL_NS 50000u

/* The least CPU time of a process that does I/O or has memory of its own. */
#define PROCESS_MIN_NS 1000000u
#define FEW_TAILS_NS 200000u /* of a few threads */

/* What may be off in an account of processes that were waited for: a process that is waited for
 * while it leaves the CPU uses a few more microseconds. */
static uint64_t noise_ns(uint64_t total_ns)
{
	return total_ns / 100 + RTI_TICK_MAX_NS;
}

/* Above this, some process is missing. Measured: an account that lacks none is off by less. */
static uint64_t missing_process_ns(const struct rti_completeness_known *known)
{
	uint64_t tails_ns = known->threads == UINT64_MAX ? 0 : known->threads * THREAD_TAIL_NS;

	return PROCESS_MIN_NS + known->total_ns / 500 + tails_ns;
}

/* A process has moved to another cgroup, or more was waited for than the cgroup used. */
static bool has_left_cgroup(const struct rti_completeness_known *known)
{
	return known->left_cgroup != RTI_LEFT_NONE || known->is_above_cgroup;
}

/* The cgroup accounts for the whole tree. A process that killed the supervisor may have moved
 * others. */
static bool is_covered(const struct rti_completeness_known *known)
{
	return known->is_covered_by_cgroup && !has_left_cgroup(known) && !known->is_supervisor_lost;
}

/* Process events prove that every process was waited for, but for short-lived ones. */
static bool is_waited_for(const struct rti_completeness_known *known)
{
	return !known->is_supervisor_lost && known->threads != UINT64_MAX &&
	       known->unproven_ns <= rti_cpu_bounds_unnoticed(known->total_ns) &&
	       known->total_ns <= known->accounted_ns + missing_process_ns(known);
}

/* A thread that exits may lose the time since the last tick: the scheduler updates its account then
 * at the latest (kernel/sched/fair.c, entity_tick()). So may a process, in theory, if its parent
 * waits for it before it has left the CPU. */
static uint64_t error_ns(const struct rti_completeness_known *known)
{
	uint64_t of_processes_ns = rti_multiply_saturated(known->processes, known->tick_ns);
	uint64_t of_threads_ns = rti_multiply_saturated(known->threads, known->tick_ns);

	if (of_processes_ns > noise_ns(known->total_ns))
		of_processes_ns = noise_ns(known->total_ns);
	return rti_add_saturated(rti_add_saturated(of_processes_ns, of_threads_ns),
	                         known->unproven_ns);
}

static struct rti_cpu_bounds_known bounds_known(const struct rti_completeness_known *known)
{
	/* Whether the account of the cgroup around the tree lacks a process. */
	bool is_enclosing_left = known->left_cgroup == RTI_LEFT_NONE
	                             ? known->is_above_cgroup
	                             : known->left_cgroup == RTI_LEFT_OURS;

	return (struct rti_cpu_bounds_known){
		.low_ns = known->total_ns,
		.growth_ns = is_enclosing_left ? UINT64_MAX : known->growth_ns,
		.overhead_ns = known->overhead_ns,
		.lag_ns = known->lag_ns,
		.is_covered_by_cgroup = is_covered(known),
		.is_running = known->is_running,
		.is_waited_for = is_waited_for(known),
		.error_ns = error_ns(known),
	};
}

/* Whether processes are missing from the accounts of members without a reason that samples have
 * seen. The cgroup's CPU time shows it, or process events do. */
static bool lacks_processes(const struct rti_completeness_known *known, bool is_covered)
{
	uint64_t least_ns = missing_process_ns(known);
	uint64_t unproven_ns = is_covered ? known->unwaited_ns : known->unproven_ns;

	return (is_covered && known->total_ns > known->accounted_ns + least_ns) ||
	       (unproven_ns != UINT64_MAX && unproven_ns > least_ns);
}

/* How many threads have ended is known from process events. */
static bool is_cpu_short(const struct rti_completeness_known *known, bool is_covered)
{
	uint64_t tails_ns;

	if (is_covered)
		return false;
	if (known->threads == UINT64_MAX)
		return known->has_threads;
	tails_ns = rti_multiply_saturated(known->threads, THREAD_TAIL_NS);
	return tails_ns > known->total_ns / 1000 + FEW_TAILS_NS;
}

/* Why members may lack something, as samples have seen it. If each process was waited for, none was
 * reaped by the kernel, even if some process ignores SIGCHLD. */
static uint32_t seen_reasons(const struct rti_completeness_known *known)
{
	if (known->unproven_ns == 0 && !known->is_supervisor_lost && !known->is_running)
		return known->reasons & ~RT_REASON_SIGCHLD_IGNORED;
	return known->reasons;
}

static uint32_t cpu_reasons(const struct rti_completeness_known *known,
                            const struct rti_cpu_bounds_known *bounds)
{
	uint32_t reasons = bounds->is_covered_by_cgroup ? 0 : seen_reasons(known);

	if (known->is_running)
		reasons |= RT_REASON_LEFT_RUNNING;
	if (has_left_cgroup(known) && !bounds->is_waited_for)
		reasons |= RT_REASON_LEFT_CGROUP;
	if (rti_cpu_bounds(bounds).is_unverified)
		reasons |= RT_REASON_UNVERIFIED;
	return reasons;
}

struct rti_completeness rti_completeness(const struct rti_completeness_known *known)
{
	const uint32_t of_cpu_alone =
	    RT_REASON_LEFT_RUNNING | RT_REASON_CLOCK_TICKS | RT_REASON_ACCOUNT_RESET;
	struct rti_cpu_bounds_known known_bounds;
	struct rti_completeness out;
	struct rti_cpu_bounds bounds;

	/* Its CPU clock was read when it had ended and was not waited for yet. So nothing is
	 * missing but what threads that have ended may have lost. */
	if (known->is_alone)
		return (struct rti_completeness){
			.member_reasons = known->reasons,
			.is_member_short = known->reasons != 0,
			.reasons = known->reasons,
			.is_cpu_short = is_cpu_short(known, false),
			.low_ns = known->total_ns,
			.high_ns = known->reasons ? UINT64_MAX : known->total_ns,
		};
	known_bounds = bounds_known(known);
	out = (struct rti_completeness){ .reasons = cpu_reasons(known, &known_bounds) };
	out.member_reasons = (seen_reasons(known) | out.reasons) & ~of_cpu_alone;
	out.is_member_short =
	    out.member_reasons != 0 || lacks_processes(known, known_bounds.is_covered_by_cgroup);
	/* A reason says that the proof may lack something. */
	known_bounds.is_waited_for &= out.reasons == 0;
	out.is_cpu_short = is_cpu_short(known, known_bounds.is_covered_by_cgroup);
	bounds = rti_cpu_bounds(&known_bounds);
	out.low_ns = bounds.low_ns;
	out.high_ns = bounds.high_ns;
	return out;
}
