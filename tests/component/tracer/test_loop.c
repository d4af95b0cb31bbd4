/* SPDX-License-Identifier: MIT */
/* The tracer's loop on stops of the test's own: what each thread goes on with, and what is recorded
 * and reported. The test takes the place of the kernel and of the tracer's other files. */
#include "tracer/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/kernel_abi.h"
#include "os/protocol/tracer_protocol.h"
#include "suite.h"
#include "tracer/call.h"
#include "tracer/filter.h"
#include "tracer/foreign_stop.h"
#include "tracer/identity.h"
#include "tracer/tracees.h"

#define PROGRAM 4711
#define THREAD 4712
#define OTHER_PROCESS 5000
#define GETRUSAGE 98u /* of x86-64 */
#define WAIT4 61u
#define SETUID 105u
#define UNKNOWN_CALL 1u
#define FOREIGN_DATA 7u
#define REQUESTS_MAX 16
#define RECORDS 16u

/* Statuses as waitpid(2) has them. */
#define STOP(event, signal) ((event) << 16 | (signal) << 8 | 0x7f)
#define ENTRY STOP(PTRACE_EVENT_SECCOMP, SIGTRAP)
#define RETURN STOP(0, SIGTRAP | 0x80)
#define EXEC STOP(PTRACE_EVENT_EXEC, SIGTRAP)
#define EXITED(code) ((code) << 8)
#define KILLED (SIGKILL)

/* What the kernel says next. */
struct step {
	int32_t tid;
	int status;
	int info_error; /* of PTRACE_GET_SYSCALL_INFO; 0: it gives the rest */
	uint8_t op;
	uint32_t number, data;
	int32_t former; /* of an exec: the number that the thread had */
};

static struct {
	const struct step *steps;
	size_t count, next;
	unsigned interruptions;                       /* of waitpid(2), before each step */
	enum __ptrace_request requests[REQUESTS_MAX]; /* that let a thread go on */
	long signals[REQUESTS_MAX];
	size_t request_count;
	int32_t killed;
	unsigned refused, forgotten, fills;
	int32_t tgid;
	bool lacks_memory;
	struct rtt_tracee tracees[2];
	struct rti_trace_ring *ring;
	struct rti_trace_end reader, writer;
	struct rtt_loop loop;
	int host, starter; /* the other ends */
} fake;

static const struct step *current(void)
{
	return &fake.steps[fake.next - 1];
}

/* The linker calls these instead of the functions in their names. */
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
pid_t __real_waitpid(pid_t pid, int *status, int options);
long __wrap_ptrace(enum __ptrace_request request, ...);
int __wrap_kill(pid_t pid, int signal);
int __real_kill(pid_t pid, int signal);

/* libcheck waits for its tests by this, too. */
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	if (!fake.steps)
		return __real_waitpid(pid, status, options);
	ck_assert_int_eq(pid, -1);
	ck_assert_int_eq(options, __WALL);
	if (fake.interruptions > 0) {
		fake.interruptions--;
		errno = EINTR;
		return -1;
	}
	if (fake.next == fake.count) {
		errno = ECHILD;
		return -1;
	}
	*status = fake.steps[fake.next++].status;
	return current()->tid;
}

static void fill_info(struct rti_syscall_info *info)
{
	memset(info, 0, sizeof(*info));
	info->op = current()->op;
	info->arch = RTI_ARCH_X86_64;
	if (info->op == RTI_SYSCALL_INFO_SECCOMP) {
		info->seccomp.nr = current()->number;
		info->seccomp.ret_data = current()->data;
	}
}

long __wrap_ptrace(enum __ptrace_request request, ...)
{
	va_list arguments;
	void *data;

	va_start(arguments, request);
	ck_assert_int_eq(va_arg(arguments, int32_t), current()->tid);
	(void)va_arg(arguments, void *);
	data = va_arg(arguments, void *);
	va_end(arguments);
	if ((int)request == RTI_PTRACE_GET_SYSCALL_INFO) {
		errno = current()->info_error;
		if (errno)
			return -1;
		fill_info(data);
		return sizeof(struct rti_syscall_info);
	}
	if (request == PTRACE_GETEVENTMSG) {
		*(unsigned long *)data = (unsigned long)current()->former;
		return 0;
	}
	ck_assert_uint_lt(fake.request_count, REQUESTS_MAX);
	fake.signals[fake.request_count] = (long)data;
	fake.requests[fake.request_count++] = request;
	return 0;
}

