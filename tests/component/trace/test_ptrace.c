/* SPDX-License-Identifier: MIT */
/* A trace by ptrace(2) on a tracer and a command of the test's own: the test takes the place of
 * what starts them. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "suite.h"
#include "trace/back_end.h"
#include "trace/tracer_client.h"

#define RECORDS 64u
#define ROOM 4

static struct {
	int start_error;
	unsigned starts;
	struct rti_trace_end writer; /* the tracer's end of the ring */
	int tracer;                  /* its socket; -1: it has ended */
	unsigned interruptions;      /* of the wait for the command */
	unsigned waits, frees;
	int look_error; /* of a look at the tracer */
} fake = { .tracer = -1 };

/* The linker calls these instead of the functions in their names. */
int __wrap_rti_tracer_start(struct rti_tracer *tracer, const struct rti_trace_request *request);
int __wrap_rti_tracer_look(struct rti_tracer *tracer);
int __wrap_rt_command_start(struct rt_command **out, const struct rt_command_opts *opts);
int __wrap_rt_command_wait(struct rt_command *command, int64_t timeout_ns, struct rt_outcome *out,
                           size_t out_size);
void __wrap_rt_command_free(struct rt_command *command);

int __wrap_rti_tracer_look(struct rti_tracer *tracer)
{
	(void)tracer;
	return fake.look_error;
}

int __wrap_rti_tracer_start(struct rti_tracer *tracer, const struct rti_trace_request *request)
{
	const size_t bytes = RTI_TRACE_RING_HEAD_BYTES + RECORDS * sizeof(struct rti_trace_record);
	int pair[2];
	void *ring;

	(void)request;
	*tracer = (struct rti_tracer)RTI_TRACER_INIT;
	fake.starts++;
	if (fake.start_error < 0)
		return fake.start_error;
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(ring, MAP_FAILED);
	ck_assert(rti_trace_end_init(&tracer->reader, ring, bytes));
	ck_assert(rti_trace_end_init(&fake.writer, ring, bytes));
	tracer->ring = ring;
	tracer->ring_bytes = bytes;
	tracer->socket = pair[0];
	fake.tracer = pair[1];
	tracer->starter_socket = eventfd(0, EFD_CLOEXEC); /* any that can be copied */
	tracer->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return 0;
}

static struct rt_command *the_command(void)
{
	return (struct rt_command *)(void *)&fake;
}

int __wrap_rt_command_start(struct rt_command **out, const struct rt_command_opts *opts)
{
	ck_assert_str_eq(opts->argv[1], RTI_TRACER_START);
	ck_assert_str_eq(opts->argv[5], "true");
	ck_assert_ptr_null(opts->argv[6]);
	*out = the_command();
	return 0;
}

int __wrap_rt_command_wait(struct rt_command *command, int64_t timeout_ns, struct rt_outcome *out,
                           size_t out_size)
{
	ck_assert_ptr_eq(command, the_command());
	ck_assert_int_gt(timeout_ns, 0);
	ck_assert_ptr_null(out);
	ck_assert_uint_eq(out_size, 0);
	fake.waits++;
	if (fake.interruptions == 0)
		return 0;
	fake.interruptions--;
	return -EINTR;
}

void __wrap_rt_command_free(struct rt_command *command)
{
	ck_assert_ptr_eq(command, the_command());
	fake.frees++;
}

static const char *const argv[] = { "true", NULL };
static const struct rt_command_opts usual = { .size = sizeof(usual), .argv = argv };
static char reason[512];

static struct rti_trace_request request_of(struct rt_command_opts *command)
{
	*reason = '\0';
	command->message = reason;
	command->message_size = sizeof(reason);
	return (struct rti_trace_request){ .calls = RT_TRACE_CALL_WAIT4,
		                           .ring = { .bytes = 4096 },
		                           .command = command,
		                           .reason = reason,
		                           .reason_size = sizeof(reason) };
}

static void *open_trace(void)
{
	struct rt_command_opts command = usual;
	const struct rti_trace_request request = request_of(&command);
	void *trace;

	ck_assert_int_eq(rti_trace_ptrace.open(&trace, &request), 0);
	return trace;
}

static void end_tracer(void)
{
	if (fake.tracer >= 0)
		close(fake.tracer);
	fake.tracer = -1;
}

