/* SPDX-License-Identifier: MIT */
/* What rt_pid_tracker_new() and rt_system_tracker_new() say of a failure, besides its number. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "arguments.h"
#include "fixture.h"
#include "suite.h"

#define MESSAGE_MAX 256

static char message[MESSAGE_MAX];

static void check_text(const char *text)
{
	ck_assert_msg(memchr(message, '\0', sizeof(message)) && strstr(message, text),
	              "%.*s: no \"%s\"", MESSAGE_MAX, message, text);
	ck_assert_int_eq(message[strlen(message) - 1], '.');
}

/* pid 0: of the system. Expect an error and a message with this text in it. */
static void check_new(int32_t pid, struct rt_opts opts, int expected, const char *text)
{
	struct rt_tracker *tracker;
	int err;

	memset(message, FILLED, sizeof(message));
	opts.size = opts.size ? opts.size : sizeof(opts);
	opts.message = message;
	opts.message_size = sizeof(message);
	err =
	    pid ? rt_pid_tracker_new(&tracker, pid, &opts) : rt_system_tracker_new(&tracker, &opts);
	ck_assert_int_eq(err, expected);
	ck_assert_ptr_null(tracker);
	check_text(text);
}

START_TEST(message_names_the_process_that_is_missing)
{
	struct rt_opts opts = { 0 };
	pid_t pid = make_exited_pid();
	char text[64];

	snprintf(text, sizeof(text), "There is no process %d in the pid namespace", (int)pid);
	check_new(pid, opts, -ESRCH, text);
	check_new(-5, opts, -EINVAL, "A pid is a number above 0");
}
END_TEST

static pthread_barrier_t barrier;

static void *run_thread(void *arg)
{
	*(pid_t *)arg = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

START_TEST(message_about_a_thread_names_its_process)
{
	struct rt_opts opts = { 0 };
	pthread_t thread;
	char text[64];
	pid_t tid;

	pthread_barrier_init(&barrier, NULL, 2);
	ck_assert_int_eq(pthread_create(&thread, NULL, run_thread, &tid), 0);
	pthread_barrier_wait(&barrier);
	snprintf(text, sizeof(text), "%d is the id of a thread of process %d", (int)tid,
	         (int)getpid());
	check_new(tid, opts, -ESRCH, text);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&barrier);
}
END_TEST

START_TEST(message_names_the_bits_that_no_tracker_measures)
{
	struct rt_opts opts = { 0 };

	opts.want = RT_HAS_CPU | RT_HAS_RATE;
	check_new(getpid(), opts, -EINVAL, "rt_opts.want has RT_HAS_RATE, which no tracker");
	opts.want = RT_HAS_PROCESSES_PEAK | UINT64_C(1) << 61;
	check_new(0, opts, -EINVAL, "RT_HAS_PROCESSES_PEAK, bit 61, which no tracker");
}
END_TEST

START_TEST(message_names_the_flag_and_the_call_that_takes_it)
{
	struct rt_opts opts = { .flags = RT_OPT_NETWORK_FILESYSTEMS };

	check_new(getpid(), opts, -EINVAL,
	          "RT_OPT_NETWORK_FILESYSTEMS, which only rt_system_tracker_new()");
	opts.flags = RT_OPT_NO_CHILDREN | RT_OPT_PROCESS_EVENTS;
	check_new(0, opts, -EINVAL,
	          "RT_OPT_NO_CHILDREN, RT_OPT_PROCESS_EVENTS, which only rt_pid_tracker_new()");
	opts.flags = UINT32_C(1) << 30;
	check_new(0, opts, -EINVAL, "rt_opts.flags has bit 30");
}
END_TEST

START_TEST(message_about_reserved_fields_says_so)
{
	struct rt_opts opts = { .reserved = 1 };

	check_new(getpid(), opts, -EINVAL, "rt_opts.reserved is not 0");
	opts = (struct rt_opts){ .reserved_2 = 1 };
	check_new(0, opts, -EINVAL, "rt_opts.reserved is not 0");
}
END_TEST

START_TEST(message_names_the_root)
{
	struct rt_opts opts = { .root = "/nonexistent" };
	struct fixture root;

	check_new(0, opts, -ENOENT, "/nonexistent/proc: no such file");
	opts.root = "/proc/version";
	check_new(getpid(), opts, -ENOTDIR, "/proc/version/proc: not a directory");
	fixture_new(&root);
	opts.root = root.root;
	check_new(7, opts, -ESRCH, "There is no process 7 below /");
	fixture_free(&root);
}
END_TEST

START_TEST(message_about_descriptors_names_the_limit)
{
	struct rt_opts opts = { 0 };
	struct rlimit before, limit;

	getrlimit(RLIMIT_NOFILE, &before);
	limit = before;
	limit.rlim_cur = 3;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while (dup(0) >= 0)
		;
	check_new(getpid(), opts, -EMFILE, "RLIMIT_NOFILE");
	/* The leak detector needs some at the end. */
	setrlimit(RLIMIT_NOFILE, &before);
}
END_TEST

START_TEST(message_of_a_longer_struct_names_the_sizes)
{
	struct {
		struct rt_opts known;
		uint64_t later;
	} opts = { .known = { .size = sizeof(opts),
		              .message = message,
		              .message_size = sizeof(message) },
		   .later = 1 };
	struct rt_tracker *tracker;
	char text[64];

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), &opts.known), -E2BIG);
	snprintf(text, sizeof(text), "rt_opts has %u bytes, of which this library knows %zu",
	         (unsigned)sizeof(opts), sizeof(opts.known));
	check_text(text);
}
END_TEST