int __wrap_kill(pid_t pid, int signal)
{
	if (pid != PROGRAM)
		return __real_kill(pid, signal);
	ck_assert_int_eq(signal, SIGKILL);
	fake.killed = pid;
	return 0;
}

uint32_t rtt_filter_meaning(uint32_t arch, uint64_t number)
{
	ck_assert_uint_eq(arch, RTI_ARCH_X86_64);
	return number == GETRUSAGE ? RTI_TRACE_GETRUSAGE
	       : number == WAIT4   ? RTI_TRACE_WAIT4
	       : number == SETUID  ? RTT_CHANGES_IDENTITY
	                           : 0;
}

uint32_t rtt_filter_data(uint32_t meaning)
{
	return 0x100 | meaning;
}

void rtt_foreign_stop_refuse(int32_t tid)
{
	ck_assert_int_eq(tid, current()->tid);
	fake.refused++;
}

void rtt_call_decode(const struct rti_syscall_info *info, uint32_t meaning, struct rtt_call *out)
{
	(void)info;
	*out = (struct rtt_call){ .call = meaning, .who = -1 };
}

void rtt_call_fill(const struct rtt_call *call, int32_t tid, int64_t result,
                   struct rti_trace_record *out)
{
	(void)result;
	out->call = (uint16_t)call->call;
	out->who = call->who;
	out->tid = tid;
}

void rtt_identity_fill(struct rtt_tracee *tracee, struct rti_trace_record *out)
{
	(void)tracee;
	(void)out;
	fake.fills++;
}

int32_t rtt_identity_tgid(struct rtt_tracee *tracee)
{
	(void)tracee;
	return fake.tgid;
}

void rtt_identity_forget(struct rtt_tracee *tracee)
{
	ck_assert_ptr_nonnull(tracee);
	fake.forgotten++;
}

struct rtt_tracee *rtt_tracees_get(int32_t tid)
{
	struct rtt_tracee *tracee = &fake.tracees[tid == PROGRAM ? 0 : 1];

	tracee->tid = tid;
	return fake.lacks_memory ? NULL : tracee;
}

void rtt_tracees_remove(int32_t tid)
{
	fake.tracees[tid == PROGRAM ? 0 : 1].tid = 0;
}

uint64_t rtt_tracees_count(void)
{
	return (uint64_t)(fake.tracees[0].tid != 0) + (fake.tracees[1].tid != 0);
}

static void set_up(void)
{
	const size_t bytes =
	    RTI_TRACE_RING_HEAD_BYTES + RECORDS * sizeof(struct rti_trace_record) / 64 * 64;
	int library[2], starter[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, library), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, starter), 0);
	fake.ring = aligned_alloc(64, bytes);
	ck_assert_ptr_nonnull(fake.ring);
	memset((void *)fake.ring, 0, bytes);
	ck_assert(rti_trace_end_init(&fake.reader, fake.ring, bytes));
	ck_assert(rti_trace_end_init(&fake.writer, fake.ring, bytes));
	fake.ring->calls = RTI_TRACE_GETRUSAGE;
	fake.ring->has_children = 1;
	fake.tgid = PROGRAM;
	fake.host = library[1];
	fake.starter = starter[1];
	fake.loop = (struct rtt_loop){ .ring = fake.ring,
		                       .writer = &fake.writer,
		                       .library = library[0],
		                       .starter = starter[0],
		                       .event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		                       .program = PROGRAM };
}

static void tear_down(void)
{
	free((void *)fake.ring);
	close(fake.host);
	close(fake.starter);
	close(fake.loop.library);
	close(fake.loop.starter);
	close(fake.loop.event);
}

