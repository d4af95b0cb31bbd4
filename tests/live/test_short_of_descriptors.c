/* SPDX-License-Identifier: MIT */
/* Starts with too few descriptors: each fails with a clear error, and leaves nothing behind. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "suite.h"

/* A start needs fewer than this. */
#define ROOM_MAX 64
/* Until a helper that was given up has ended. */
#define STARTS_MAX 1000

static const char *const argv[] = { "true", NULL };
static char message[512];

static void limit_descriptors(rlim_t end)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = end;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static int count_descriptors(void)
{
	int count = 0;
	DIR *dir = opendir("/proc/self/fd");

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* How many cgroups of this process there are, in a directory and below it. */
static int count_cgroups(const char *path, int depth)
{
	char name[40], below[1024];
	struct dirent *entry;
	int count = 0;
	DIR *dir = depth > 0 ? opendir(path) : NULL;

	snprintf(name, sizeof(name), "rtrack-%d-", (int)getpid());
	while (dir && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		count += strncmp(entry->d_name, name, strlen(name)) == 0;
		snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		count += count_cgroups(below, depth - 1);
	}
	if (dir)
		closedir(dir);
	return count;
}

static int start_command(uint32_t accounting, uint32_t flags)
{
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .flags = flags,
		                              .accounting = accounting,
		                              .message = message,
		                              .message_size = sizeof(message) };
	struct rt_command *command;
	int err = rt_command_start(&command, &opts);

	if (err == 0) {
		ck_assert_int_eq(rt_command_wait(command, -1, NULL, 0), 0);
		rt_command_free(command);
	}
	return err;
}

/* Whether this process has a child, be it a zombie. */
static bool has_child(void)
{
	siginfo_t child;

	return waitid(P_ALL, 0, &child, WEXITED | WNOWAIT | WNOHANG) == 0;
}

/* The library reaps a helper that takes a moment to end with the next start. Returns the number of
 * descriptors then. */
static int settle(int expected)
{
	int descriptors = 0;

	for (int i = 0; i < STARTS_MAX; i++) {
		ck_assert_int_eq(start_command(RT_ACCOUNTING_WAIT, 0), 0);
		descriptors = count_descriptors();
		if (!has_child() && descriptors <= expected)
			break;
		usleep(1000);
	}
	return descriptors;
}

static int start_trace(uint32_t back_end, uint32_t flags)
{
	const struct rt_command_opts command = { .size = sizeof(command), .argv = argv };
	const struct rt_trace_opts opts = { .size = sizeof(opts),
		                            .command = &command,
		                            .flags = flags,
		                            .back_end = back_end,
		                            .message = message,
		                            .message_size = sizeof(message) };
	struct rt_trace *trace;
	int err = rt_trace_new(&trace, &opts);

	if (err == 0) {
		ck_assert_int_eq(rt_command_wait(rt_trace_command(trace), -1, NULL, 0), 0);
		rt_trace_free(trace);
	}
	return err;
}

/* Start with no room, and with one descriptor more each time until it works. */
static void check_all(int (*start)(uint32_t how, uint32_t flags), uint32_t how, uint32_t flags)
{
	int next = open("/dev/null", O_RDONLY | O_CLOEXEC), err, descriptors;
	int count_before = count_descriptors() - 1;
	struct rlimit before;
	rlim_t room;

	ck_assert_int_ge(next, 0);
	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	err = start(how, flags);
	if (err == -EOPNOTSUPP || err == -EPERM) {
		suite_skip_test(message);
		return;
	}
	ck_assert_msg(err == 0, "%d: %s", err, message);
	descriptors = settle(count_before);
	ck_assert_int_eq(descriptors, count_before);
	err = -EMFILE;
	for (room = 0; err != 0 && room < ROOM_MAX; room++) {
		message[0] = '\0';
		limit_descriptors((rlim_t)next + room);
		err = start(how, flags);
		limit_descriptors(before.rlim_cur);
		ck_assert_msg(err == 0 || err == -EMFILE, "room for %u: %d, %s", (unsigned)room,
		              err, message);
		ck_assert_msg(err == 0 || strstr(message, "raise RLIMIT_NOFILE"), "room for %u: %s",
		              (unsigned)room, message);
		descriptors = settle(count_before);
		ck_assert_msg(descriptors == count_before, "room for %u: %d descriptors, not %d",
		              (unsigned)room, descriptors, count_before);
		ck_assert_msg(!has_child(), "room for %u: a process is left", (unsigned)room);
		ck_assert_msg(count_cgroups("/sys/fs/cgroup", 6) == 0,
		              "room for %u: a cgroup is left", (unsigned)room);
	}
	ck_assert_uint_gt(room, 1);
	ck_assert_int_eq(err, 0);
}

START_TEST(command_without_room_for_descriptors_leaves_nothing)
{
	check_all(start_command, (uint32_t)_i, 0);
}
END_TEST

START_TEST(command_with_list_without_room_for_descriptors_leaves_nothing)
{
	check_all(start_command, (uint32_t)_i, RT_COMMAND_LIST_PROCESSES);
}
END_TEST

START_TEST(command_under_its_caller_without_room_for_descriptors_leaves_nothing)
{
	check_all(start_command, (uint32_t)_i, RT_COMMAND_SUBREAPER_SELF);
}
END_TEST

START_TEST(trace_without_room_for_descriptors_leaves_nothing)
{
	check_all(start_trace, (uint32_t)_i, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("short_of_descriptors");
	TCase *tcase = suite_case(suite, "short_of_descriptors");

	for (int method = RT_ACCOUNTING_AUTO; method <= RT_ACCOUNTING_BPF; method++) {
		if (method != RT_ACCOUNTING_WAIT_PERF)
			tcase_add_loop_test(tcase,
			                    command_without_room_for_descriptors_leaves_nothing,
			                    method, method + 1);
	}
	tcase_add_loop_test(tcase, command_with_list_without_room_for_descriptors_leaves_nothing,
	                    RT_ACCOUNTING_WAIT, RT_ACCOUNTING_CGROUP + 1);
	tcase_add_loop_test(tcase,
	                    command_under_its_caller_without_room_for_descriptors_leaves_nothing,
	                    RT_ACCOUNTING_WAIT, RT_ACCOUNTING_CGROUP + 1);
	tcase_add_loop_test(tcase, trace_without_room_for_descriptors_leaves_nothing,
	                    RT_TRACE_BACK_END_BPF, RT_TRACE_BACK_END_PTRACE + 1);
	return suite_run(suite);
}
