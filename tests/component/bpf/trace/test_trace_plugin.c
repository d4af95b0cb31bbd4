/* SPDX-License-Identifier: MIT */
/* The plug-in's part that traces calls, in each form of its programs: with storage at tasks, as if
 * there were no storage left, for raw tracepoints, and for these with room for one mark alone. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/module.h"
#include "bpf/trace/trace.h"
#include "refusals.h"
#include "suite.h"

#define RING_BYTES (1u << 20)
#define ROOM 64
#define MARKER 0x777000u /* an address that no process has, to know the calls of this test by */
#define CALLS 100
#define SEARCHES 60
#define FORKERS 3
#define LOOKS 200 /* 20 s, for the end of a trace */

enum form { WITH_STORAGE, WITHOUT_STORAGE, RAW, RAW_WITHOUT_ROOM, FORMS };

static struct rti_module module;
static const struct rti_trace_ops *ops;

static struct rti_trace_target target_of(int form, uint32_t kind)
{
	return (struct rti_trace_target){
		.kind = kind,
		.calls = RTI_TRACE_GETRUSAGE,
		.ring_bytes = RING_BYTES,
		.has_children = true,
		.is_raw = form == RAW || form == RAW_WITHOUT_ROOM,
		.marks_max = form == RAW_WITHOUT_ROOM,
		.lacks_storage = form == WITHOUT_STORAGE,
	};
}

static void *make_calls(void *unused)
{
	(void)unused;
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getrusage, RUSAGE_SELF, MARKER);
	return NULL;
}

/* A child with a thread and a child: 300 calls. */
static void run_child(void)
{
	pthread_t thread;
	pid_t pid = fork();

	if (pid == 0) {
		make_calls(NULL);
		_exit(0);
	}
	if (pthread_create(&thread, NULL, make_calls, NULL) != 0)
		_exit(1);
	make_calls(NULL);
	pthread_join(thread, NULL);
	waitpid(pid, NULL, 0);
	_exit(0);
}

static void *fork_child(void *pid)
{
	*(pid_t *)pid = fork();
	if (*(pid_t *)pid == 0)
		run_child();
	return NULL;
}

static void add_path(void *arg, uint64_t device, uint64_t inode, const char *path)
{
	(void)arg;
	(void)device;
	(void)inode;
	ck_assert_int_eq(path[0], '/');
}

static int read_marked(void *tracer, pid_t *pid)
{
	static struct rti_trace_record records[ROOM];
	int marked = 0, count = ops->read(tracer, records, ROOM, add_path, NULL);

	for (int i = 0; i < count; i++) {
		if (records[i].usage_address != MARKER)
			continue;
		ck_assert_int_eq(records[i].result, -EFAULT);
		ck_assert_uint_gt(records[i].return_ns, records[i].entry_ns);
		if (!*pid)
			*pid = records[i].pid;
		marked++;
	}
	return count < ROOM && !marked ? -1 : marked;
}

/* Until nothing that is traced runs. */
static int read_to_end(void *tracer)
{
	struct rti_trace_state_of_ring state;
	int marked = 0;

	do {
		struct pollfd fd = { .fd = ops->fd(tracer), .events = POLLIN };
		pid_t pid = 0;
		int some;

		ops->set_wake(tracer, RTI_WAKE_AT_ONCE);
		some = read_marked(tracer, &pid);
		marked += some > 0 ? some : 0;
		ops->get_state(tracer, &state);
		if (some < 0 && !state.is_over)
			ck_assert_int_ge(poll(&fd, 1, 100), 0);
	} while (!state.is_over);
	ck_assert_uint_eq(state.threads, 0);
	ck_assert_uint_eq(state.lost, 0);
	return marked;
}

START_TEST(armed_thread_has_what_it_forks_traced_and_no_other)
{
	const struct rti_trace_target target = target_of(_i, RTI_TARGET_COMMAND);
	pthread_t other;
	pid_t mine, others;
	void *tracer;

	ck_assert_int_eq(ops->open(&tracer, &target), 0);
	ck_assert_int_eq(ops->arm(tracer, true), 0);
	ck_assert_int_eq(pthread_create(&other, NULL, fork_child, &others), 0);
	ck_assert_int_eq(pthread_join(other, NULL), 0);
	fork_child(&mine);
	ck_assert_int_eq(ops->arm(tracer, false), 0);
	ck_assert_int_eq(waitpid(others, NULL, 0), others);
	ck_assert_int_eq(read_to_end(tracer), 3 * CALLS);
	ck_assert_int_eq(waitpid(mine, NULL, 0), mine);
	ops->close(tracer);
}
END_TEST