/* Run the loop until all has ended. Returns how often the reader was woken before that. */
static uint64_t run(const struct step *steps, size_t count)
{
	uint64_t wakes = 0;

	fake.steps = steps;
	fake.count = count;
	rtt_loop_run(&fake.loop);
	fake.steps = NULL;
	ck_assert_uint_eq(fake.next, count);
	ck_assert_uint_eq(fake.ring->is_over, 1);
	ck_assert_uint_eq(fake.ring->threads, 0);
	ck_assert_int_eq(read(fake.loop.event, &wakes, sizeof(wakes)), sizeof(wakes));
	return wakes - 1; /* the last one says that all is over */
}

/* How many records were written. */
static int count_records(void)
{
	struct rti_trace_record records[RECORDS];

	return rti_trace_ring_take(&fake.reader, records, RECORDS);
}

#define CALL(number, meaning)                                                                      \
	{                                                                                          \
		THREAD, ENTRY, 0, RTI_SYSCALL_INFO_SECCOMP, number, 0x100 | (meaning), 0           \
	}
#define RETURNS(op)                                                                                \
	{                                                                                          \
		THREAD, RETURN, 0, op, 0, 0, 0                                                     \
	}

/* A call, what it goes on with, and what becomes of it at its return. */
static const struct {
	struct step entry, back;
	enum __ptrace_request after_entry, after_back;
	int records;
	uint64_t lost;
	unsigned refused, forgotten;
	bool lacks_memory, is_closed, has_no_children;
} calls[] = {
	{ CALL(GETRUSAGE, RTI_TRACE_GETRUSAGE), RETURNS(RTI_SYSCALL_INFO_EXIT), PTRACE_SYSCALL,
	  PTRACE_CONT, 1, 0, 0, 0, false, false, false },
	/* One that was not asked for. E.g.: the filter is that of a tracer that is around. */
	{ CALL(WAIT4, RTI_TRACE_WAIT4), RETURNS(RTI_SYSCALL_INFO_EXIT), PTRACE_CONT, PTRACE_CONT, 0,
	  0, 0, 0, false, false, false },
	/* The library has closed the ring. */
	{ CALL(GETRUSAGE, RTI_TRACE_GETRUSAGE), RETURNS(RTI_SYSCALL_INFO_EXIT), PTRACE_CONT,
	  PTRACE_CONT, 0, 0, 0, 0, false, true, false },
	/* Of another process than the program, and the program alone is to be traced. */
	{ CALL(GETRUSAGE, RTI_TRACE_GETRUSAGE), RETURNS(RTI_SYSCALL_INFO_EXIT), PTRACE_CONT,
	  PTRACE_CONT, 0, 0, 0, 0, false, false, true },
	{ CALL(SETUID, RTT_CHANGES_IDENTITY), RETURNS(RTI_SYSCALL_INFO_EXIT), PTRACE_CONT,
	  PTRACE_CONT, 0, 0, 0, 1, false, false, false },
	/* Stops of a filter of the program's own. */
	{ { THREAD, ENTRY, 0, RTI_SYSCALL_INFO_SECCOMP, GETRUSAGE, FOREIGN_DATA, 0 },
	  RETURNS(RTI_SYSCALL_INFO_EXIT),
	  PTRACE_CONT,
	  PTRACE_CONT,
	  0,
	  0,
	  1,
	  0,
	  false,
	  false,
	  false },
	{ CALL(UNKNOWN_CALL, 0), RETURNS(RTI_SYSCALL_INFO_EXIT), PTRACE_CONT, PTRACE_CONT, 0, 0, 1,
	  0, false, false, false },
	/* The thread is killed, or something else has happened to it. */
	{ { THREAD, ENTRY, ESRCH, 0, 0, 0, 0 },
	  RETURNS(RTI_SYSCALL_INFO_EXIT),
	  PTRACE_CONT,
	  PTRACE_CONT,
	  0,
	  0,
	  0,
	  0,
	  false,
	  false,
	  false },
	{ { THREAD, ENTRY, 0, RTI_SYSCALL_INFO_EXIT, 0, 0, 0 },
	  RETURNS(RTI_SYSCALL_INFO_EXIT),
	  PTRACE_CONT,
	  PTRACE_CONT,
	  0,
	  0,
	  0,
	  0,
	  false,
	  false,
	  false },
	{ CALL(GETRUSAGE, RTI_TRACE_GETRUSAGE),
	  { THREAD, RETURN, ESRCH, 0, 0, 0, 0 },
	  PTRACE_SYSCALL,
	  PTRACE_SYSCALL,
	  0,
	  0,
	  0,
	  0,
	  false,
	  false,
	  false },
	{ CALL(GETRUSAGE, RTI_TRACE_GETRUSAGE), RETURNS(RTI_SYSCALL_INFO_SECCOMP), PTRACE_SYSCALL,
	  PTRACE_SYSCALL, 0, 0, 0, 0, false, false, false },
	/* A thread for which there is no memory: its calls are lost, as far as they are wanted. */
	{ CALL(GETRUSAGE, RTI_TRACE_GETRUSAGE), RETURNS(RTI_SYSCALL_INFO_EXIT), PTRACE_CONT,
	  PTRACE_CONT, 0, 1, 0, 0, true, false, false },
	{ CALL(WAIT4, RTI_TRACE_WAIT4), RETURNS(RTI_SYSCALL_INFO_EXIT), PTRACE_CONT, PTRACE_CONT, 0,
	  0, 0, 0, true, false, false },
	{ CALL(SETUID, RTT_CHANGES_IDENTITY), RETURNS(RTI_SYSCALL_INFO_EXIT), PTRACE_CONT,
	  PTRACE_CONT, 0, 0, 0, 0, true, false, false },
};

