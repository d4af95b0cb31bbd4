/* SPDX-License-Identifier: MIT */
/* Waiting for a command, and polling for peaks of memory meanwhile. */
#include "command/wait.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <rtrack/rtrack.h>

#include "api/peak_poll.h"
#include "api/struct_size.h"
#include "collect/pid_stat.h"
#include "command/cgroup_watch.h"
#include "command/event_loop.h"
#include "command/outcome.h"
#include "os/process/pidfd.h"
#include "util/arith.h"

#define LOOK_EVERY_NS 5000000 /* where there is no pidfd (before Linux 5.3) */
/* No sleep is longer: another thread may have received the report that this one waits for. */
#define SLEEP_MAX_NS 1000000000u

void rti_wait_begin(struct rt_command *c)
{
	c->next_poll_ns = c->start.monotonic_ns + RTI_PEAK_POLL_NS;
	rti_cgroup_watch_begin(c);
}

/* For a child of our own, or a program that has lost its supervisor. Returns 0, -ETIMEDOUT or
 * -EINTR. */
static int wait_by_looking(const struct rt_command *c, int64_t timeout_ns)
{
	const struct timespec nap = { .tv_nsec = LOOK_EVERY_NS };

	for (int64_t waited_ns = 0;; waited_ns += LOOK_EVERY_NS) {
		siginfo_t info = { 0 };
		bool is_gone =
		    waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT | WNOHANG) < 0 &&
		    kill(c->pid, 0) < 0 && errno == ESRCH;

		if (is_gone || info.si_pid == c->pid)
			return 0;
		if (waited_ns >= timeout_ns || c->interrupt.is_pending)
			return -ETIMEDOUT;
		if (nanosleep(&nap, NULL) < 0)
			return -EINTR;
	}
}

static int wait_by_pidfd(const struct rt_command *c, int64_t timeout_ns)
{
	uint64_t nap_ns = rti_min((uint64_t)timeout_ns, LOOK_EVERY_NS);
	const struct timespec nap = { .tv_nsec = (long)nap_ns };
	siginfo_t info = { 0 };
	int err = rti_pidfd_wait(c->pidfd, c->interrupt.fd, timeout_ns);

	/* A filter of system calls refuses ppoll(2). */
	if (err < 0 && err != -EINTR && err != -ETIMEDOUT)
		return wait_by_looking(c, timeout_ns);
	/* A child of our own that has ended may be kept by its debugger, which comes first. */
	if (err < 0 || waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT | WNOHANG) < 0 ||
	    info.si_pid != 0 || rti_pidfd_signal(c->pidfd, c->pid, 0) < 0)
		return err;
	return nanosleep(&nap, NULL) < 0 ? -EINTR : -ETIMEDOUT;
}

/* Returns 0, -EINTR, or -ETIMEDOUT, which may come before the time is over. */
static int wait_for_exit(struct rt_command *c, int64_t timeout_ns)
{
	int err;

	rti_lock_release(&c->lock);
	err = c->pidfd < 0 ? wait_by_looking(c, timeout_ns) : wait_by_pidfd(c, timeout_ns);
	rti_lock_take(&c->lock);
	return err;
}

static uint64_t now_ns(const struct rt_command *c)
{
	struct rti_now now;

	c->tracker->platform.now(&now);
	return now.monotonic_ns;
}

/* Without a pidfd (before Linux 5.3), by the file of the program. */
static bool has_program_ended(const struct rt_command *c)
{
	struct rti_pid_stat stat;
	int err;

	if (c->pidfd >= 0)
		return rti_pidfd_wait(c->pidfd, -1, 0) == 0;
	err = rti_pid_stat_read(&c->tracker->ctx, c->pid, NULL, &stat);
	return err == -ESRCH || (err == 0 && rti_pid_stat_is_zombie(&stat));
}

/* Whether the program has ended and its supervisor, which has not reported it, is given up. It may
 * be stopped: then it is continued. */
static bool does_without_report(struct rt_command *c)
{
	uint64_t now = now_ns(c);

	if (!c->late.ended_ns && has_program_ended(c))
		rti_late_report_begin(&c->late, &c->tracker->platform.waits, now,
		                      rti_command_supervisor_cpu_ns(c));
	if (!rti_late_report_is_late(&c->late, now))
		return false;
	rti_supervisor_continue(&c->supervisor);
	return rti_late_report_is_given_up(&c->late, now, rti_command_supervisor_cpu_ns(c),
	                                   c->is_report_unwanted);
}

/* Returns 0 too if the program has ended and its supervisor is given up, and -ETIMEDOUT also before
 * the time is over. */
