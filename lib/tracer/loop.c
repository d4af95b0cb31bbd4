/* SPDX-License-Identifier: MIT */
/* The tracer's loop: waits for stops, and lets each thread go on.
 *
 * A request to a thread fails with ESRCH if the thread was killed meanwhile. No result is checked
 * for that: the next wait reports its end. */
#include "tracer/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/kernel_abi.h"
#include "os/protocol/tracer_protocol.h"
#include "tracer/call.h"
#include "tracer/filter.h"
#include "tracer/foreign_stop.h"
#include "tracer/identity.h"
#include "tracer/tracees.h"

#define SYSCALL_STOP (SIGTRAP | 0x80) /* PTRACE_O_TRACESYSGOOD */
#define CHILDREN (-1)                 /* RUSAGE_CHILDREN */

static const struct rtt_loop *loop;
static bool has_started; /* the program was executed, or has ended */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool rtt_loop_report(const struct rtt_loop *l, uint32_t step, int error, int32_t pid)
{
	const struct rti_tracer_report report = { .step = step, .error = error, .pid = pid };

	return send(l->library, &report, sizeof(report), MSG_NOSIGNAL) == sizeof(report);
}

/* The eventfd never blocks: its count is far from full. */
static void wake_reader(void)
{
	const uint64_t one = 1;

	(void)!write(loop->event, &one, sizeof(one));
}

static void set_threads(void)
{
	atomic_store_explicit(&loop->ring->threads, rtt_tracees_count(), memory_order_relaxed);
}

/* A thread in a traced call is to stop at its return. */
static void resume(const struct rtt_tracee *tracee, int32_t tid, int signal)
{
	bool is_in_call = tracee && tracee->call.call;

	ptrace(is_in_call ? PTRACE_SYSCALL : PTRACE_CONT, tid, 0L, (long)signal);
}

/* Returns 0 or a positive errno. */
static int get_info(int32_t tid, struct rti_syscall_info *info)
{
	return ptrace(RTI_PTRACE_GET_SYSCALL_INFO, tid, sizeof(*info), info) < 0 ? errno : 0;
}

static void handle_entry(struct rtt_tracee *tracee, int32_t tid)
{
	const struct rti_trace_ring *ring = loop->ring;
	uint64_t entry_ns = now_ns();
	struct rti_syscall_info info;
	uint32_t meaning;

	if (get_info(tid, &info) || info.op != RTI_SYSCALL_INFO_SECCOMP) {
		resume(tracee, tid, 0);
		return;
	}
	meaning = rtt_filter_meaning(info.arch, info.seccomp.nr);
	if (!meaning || info.seccomp.ret_data != rtt_filter_data(meaning)) {
		rtt_foreign_stop_refuse(tid);
	} else if (!tracee) {
		if (meaning & ring->calls)
			rti_trace_ring_lose(loop->writer);
	} else if (meaning == RTT_CHANGES_IDENTITY) {
		rtt_identity_forget(tracee);
	} else if ((meaning & ring->calls) && !atomic_load(&ring->is_closed) &&
	           (ring->has_children || rtt_identity_tgid(tracee) == loop->program)) {
		/* The filter is inherited, so all descendants are traced, wanted or not. */
		rtt_call_decode(&info, meaning, &tracee->call);
		tracee->call.entry_ns = entry_ns;
	}
	resume(tracee, tid, 0);
}

static void record(struct rtt_tracee *tracee, int64_t result)
{
	struct rti_trace_record record = { .return_ns = now_ns() };
	const struct rti_trace_ring *ring = loop->ring;
	bool needs_wake;

	/* Nothing is read for a record that has no room. E.g.: the library has died. */
	if (rti_trace_ring_is_full(loop->writer)) {
		rti_trace_ring_lose(loop->writer);
		return;
	}
	rtt_call_fill(&tracee->call, tracee->tid, result, &record);
	rtt_identity_fill(tracee, &record);
	needs_wake = rti_trace_ring_put(loop->writer, &record);
	if (ring->wakes_for_children && record.call == RTI_TRACE_GETRUSAGE &&
	    record.who == CHILDREN)
		needs_wake = true;
	if (needs_wake)
		wake_reader();
}

