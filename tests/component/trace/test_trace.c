/* SPDX-License-Identifier: MIT */
/* The calls of a trace on back ends of the test's own: which of them is opened and how, and what
 * the caller gets if they refuse, fail or end. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "suite.h"
#include "trace/back_end.h"

#define OPTION "An option is unknown or out of range"

/* What a back end does. */
struct plan {
	int open_error, start_error;
	const char *reason; /* NULL: it gives none */
};

static struct {
	struct plan bpf, ptrace;
	unsigned bpf_opens, ptrace_opens, closes;
	uint32_t ring_bytes; /* that were asked for last */
	int records;         /* that wait; or -errno */
	bool is_over;
} fake;

static int open_as(const struct plan *plan, void **self, const struct rti_trace_request *request)
{
	if (plan->reason)
		snprintf(request->reason, request->reason_size, "%s", plan->reason);
	fake.ring_bytes = request->ring.bytes;
	*self = &fake;
	return plan->open_error;
}

static int open_bpf(void **self, const struct rti_trace_request *request)
{
	fake.bpf_opens++;
	return open_as(&fake.bpf, self, request);
}

static int open_ptrace(void **self, const struct rti_trace_request *request)
{
	fake.ptrace_opens++;
	return open_as(&fake.ptrace, self, request);
}

static int start_by_bpf(void *self, const struct rti_trace_request *request,
                        struct rt_command **command)
{
	(void)self;
	(void)request;
	(void)command;
	return fake.bpf.start_error;
}

static int start_by_ptrace(void *self, const struct rti_trace_request *request,
                           struct rt_command **command)
{
	(void)self;
	(void)request;
	(void)command;
	return fake.ptrace.start_error;
}

static int read_records(void *self, struct rti_trace_record *records, int room)
{
	int count = fake.records < room ? fake.records : room;

	(void)self;
	if (count < 0)
		return count;
	memset(records, 0, (size_t)count * sizeof(*records));
	fake.records -= count;
	return count;
}

static void get_state(const void *self, struct rti_trace_state *out)
{
	(void)self;
	*out = (struct rti_trace_state){ .is_over = fake.is_over };
}

static void close_trace(void *self)
{
	(void)self;
	fake.closes++;
}

/* They take the place of those in the core. */
const struct rti_trace_back_end rti_trace_bpf = {
	.id = RT_TRACE_BACK_END_BPF,
	.open = open_bpf,
	.start = start_by_bpf,
	.read = read_records,
	.get_state = get_state,
	.close = close_trace,
};

const struct rti_trace_back_end rti_trace_ptrace = {
	.id = RT_TRACE_BACK_END_PTRACE,
	.open = open_ptrace,
	.start = start_by_ptrace,
	.read = read_records,
	.get_state = get_state,
	.close = close_trace,
};

static const char *const argv[] = { "true", NULL };
static const struct rt_command_opts command = { .size = sizeof(command), .argv = argv };

static struct rt_trace *open_trace_of_all(void)
{
	const struct rt_trace_opts opts = { .size = sizeof(opts), .flags = RT_TRACE_OPT_ALL };
	struct rt_trace *trace;

	ck_assert_int_eq(rt_trace_new(&trace, &opts), 0);
	return trace;
}

static const struct {
	uint32_t asked, given;
} rings[] = {
	{ 1, 65536 },
	{ 65536, 65536 },
	{ 65537, 131072 },
	{ 131072, 131072 },
	{ 100u << 10, 128u << 10 },
	{ 33u << 20, 64u << 20 },
	{ 64u << 20, 64u << 20 },
};

START_TEST(ring_has_the_next_power_of_two_of_the_bytes_that_are_asked_for)
{
	const struct rt_trace_opts opts = { .size = sizeof(opts),
		                            .flags = RT_TRACE_OPT_ALL,
		                            .ring_bytes = rings[_i].asked };
	struct rt_trace *trace;

	ck_assert_int_eq(rt_trace_new(&trace, &opts), 0);
	ck_assert_uint_eq(fake.ring_bytes, rings[_i].given);
	rt_trace_free(trace);
	ck_assert_uint_eq(fake.closes, 1);
}
END_TEST

enum { NEITHER = 0, BPF = 1, PTRACE = 2, BOTH = 3 };