START_TEST(call_is_recorded_if_it_is_wanted_and_known_and_lost_if_it_is_not_known)
{
	const struct step steps[] = { calls[_i].entry,
		                      calls[_i].back,
		                      { THREAD, EXITED(0), 0, 0, 0, 0, 0 },
		                      { PROGRAM, KILLED, 0, 0, 0, 0, 0 } };

	fake.lacks_memory = calls[_i].lacks_memory;
	fake.ring->is_closed = calls[_i].is_closed;
	fake.ring->has_children = !calls[_i].has_no_children;
	fake.tgid = calls[_i].has_no_children ? OTHER_PROCESS : PROGRAM;
	fake.interruptions = 2;
	run(steps, 4);
	ck_assert_uint_eq(fake.request_count, 2);
	ck_assert_int_eq((int)fake.requests[0], (int)calls[_i].after_entry);
	ck_assert_int_eq((int)fake.requests[1], (int)calls[_i].after_back);
	ck_assert_int_eq(fake.signals[0] + fake.signals[1], 0);
	ck_assert_int_eq(count_records(), calls[_i].records);
	ck_assert_uint_eq(fake.ring->lost, calls[_i].lost);
	ck_assert_uint_eq(fake.refused, calls[_i].refused);
	ck_assert_uint_eq(fake.forgotten, calls[_i].forgotten);
}
END_TEST

static const struct {
	uint32_t wakes_for_children, is_asleep;
	uint32_t number, meaning;
	uint64_t wakes;
} readers[] = {
	{ 0, 0, GETRUSAGE, RTI_TRACE_GETRUSAGE, 0 }, { 0, 1, GETRUSAGE, RTI_TRACE_GETRUSAGE, 1 },
	{ 1, 0, GETRUSAGE, RTI_TRACE_GETRUSAGE, 1 }, { 1, 1, GETRUSAGE, RTI_TRACE_GETRUSAGE, 1 },
	{ 1, 0, WAIT4, RTI_TRACE_WAIT4, 0 },
};

START_TEST(reader_is_woken_if_it_sleeps_or_wants_children_at_once)
{
	const struct step steps[] = { CALL(readers[_i].number, readers[_i].meaning),
		                      RETURNS(RTI_SYSCALL_INFO_EXIT),
		                      { THREAD, EXITED(0), 0, 0, 0, 0, 0 },
		                      { PROGRAM, KILLED, 0, 0, 0, 0, 0 } };

	fake.ring->calls |= RTI_TRACE_WAIT4;
	fake.ring->wakes_for_children = readers[_i].wakes_for_children;
	fake.ring->is_asleep = readers[_i].is_asleep;
	ck_assert_uint_eq(run(steps, 4), readers[_i].wakes);
	ck_assert_int_eq(count_records(), 1);
}
END_TEST