START_TEST(trace_for_which_no_tracer_starts_says_why)
{
	static const struct {
		int err;
		const char *reason;
	} cases[] = { { -ENOPKG, "is not installed" }, { -ETIMEDOUT, "did not begin in time" } };
	struct rt_command_opts command = usual;
	const struct rti_trace_request request = request_of(&command);
	void *trace = NULL;

	fake.start_error = cases[_i].err;
	ck_assert_int_eq(rti_trace_ptrace.open(&trace, &request), cases[_i].err);
	ck_assert_ptr_null(trace);
	ck_assert_msg(strstr(reason, cases[_i].reason), "%s", reason);
}
END_TEST

static const char *const no_argv[] = { NULL };
static const struct rt_fd fds[] = { { .target = 5, .source = 1 }, { .target = 5, .source = 2 } };

static const struct {
	struct rt_command_opts command;
	int err;
} commands[] = {
	{ { .size = sizeof(usual), .argv = NULL }, -EFAULT },
	{ { .size = sizeof(usual), .argv = no_argv }, -EINVAL },
	{ { .size = sizeof(usual), .argv = argv, .fds = NULL, .fd_count = 1 }, -EFAULT },
	{ { .size = sizeof(usual), .argv = argv, .fds = fds, .fd_count = 2 }, -EINVAL },
	{ { .size = sizeof(usual), .argv = argv, .fds = fds, .fd_count = 1 }, 0 },
	{ { .size = sizeof(usual), .argv = argv, .fds = fds, .fd_count = 0 }, 0 },
};

START_TEST(command_that_could_not_be_started_has_no_tracer_started)
{
	struct rt_command_opts command = commands[_i].command;
	const struct rti_trace_request request = request_of(&command);
	void *trace = NULL;

	ck_assert_int_eq(rti_trace_ptrace.open(&trace, &request), commands[_i].err);
	ck_assert_uint_eq(fake.starts, commands[_i].err == 0);
	ck_assert(!trace == (commands[_i].err < 0));
	if (trace)
		rti_trace_ptrace.close(trace);
	end_tracer();
}
END_TEST

static const struct {
	bool has_report;
	struct rti_tracer_report report;
	int err;
	unsigned frees;
	const char *reason;
} starts[] = {
	{ true, { RTI_TRACER_STARTED, 0, 0 }, 0, 0, "" },
	{ true, { RTI_TRACER_EXECUTED, ENOENT, 0 }, -ENOENT, 1, "true" },
	{ true, { RTI_TRACER_INFORMED, EIO, 0 }, -EOPNOTSUPP, 1, "PTRACE_GET_SYSCALL_INFO" },
	{ true, { RTI_TRACER_SILENT, 0, 0 }, -ECHILD, 1, "before it could be traced" },
	{ false, { 0, 0, 0 }, -ECHILD, 1, "before it could start the program" },
};

/* Signals to the caller come while it waits for the end of the starter. */
START_TEST(program_that_was_not_traced_leaves_no_command)
{
	struct rt_command_opts opts = usual;
	const struct rti_trace_request request = request_of(&opts);
	struct rt_command *command = NULL;
	void *trace;

	fake.interruptions = 3;
	ck_assert_int_eq(rti_trace_ptrace.open(&trace, &request), 0);
	if (starts[_i].has_report)
		ck_assert_int_eq(
		    send(fake.tracer, &starts[_i].report, sizeof(starts[_i].report), 0),
		    sizeof(starts[_i].report));
	else
		end_tracer();
	ck_assert_int_eq(rti_trace_ptrace.start(trace, &request, &command), starts[_i].err);
	ck_assert_uint_eq(fake.waits, starts[_i].frees ? 4 : 0);
	ck_assert_uint_eq(fake.frees, starts[_i].frees);
	ck_assert_ptr_eq(command, starts[_i].frees ? NULL : the_command());
	ck_assert_msg(strstr(reason, starts[_i].reason), "%s", reason);
	end_tracer();
	rti_trace_ptrace.close(trace);
}
END_TEST

static void write_record(uint64_t number)
{
	const struct rti_trace_record record = { .entry_ns = number };

	rti_trace_ring_put(&fake.writer, &record);
}