static const struct {
	uint32_t back_end;
	bool has_command;
	struct plan bpf, ptrace;
	int err;
	int opened; /* which of them */
	const char *message;
} choices[] = {
	{ RT_TRACE_BACK_END_AUTO, true, { 0 }, { 0 }, 0, BPF, "" },
	{ RT_TRACE_BACK_END_AUTO, true, { -EPERM, 0, "No BPF." }, { 0 }, 0, BOTH, "" },
	{ RT_TRACE_BACK_END_AUTO, true, { -EOPNOTSUPP, 0, "No BPF." }, { 0 }, 0, BOTH, "" },
	{ RT_TRACE_BACK_END_AUTO, true, { -ENOPKG, 0, "No BPF." }, { 0 }, 0, BOTH, "" },
	{ RT_TRACE_BACK_END_PTRACE, true, { 0 }, { 0 }, 0, PTRACE, "" },
	/* All reasons are given, and none twice. */
	{ RT_TRACE_BACK_END_AUTO,
	  true,
	  { -EPERM, 0, "No BPF." },
	  { -EPERM, 0, "No ptrace." },
	  -EPERM,
	  BOTH,
	  "No BPF. No ptrace." },
	{ RT_TRACE_BACK_END_AUTO,
	  true,
	  { -ENOPKG, 0, NULL },
	  { -ENOPKG, 0, "No tracer." },
	  -ENOPKG,
	  BOTH,
	  "No tracer." },
	{ RT_TRACE_BACK_END_AUTO,
	  true,
	  { -EPERM, 0, "No BPF." },
	  { -EOPNOTSUPP, 0, NULL },
	  -EOPNOTSUPP,
	  BOTH,
	  "No BPF." },
	/* Memory is short, which is no reason for the other one. */
	{ RT_TRACE_BACK_END_AUTO,
	  true,
	  { -ENOMEM, 0, NULL },
	  { 0 },
	  -ENOMEM,
	  BPF,
	  "The trace cannot begin: out of memory." },
	{ RT_TRACE_BACK_END_AUTO,
	  true,
	  { -EPERM, 0, "No BPF." },
	  { -ENOMEM, 0, NULL },
	  -ENOMEM,
	  BOTH,
	  "The trace cannot begin: out of memory." },
	/* What is asked for alone, or alone can do it. */
	{ RT_TRACE_BACK_END_BPF, true, { -EPERM, 0, "No BPF." }, { 0 }, -EPERM, BPF, "No BPF." },
	{ RT_TRACE_BACK_END_AUTO,
	  false,
	  { -EOPNOTSUPP, 0, "No BPF." },
	  { 0 },
	  -EOPNOTSUPP,
	  BPF,
	  "No BPF." },
	{ RT_TRACE_BACK_END_PTRACE,
	  true,
	  { 0 },
	  { -EPERM, 0, "No ptrace." },
	  -EPERM,
	  PTRACE,
	  "No ptrace." },
	{ RT_TRACE_BACK_END_PTRACE, false, { 0 }, { 0 }, -EINVAL, NEITHER, OPTION },
	/* The program is at fault, so the other one would not start it either. */
	{ RT_TRACE_BACK_END_AUTO, true, { 0, -EPERM, "No." }, { 0 }, -EPERM, BPF, "No." },
};

START_TEST(back_end_that_refuses_has_the_other_one_tried_if_that_can_do_it)
{
	char message[512] = "";
	const struct rt_trace_opts opts = {
		.size = sizeof(opts),
		.back_end = choices[_i].back_end,
		.pid = choices[_i].has_command ? 0 : getpid(),
		.command = choices[_i].has_command ? &command : NULL,
		.message = message,
		.message_size = sizeof(message),
	};
	struct rt_trace *trace;

	fake.bpf = choices[_i].bpf;
	fake.ptrace = choices[_i].ptrace;
	ck_assert_int_eq(rt_trace_new(&trace, &opts), choices[_i].err);
	ck_assert_uint_eq(fake.bpf_opens, !!(choices[_i].opened & BPF));
	ck_assert_uint_eq(fake.ptrace_opens, !!(choices[_i].opened & PTRACE));
	if (choices[_i].err == -EINVAL)
		ck_assert_ptr_nonnull(strstr(message, choices[_i].message));
	else
		ck_assert_str_eq(message, choices[_i].message);
	ck_assert(!trace == (choices[_i].err < 0));
	rt_trace_free(trace);
	ck_assert_uint_eq(fake.closes, choices[_i].err == 0 || choices[_i].bpf.start_error);
}
END_TEST