START_TEST(call_without_room_is_lost_and_read_no_further)
{
	const struct step steps[] = { CALL(GETRUSAGE, RTI_TRACE_GETRUSAGE),
		                      RETURNS(RTI_SYSCALL_INFO_EXIT),
		                      { THREAD, EXITED(0), 0, 0, 0, 0, 0 },
		                      { PROGRAM, KILLED, 0, 0, 0, 0, 0 } };

	fake.writer.position = fake.writer.capacity;
	run(steps, 4);
	ck_assert_uint_eq(fake.ring->lost, 1);
	ck_assert_uint_eq(fake.fills, 0);
}
END_TEST

static const struct {
	int status;
	enum __ptrace_request request;
	long signal;
} stops[] = {
	{ STOP(PTRACE_EVENT_STOP, SIGSTOP), PTRACE_LISTEN, 0 },
	{ STOP(PTRACE_EVENT_STOP, SIGTSTP), PTRACE_LISTEN, 0 },
	{ STOP(PTRACE_EVENT_STOP, SIGTTIN), PTRACE_LISTEN, 0 },
	{ STOP(PTRACE_EVENT_STOP, SIGTTOU), PTRACE_LISTEN, 0 },
	{ STOP(PTRACE_EVENT_STOP, SIGTRAP), PTRACE_CONT, 0 }, /* a new thread */
	{ STOP(PTRACE_EVENT_FORK, SIGTRAP), PTRACE_CONT, 0 },
	{ STOP(0, SIGUSR1), PTRACE_CONT, SIGUSR1 },
	{ STOP(0, SIGSTOP), PTRACE_CONT, SIGSTOP }, /* the group stop comes next */
	{ STOP(0, SIGTRAP), PTRACE_CONT, SIGTRAP }, /* a breakpoint of its own */
};

START_TEST(stopped_thread_goes_on_as_without_a_tracer)
{
	const struct step steps[] = { { THREAD, stops[_i].status, 0, 0, 0, 0, 0 },
		                      { THREAD, EXITED(0), 0, 0, 0, 0, 0 },
		                      { PROGRAM, KILLED, 0, 0, 0, 0, 0 } };

	run(steps, 3);
	ck_assert_uint_eq(fake.request_count, 1);
	ck_assert_int_eq((int)fake.requests[0], (int)stops[_i].request);
	ck_assert_int_eq(fake.signals[0], stops[_i].signal);
}
END_TEST

/* Returns the report that the library was sent, if there was no other. */
static struct rti_tracer_report only_report(void)
{
	struct rti_tracer_report report, more;

	ck_assert_int_eq(recv(fake.host, &report, sizeof(report), MSG_DONTWAIT), sizeof(report));
	ck_assert_int_lt(recv(fake.host, &more, sizeof(more), MSG_DONTWAIT), 0);
	return report;
}

static const struct {
	int info_error;
	bool lacks_memory;
	uint32_t step;
	int32_t killed;
} execs[] = {
	{ 0, false, RTI_TRACER_STARTED, 0 },
	{ 0, true, RTI_TRACER_STARTED, 0 },
	{ ESRCH, false, RTI_TRACER_STARTED, 0 },      /* it was killed: it has started */
	{ EIO, false, RTI_TRACER_INFORMED, PROGRAM }, /* the kernel is too old */
};

START_TEST(program_starts_with_its_exec_if_the_kernel_informs_of_calls)
{
	const struct step steps[] = {
		{ PROGRAM, EXEC, execs[_i].info_error, 0, 0, 0, PROGRAM },
		{ PROGRAM, EXITED(3), 0, 0, 0, 0, 0 },
	};
	struct rti_tracer_report report;

	fake.lacks_memory = execs[_i].lacks_memory;
	run(steps, 2);
	report = only_report();
	ck_assert_uint_eq(report.step, execs[_i].step);
	ck_assert_int_eq(fake.killed, execs[_i].killed);
	ck_assert_uint_eq(fake.forgotten, !execs[_i].lacks_memory);
}
END_TEST