static bool is_readable(const void *trace)
{
	struct pollfd fd = { .fd = rti_trace_ptrace.fd(trace), .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static bool is_over(const void *trace)
{
	struct rti_trace_state state;

	rti_trace_ptrace.get_state(trace, &state);
	return state.is_over;
}

/* What the tracer has written before it was over is read first. */
START_TEST(trace_is_over_once_all_records_were_read)
{
	struct rti_trace_record records[ROOM];
	void *trace = open_trace();

	ck_assert_int_eq(rti_trace_ptrace.read(trace, records, ROOM), 0);
	ck_assert(!is_over(trace));
	ck_assert(!is_readable(trace));
	for (uint64_t i = 0; i < ROOM + 1; i++)
		write_record(i);
	atomic_store(&fake.writer.ring->is_over, 1);
	ck_assert(!is_over(trace));
	ck_assert_int_eq(rti_trace_ptrace.read(trace, records, ROOM), ROOM);
	ck_assert(!is_over(trace));
	ck_assert_int_eq(rti_trace_ptrace.read(trace, records, ROOM), 1);
	ck_assert_uint_eq(records[0].entry_ns, ROOM);
	ck_assert(is_over(trace));
	ck_assert_int_eq(rti_trace_ptrace.read(trace, records, ROOM), 0);
	ck_assert(is_readable(trace)); /* for a host that waits for the end */
	rti_trace_ptrace.close(trace);
}
END_TEST

START_TEST(trace_is_lost_once_the_records_of_a_killed_tracer_were_read)
{
	struct rti_trace_record records[ROOM];
	struct rti_trace_state state;
	void *trace = open_trace();

	write_record(1);
	atomic_store(&fake.writer.ring->threads, 5);
	end_tracer();
	ck_assert_int_eq(rti_trace_ptrace.read(trace, records, ROOM), 1);
	ck_assert_int_eq(rti_trace_ptrace.read(trace, records, ROOM), -ECHILD);
	ck_assert(is_readable(trace));
	rti_trace_ptrace.get_state(trace, &state);
	ck_assert_uint_eq(state.threads, 0); /* they were killed with it */
	ck_assert(!state.is_over);
	rti_trace_ptrace.close(trace);
}
END_TEST

/* It was killed, and has not ended yet, as in a frozen cgroup. */
START_TEST(trace_is_lost_once_the_records_of_a_stopped_tracer_were_read)
{
	struct rti_trace_record records[ROOM];
	struct rti_trace_state state;
	void *trace = open_trace();

	write_record(1);
	atomic_store(&fake.writer.ring->threads, 5);
	fake.look_error = -ETIMEDOUT;
	ck_assert_int_eq(rti_trace_ptrace.read(trace, records, ROOM), 1);
	ck_assert_int_eq(rti_trace_ptrace.read(trace, records, ROOM), -ETIMEDOUT);
	fake.look_error = 0;
	ck_assert_int_eq(rti_trace_ptrace.read(trace, records, ROOM), -ETIMEDOUT);
	ck_assert(is_readable(trace));
	rti_trace_ptrace.get_state(trace, &state);
	ck_assert_uint_eq(state.threads, 0);
	ck_assert(!state.is_over);
	rti_trace_ptrace.close(trace);
}
END_TEST

/* One that ended after all it traced had ended is no loss. */
START_TEST(tracer_that_ends_after_all_was_over_is_not_missed)
{
	struct rti_trace_record records[ROOM];
	void *trace = open_trace();

	atomic_store(&fake.writer.ring->is_over, 1);
	end_tracer();
	ck_assert_int_eq(rti_trace_ptrace.read(trace, records, ROOM), 0);
	ck_assert(is_over(trace));
	rti_trace_ptrace.close(trace);
}
END_TEST

START_TEST(ring_that_another_process_has_written_to_is_believed_no_more)
{
	struct rti_trace_record records[ROOM];
	void *trace = open_trace();

	write_record(1);
	atomic_store(&fake.writer.ring->written, UINT64_C(1) << 40);
	ck_assert_int_eq(rti_trace_ptrace.read(trace, records, ROOM), -ECHILD);
	rti_trace_ptrace.close(trace);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

int main(void)
{
	Suite *suite = suite_create("ptrace");
	TCase *start = suite_case(suite, "start"), *read = suite_case(suite, "read");

	tcase_add_loop_test(start, trace_for_which_no_tracer_starts_says_why, 0, 2);
	tcase_add_loop_test(start, command_that_could_not_be_started_has_no_tracer_started, 0,
	                    COUNT(commands));
	tcase_add_loop_test(start, program_that_was_not_traced_leaves_no_command, 0, COUNT(starts));
	tcase_add_checked_fixture(read, NULL, end_tracer);
	tcase_add_test(read, trace_is_over_once_all_records_were_read);
	tcase_add_test(read, trace_is_lost_once_the_records_of_a_killed_tracer_were_read);
	tcase_add_test(read, trace_is_lost_once_the_records_of_a_stopped_tracer_were_read);
	tcase_add_test(read, tracer_that_ends_after_all_was_over_is_not_missed);
	tcase_add_test(read, ring_that_another_process_has_written_to_is_believed_no_more);
	return suite_run(suite);
}