static int wait_for_supervisor(struct rt_command *c, int64_t timeout_ns)
{
	int err = rti_supervisor_receive_exit(&c->supervisor);
	struct rti_supervisor_sleep sleep;

	if (err == -EAGAIN) {
		rti_supervisor_prepare_sleep(&c->supervisor, c->late.ended_ns ? -1 : c->pidfd,
		                             &sleep);
		sleep.wakers[3].fd = c->interrupt.fd;
		rti_lock_release(&c->lock);
		err = rti_supervisor_sleep(&sleep, timeout_ns);
		rti_lock_take(&c->lock);
		if (err == 0)
			err = rti_supervisor_receive_exit(&c->supervisor);
		if (err == -EAGAIN)
			err = -ETIMEDOUT;
	}
	/* The supervisor is gone, but the program may run on. */
	if (err == -ECHILD)
		return wait_for_exit(c, timeout_ns);
	if (err == -ETIMEDOUT && does_without_report(c))
		err = 0;
	return err;
}

/* A recorder polls by itself. */
static void poll_peak(struct rt_command *c, uint64_t now_ns)
{
	uint64_t pace_ns = RTI_PEAK_POLL_NS;

	if (!c->tracker->recorder_pid && rti_peak_poll(c->tracker, &pace_ns) < 0)
		c->next_poll_ns = UINT64_MAX; /* memory is not wanted */
	else
		c->next_poll_ns = now_ns + pace_ns;
}

/* A negative time has no bound. Returns 0 as well if another thread has waited to the end. */
static int wait_and_poll(struct rt_command *c, int64_t timeout_ns, bool may_interrupt)
{
	uint64_t now = now_ns(c);
	uint64_t end_ns = timeout_ns < 0 ? UINT64_MAX : now + (uint64_t)timeout_ns;

	if (may_interrupt && rti_interrupt_take(&c->interrupt))
		return -EINTR;
	while (!c->is_over) {
		uint64_t take_ns = rti_min(rti_command_account_take(&c->account, now), end_ns);
		uint64_t next_ns = rti_min(rti_min(c->next_poll_ns, c->next_look_ns), take_ns);
		uint64_t report_ns = rti_late_report_next_ns(&c->late, now);
		uint64_t until_ns = rti_min(rti_min(next_ns, report_ns), now + SLEEP_MAX_NS);
		int64_t left_ns = until_ns > now ? (int64_t)(until_ns - now) : 0;
		int err = rti_command_is_supervised(c) ? wait_for_supervisor(c, left_ns)
		                                       : wait_for_exit(c, left_ns);

		if (c->is_over)
			break;
		if (err != -ETIMEDOUT)
			return err;
		if (may_interrupt && rti_interrupt_take(&c->interrupt))
			return -EINTR;
		now = now_ns(c);
		if (now >= c->next_poll_ns)
			poll_peak(c, now);
		if (now >= c->next_look_ns)
			rti_cgroup_watch_look(c);
		if (now >= end_ns)
			return -ETIMEDOUT;
	}
	return 0;
}

/* Returns 0 once the command is over, -ETIMEDOUT or -EINTR. */
static int wait_to_end(struct rt_command *c, int64_t timeout_ns, bool may_interrupt)
{
	int err = wait_and_poll(c, timeout_ns, may_interrupt);

	if (err == -ETIMEDOUT || err == -EINTR)
		return err;
	if (c->is_over)
		return 0;
	rti_cgroup_watch_look(c);
	c->result = rti_outcome_finish(c);
	c->is_over = true;
	return 0;
}

static int wait_locked(struct rt_command *c, int64_t timeout_ns, struct rt_outcome *out,
                       size_t out_size)
{
	/* A call that does not wait leaves an interrupt to one that does. */
	bool may_interrupt = timeout_ns != 0;
	int err;

	err = rti_tracker_take(c->tracker);
	if (err < 0)
		return err;
	rti_event_loop_begin(c);
	do {
		err = wait_to_end(c, timeout_ns, may_interrupt);
	} while (err == -EINTR && !may_interrupt);
	rti_event_loop_end(c);
	if (err == 0) {
		err = c->result;
		if (out)
			rti_struct_copy_out(out, out_size, &c->outcome, sizeof(c->outcome));
	}
	rti_lock_release(&c->lock);
	return err;
}

int rt_command_wait(struct rt_command *c, int64_t timeout_ns, struct rt_outcome *out,
                    size_t out_size)
{
	if (!c)
		return -EFAULT;
	if (out && rti_struct_check_size(out_size, RTI_OUTCOME_V1) < 0)
		return -EINVAL;
	return wait_locked(c, timeout_ns, out, out_size);
}

int rt_command_interrupt(struct rt_command *c)
{
	if (!c)
		return -EFAULT;
	if (c->tracker->platform.getpid() != c->owner)
		return -EPERM;
	rti_interrupt_raise(&c->interrupt);
	return 0;
}