/* An exec of a thread that is not the leader ends that one, and its call does not return. */
START_TEST(exec_of_a_thread_leaves_the_leader_without_a_call)
{
	const struct step steps[] = {
		{ PROGRAM, EXEC, 0, 0, 0, 0, PROGRAM },
		{ PROGRAM, ENTRY, 0, RTI_SYSCALL_INFO_SECCOMP, GETRUSAGE,
		  0x100 | RTI_TRACE_GETRUSAGE, 0 },
		{ PROGRAM, EXEC, 0, 0, 0, 0, THREAD },
		{ PROGRAM, EXITED(0), 0, 0, 0, 0, 0 },
	};

	rtt_tracees_get(THREAD);
	run(steps, 4);
	ck_assert_int_eq((int)fake.requests[1], PTRACE_SYSCALL);
	ck_assert_int_eq((int)fake.requests[2], PTRACE_CONT);
	ck_assert_int_eq(fake.tracees[1].tid, 0);
	ck_assert_int_eq(count_records(), 0);
	ck_assert_uint_eq(only_report().step, RTI_TRACER_STARTED);
}
END_TEST

static const struct {
	bool has_message;
	int status;
	uint32_t step;
	int error;
} ends[] = {
	{ true, EXITED(127), RTI_TRACER_EXECUTED, ENOENT },
	{ true, KILLED, RTI_TRACER_EXECUTED, ENOENT },
	{ false, EXITED(127), RTI_TRACER_SILENT, 0 },
	{ false, KILLED, RTI_TRACER_STARTED, 0 }, /* as it would have been without a tracer */
};

START_TEST(starter_that_ends_says_why_or_was_killed)
{
	const struct rti_starter_message message = { .step = RTI_TRACER_EXECUTED, .error = ENOENT };
	const struct step steps[] = { { THREAD, EXITED(0), 0, 0, 0, 0, 0 },
		                      { PROGRAM, ends[_i].status, 0, 0, 0, 0, 0 } };
	struct rti_tracer_report report;

	if (ends[_i].has_message)
		ck_assert_int_eq(send(fake.starter, &message, sizeof(message), 0), sizeof(message));
	run(steps, 2);
	report = only_report();
	ck_assert_uint_eq(report.step, ends[_i].step);
	ck_assert_int_eq(report.error, ends[_i].error);
}
END_TEST

/* The program must not be left without the tracer that it was started with. */
START_TEST(program_runs_on_if_the_library_is_gone)
{
	const struct step steps[] = { { PROGRAM, EXEC, 0, 0, 0, 0, PROGRAM },
		                      { PROGRAM, EXITED(0), 0, 0, 0, 0, 0 } };

	close(fake.host);
	run(steps, 2);
	ck_assert_int_eq((int)fake.requests[0], PTRACE_CONT);
	ck_assert_int_eq(fake.killed, 0);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

int main(void)
{
	Suite *suite = suite_create("loop");
	TCase *tests = suite_case(suite, "stops");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests,
	                    call_is_recorded_if_it_is_wanted_and_known_and_lost_if_it_is_not_known,
	                    0, COUNT(calls));
	tcase_add_loop_test(tests, reader_is_woken_if_it_sleeps_or_wants_children_at_once, 0,
	                    COUNT(readers));
	tcase_add_test(tests, call_without_room_is_lost_and_read_no_further);
	tcase_add_loop_test(tests, stopped_thread_goes_on_as_without_a_tracer, 0, COUNT(stops));
	tcase_add_loop_test(tests, program_starts_with_its_exec_if_the_kernel_informs_of_calls, 0,
	                    COUNT(execs));
	tcase_add_test(tests, exec_of_a_thread_leaves_the_leader_without_a_call);
	tcase_add_loop_test(tests, starter_that_ends_says_why_or_was_killed, 0, COUNT(ends));
	tcase_add_test(tests, program_runs_on_if_the_library_is_gone);
	return suite_run(suite);
}