START_TEST(message_is_untouched_on_success_and_if_the_size_is_no_releases)
{
	struct rt_opts opts = { .size = sizeof(opts),
		                .message = message,
		                .message_size = sizeof(message) };
	struct rt_tracker *tracker;

	memset(message, FILLED, sizeof(message));
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), &opts), 0);
	rt_tracker_free(tracker);
	opts.size = OPTS_0_1 - 1;
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), &opts), -EINVAL);
	opts.size = offsetof(struct rt_opts, message_size); /* that of release 0.2 */
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, -1, &opts), -EINVAL);
	opts.size = sizeof(opts);
	opts.message_size = 0;
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, -1, &opts), -EINVAL);
	ck_assert(is_filled(message, sizeof(message)));
	opts.message = NULL;
	opts.message_size = sizeof(message);
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, -1, &opts), -EINVAL);
}
END_TEST

START_TEST(message_is_cut_to_fit)
{
	char small[8];
	struct rt_opts opts = { .size = sizeof(opts), .message = small };
	struct rt_tracker *tracker;

	for (uint32_t size = 1; size <= sizeof(small); size++) {
		memset(small, FILLED, sizeof(small));
		opts.message_size = size;
		ck_assert_int_eq(rt_pid_tracker_new(&tracker, -1, &opts), -EINVAL);
		ck_assert_uint_lt(strlen(small), size);
		ck_assert_int_eq(size < sizeof("...") || strstr(small, "..."), 1);
		ck_assert(is_filled(small + size, sizeof(small) - size));
	}
}
END_TEST

/* The tracker of a command has no message of its own. */
START_TEST(command_has_the_message_about_its_tracker)
{
	const char *const argv[] = { "true", NULL };
	char own[64];
	struct rt_opts tracker = { .size = sizeof(tracker),
		                   .message = own,
		                   .message_size = sizeof(own) };
	struct rt_command_opts opts = { .size = sizeof(opts),
		                        .argv = argv,
		                        .tracker = &tracker,
		                        .message = message,
		                        .message_size = sizeof(message) };
	struct rt_command *command;

	memset(own, FILLED, sizeof(own));
	tracker.want = RT_HAS_RATE;
	ck_assert_int_eq(rt_command_start(&command, &opts), -EINVAL);
	check_text("rt_opts.want has RT_HAS_RATE");
	tracker.want = 0;
	tracker.root = "/";
	ck_assert_int_eq(rt_command_start(&command, &opts), -EINVAL);
	check_text("rt_opts.root must be NULL");
	tracker.root = NULL;
	tracker.flags = RT_OPT_NO_CHILDREN;
	opts.accounting = RT_ACCOUNTING_WAIT;
	ck_assert_int_eq(rt_command_start(&command, &opts), -EINVAL);
	check_text("RT_OPT_NO_CHILDREN works only with RT_ACCOUNTING_POLL");
	opts.accounting = RT_ACCOUNTING_POLL;
	ck_assert_int_eq(rt_command_start(&command, &opts), 0);
	ck_assert_int_eq(rt_command_wait(command, -1, NULL, 0), 0);
	rt_command_free(command);
	ck_assert(is_filled(own, sizeof(own)));
}
END_TEST

/* It may fail when the program runs already, and cannot be tracked. */
START_TEST(command_that_cannot_be_tracked_has_the_message)
{
	const char *const argv[] = { "true", NULL };
	char own[64];
	struct rt_opts tracker = { .size = sizeof(tracker),
		                   .message = own,
		                   .message_size = sizeof(own) };
	struct rt_command_opts opts = { .size = sizeof(opts),
		                        .argv = argv,
		                        .tracker = &tracker,
		                        .accounting = RT_ACCOUNTING_POLL,
		                        .message = message,
		                        .message_size = sizeof(message) };
	struct rt_command *command;
	struct rlimit limit;
	int failures = 0, err = -EMFILE, next = dup(0);

	close(next);
	getrlimit(RLIMIT_NOFILE, &limit);
	memset(own, FILLED, sizeof(own));
	for (limit.rlim_cur = (rlim_t)next; err < 0; limit.rlim_cur++) {
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
		memset(message, FILLED, sizeof(message));
		err = rt_command_start(&command, &opts);
		failures += err < 0;
		if (err < 0)
			check_text("RLIMIT_NOFILE");
	}
	ck_assert_int_ge(failures, 4); /* at least one when the program was running */
	ck_assert_int_eq(rt_command_wait(command, -1, NULL, 0), 0);
	rt_command_free(command);
	ck_assert(is_filled(own, sizeof(own)));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tracker_messages");
	TCase *tests = suite_case(suite, "tracker_messages");

	tcase_add_test(tests, message_names_the_process_that_is_missing);
	tcase_add_test(tests, message_about_a_thread_names_its_process);
	tcase_add_test(tests, message_names_the_bits_that_no_tracker_measures);
	tcase_add_test(tests, message_names_the_flag_and_the_call_that_takes_it);
	tcase_add_test(tests, message_about_reserved_fields_says_so);
	tcase_add_test(tests, message_names_the_root);
	tcase_add_test(tests, message_about_descriptors_names_the_limit);
	tcase_add_test(tests, message_of_a_longer_struct_names_the_sizes);
	tcase_add_test(tests, message_is_untouched_on_success_and_if_the_size_is_no_releases);
	tcase_add_test(tests, message_is_cut_to_fit);
	tcase_add_test(tests, command_has_the_message_about_its_tracker);
	tcase_add_test(tests, command_that_cannot_be_tracked_has_the_message);
	return suite_run(suite);
}