static void handle_return(struct rtt_tracee *tracee, int32_t tid)
{
	struct rti_syscall_info info;

	if (tracee && tracee->call.call && get_info(tid, &info) == 0 &&
	    info.op == RTI_SYSCALL_INFO_EXIT) {
		record(tracee, info.exit.rval);
		tracee->call.call = 0;
	}
	resume(tracee, tid, 0);
}

/* The library waits for this. If memory is too short to send it, the tracer ends, and with it the
 * program, which has not run an instruction (PTRACE_O_EXITKILL). If the library is gone, the
 * program runs. */
static void report_start(uint32_t step, int error)
{
	if (!rtt_loop_report(loop, step, error, 0) && errno != EPIPE)
		_exit(2);
	has_started = true;
}

/* The exec has ended all other threads of the process. The one that called it has the number of the
 * process from now on. */
static void handle_exec(struct rtt_tracee *tracee, int32_t tid)
{
	unsigned long former = 0;
	struct rti_syscall_info info;
	int error;

	if (ptrace(PTRACE_GETEVENTMSG, tid, 0L, &former) == 0 && (int32_t)former != tid)
		rtt_tracees_remove((int32_t)former);
	if (tracee) {
		rtt_identity_forget(tracee);
		tracee->call.call = 0;
	}
	if (tid == loop->program && !has_started) {
		error = get_info(tid, &info);
		/* It has not run an instruction. */
		if (error && error != ESRCH)
			kill(tid, SIGKILL);
		report_start(error && error != ESRCH ? RTI_TRACER_INFORMED : RTI_TRACER_STARTED,
		             error);
	}
	resume(tracee, tid, 0);
}

/* The starter says why it could not execute the program; if not, it was killed. Then the program
 * counts as started: without a tracer it would have been killed, too. */
static void handle_end(int32_t tid, int status)
{
	struct rti_starter_message message;

	rtt_tracees_remove(tid);
	if (tid != loop->program || has_started)
		return;
	if (recv(loop->starter, &message, sizeof(message), MSG_DONTWAIT) == sizeof(message))
		report_start(message.step, message.error);
	else
		report_start(WIFSIGNALED(status) ? RTI_TRACER_STARTED : RTI_TRACER_SILENT, 0);
}

static void handle_stop(int32_t tid, int status)
{
	struct rtt_tracee *tracee = rtt_tracees_get(tid);
	int signal = WSTOPSIG(status);

	switch (status >> 16) {
	case PTRACE_EVENT_SECCOMP:
		handle_entry(tracee, tid);
		break;
	case PTRACE_EVENT_EXEC:
		handle_exec(tracee, tid);
		break;
	case PTRACE_EVENT_STOP:
		/* A new thread, the end of a group stop, or a group stop: the thread stays stopped
		 * until SIGCONT, as it would without a tracer. */
		if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN ||
		    signal == SIGTTOU)
			ptrace(PTRACE_LISTEN, tid, 0L, 0L);
		else
			resume(tracee, tid, 0);
		break;
	case 0:
		if (signal == SYSCALL_STOP)
			handle_return(tracee, tid);
		else
			resume(tracee, tid, signal); /* the kernel keeps its siginfo */
		break;
	default: /* a fork */
		resume(tracee, tid, 0);
		break;
	}
}

void rtt_loop_run(const struct rtt_loop *l)
{
	int status;
	pid_t tid;

	loop = l;
	rtt_tracees_get(l->program);
	set_threads();
	/* ECHILD: all have ended. */
	while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (tid <= 0)
			continue;
		if (WIFSTOPPED(status))
			handle_stop(tid, status);
		else
			handle_end(tid, status);
		set_threads();
	}
	atomic_store(&l->ring->threads, 0);
	atomic_store(&l->ring->is_over, 1);
	wake_reader();
}