/* A caller that wants no words has no room for them, or none at all. */
START_TEST(trace_without_room_for_a_message_has_its_error)
{
	static const char *const reasons[] = { NULL, "No BPF." };
	char message[8] = "before";
	struct rt_trace_opts opts = { .size = sizeof(opts), .flags = RT_TRACE_OPT_ALL };
	struct rt_trace *trace;

	fake.bpf = (struct plan){ -EPERM, 0, reasons[_i] };
	ck_assert_int_eq(rt_trace_new(&trace, &opts), -EPERM);
	opts.message_size = sizeof(message);
	ck_assert_int_eq(rt_trace_new(&trace, &opts), -EPERM);
	opts.message = message;
	opts.message_size = 0;
	ck_assert_int_eq(rt_trace_new(&trace, &opts), -EPERM);
	ck_assert_str_eq(message, "before");
}
END_TEST

START_TEST(command_of_no_known_size_opens_no_back_end)
{
	const struct rt_command_opts unknown = { .size = 8, .argv = argv };
	const struct rt_trace_opts opts = { .size = sizeof(opts), .command = &unknown };
	struct rt_trace *trace;

	ck_assert_int_eq(rt_trace_new(&trace, &opts), -EINVAL);
	ck_assert_ptr_null(trace);
	ck_assert_uint_eq(fake.bpf_opens + fake.ptrace_opens, 0);
}
END_TEST

/* It shares the records with its parent, and would take them away. */
START_TEST(trace_of_a_forked_child_reads_nothing)
{
	struct rt_trace *trace = open_trace_of_all();
	struct rt_trace_event event;
	size_t count = 1;
	int status;
	pid_t pid;

	fake.records = 1;
	pid = fork();
	if (pid == 0)
		_exit(rt_trace_read(trace, &event, sizeof(event), &count) == -ECHILD &&
		              fake.records == 1
		          ? 0
		          : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(rt_trace_read(trace, &event, sizeof(event), &count), 0);
	ck_assert_uint_eq(count, 1);
	rt_trace_free(trace);
}
END_TEST

START_TEST(back_end_that_is_lost_gives_its_error_once_its_events_are_read)
{
	struct rt_trace *trace = open_trace_of_all();
	struct rt_trace_event events[4];
	size_t count = 4;

	fake.records = 3;
	ck_assert_int_eq(rt_trace_read(trace, events, sizeof(events[0]), &count), 0);
	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(events[2].sequence, 2);
	fake.records = -ECHILD;
	count = 4;
	ck_assert_int_eq(rt_trace_read(trace, events, sizeof(events[0]), &count), -ECHILD);
	ck_assert_uint_eq(count, 0);
	fake.records = 0;
	count = 4;
	ck_assert_int_eq(rt_trace_read(trace, events, sizeof(events[0]), &count), 0);
	fake.is_over = true;
	count = 4;
	ck_assert_int_eq(rt_trace_read(trace, events, sizeof(events[0]), &count), -ESRCH);
	rt_trace_free(trace);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

int main(void)
{
	Suite *suite = suite_create("trace");
	TCase *tests = suite_case(suite, "back ends");

	tcase_add_loop_test(tests, ring_has_the_next_power_of_two_of_the_bytes_that_are_asked_for,
	                    0, COUNT(rings));
	tcase_add_loop_test(tests, back_end_that_refuses_has_the_other_one_tried_if_that_can_do_it,
	                    0, COUNT(choices));
	tcase_add_loop_test(tests, trace_without_room_for_a_message_has_its_error, 0, 2);
	tcase_add_test(tests, command_of_no_known_size_opens_no_back_end);
	tcase_add_test(tests, trace_of_a_forked_child_reads_nothing);
	tcase_add_test(tests, back_end_that_is_lost_gives_its_error_once_its_events_are_read);
	return suite_run(suite);
}