START_TEST(machine_target_needs_no_marks)
{
	const struct rti_trace_target target = target_of(_i, RTI_TARGET_ALL);
	struct rti_trace_record record;
	bool is_found = false;
	void *tracer;

	ck_assert_int_eq(ops->open(&tracer, &target), 0);
	while (!is_found) {
		if (ops->read(tracer, &record, 1, add_path, NULL) == 1)
			is_found = record.usage_address == MARKER;
		else
			make_calls(NULL);
	}
	ck_assert_int_eq(record.tid, (int32_t)syscall(SYS_gettid));
	/* Without storage the time of the entry is not kept. Another process may have the one mark
	 * that there is room for. */
	if (_i != RAW_WITHOUT_ROOM)
		ck_assert_uint_eq(record.flags & RTI_TRACE_NO_ENTRY,
		                  _i == WITHOUT_STORAGE ? RTI_TRACE_NO_ENTRY : 0);
	ops->close(tracer);
}
END_TEST

/* A child that runs already, and what it forks later. */
START_TEST(running_tree_is_searched)
{
	struct rti_trace_target target = target_of(_i, RTI_TARGET_PID);
	int err, begin[2];
	void *tracer;
	char byte;

	ck_assert_int_eq(pipe(begin), 0);
	target.pid = fork();
	if (target.pid == 0) {
		if (read(begin[0], &byte, 1) == 1)
			run_child();
		_exit(1);
	}
	err = ops->open(&tracer, &target);
	ck_assert_int_eq(write(begin[1], "x", 1), 1);
	if (target.is_raw) {
		ck_assert_int_eq(err, -EOPNOTSUPP);
	} else {
		ck_assert_int_eq(err, 0);
		ck_assert_int_eq(read_to_end(tracer), 3 * CALLS);
		ops->close(tracer);
	}
	ck_assert_int_eq(waitpid(target.pid, NULL, 0), target.pid);
	close(begin[0]);
	close(begin[1]);
}
END_TEST

/* The calling process has been forked by this one just now. */
static void end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

/* Until it is killed. */
static void fork_for_ever(void)
{
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

static void run_forkers(pid_t test)
{
	pid_t self = getpid();

	end_with(test);
	for (int i = 0; i < FORKERS; i++) {
		if (fork() == 0) {
			end_with(self);
			fork_for_ever();
		}
	}
	for (;;)
		pause();
}

static bool ends(void *tracer)
{
	struct rti_trace_state_of_ring state = { .is_over = false };
	pid_t pid = 0;

	for (int i = 0; i < LOOKS && !state.is_over; i++) {
		usleep((unsigned)i * 1000);
		while (read_marked(tracer, &pid) >= 0)
			;
		ops->get_state(tracer, &state);
	}
	return state.is_over;
}

static unsigned long threads_of(void *tracer)
{
	struct rti_trace_state_of_ring state;

	ops->get_state(tracer, &state);
	return (unsigned long)state.threads;
}

/* A process that is forked at this moment is seen by the search and by the program at the fork. Two
 * marks would have it counted twice, and out once. */
START_TEST(tree_that_forks_while_it_is_searched_ends)
{
	struct rti_trace_target target = target_of(_i, RTI_TARGET_PID);
	pid_t self = getpid();

	for (int i = 0; i < SEARCHES; i++) {
		void *tracer;

		target.pid = fork();
		ck_assert_int_ge(target.pid, 0);
		if (target.pid == 0)
			run_forkers(self);
		usleep(2000);
		ck_assert_int_eq(ops->open(&tracer, &target), 0);
		ck_assert_int_eq(kill(target.pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(target.pid, NULL, 0), target.pid);
		ck_assert_msg(ends(tracer), "trace %d does not end, threads %lu", i,
		              threads_of(tracer));
		ops->close(tracer);
	}
}
END_TEST

int main(void)
{
	const struct rti_module_version version = { RTI_TRACE_PLUGIN,
		                                    sizeof(struct rti_trace_record) };
	Suite *suite = suite_create("trace_plugin");
	TCase *forms = suite_case(suite, "forms");

	if (!IS_BUILT)
		return suite_skip("the BPF plug-in was not built");
	if (!has_bpf())
		return suite_skip("calls cannot be traced by BPF here");
	if (rti_module_open(&module, RTI_TRACE_ENTRY, version) < 0) {
		fputs("the BPF plug-in was built and cannot be opened\n", stderr);
		return EXIT_FAILURE;
	}
	ops = module.ops;
	tcase_add_loop_test(forms, armed_thread_has_what_it_forks_traced_and_no_other, 0, FORMS);
	tcase_add_loop_test(forms, machine_target_needs_no_marks, 0, FORMS);
	tcase_add_loop_test(forms, running_tree_is_searched, 0, FORMS);
	tcase_add_loop_test(forms, tree_that_forks_while_it_is_searched_ends, 0, RAW);
	return suite_run(suite);
}
