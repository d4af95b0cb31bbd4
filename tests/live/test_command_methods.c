/* SPDX-License-Identifier: MIT */
/* The accounting method that a command really runs at, by what the kernel shows of its processes,
 * and what options that are 0 mean. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "children.h"
#include "commands.h"
#include "suite.h"
#include "tracking.h"

static const char *const sleep_argv[] = { "sleep", "100", NULL };

/* Read a file of a process, as far as it fits. "" if that is not possible. */
static void read_proc(int32_t pid, const char *name, char *text, size_t room)
{
	char path[64];
	size_t len = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	file = fopen(path, "re");
	if (file) {
		len = fread(text, 1, room - 1, file);
		fclose(file);
	}
	text[len] = '\0';
}

static int32_t get_parent(int32_t pid)
{
	char text[4096];
	const char *at;

	read_proc(pid, "status", text, sizeof(text));
	at = strstr(text, "PPid:");
	ck_assert_ptr_nonnull(at);
	return atoi(at + strlen("PPid:"));
}

/* Whether a process is in a cgroup that this process has made, of a hierarchy that the line in
 * /proc/PID/cgroup begins with. E.g.: "0:" is v2, and "" is any. */
static bool is_in_own_cgroup(int32_t pid, const char *hierarchy)
{
	char text[4096], name[32], *line, *rest = text;
	bool is_in = false;

	snprintf(name, sizeof(name), "/rtrack-%d-", (int)getpid());
	read_proc(pid, "cgroup", text, sizeof(text));
	while ((line = strsep(&rest, "\n")))
		is_in = is_in ||
		        (strncmp(line, hierarchy, strlen(hierarchy)) == 0 && strstr(line, name));
	return is_in;
}

/* The method by what the kernel shows: the parent of the program, and where it runs. */
static uint32_t find_method(int32_t pid)
{
	int32_t parent = get_parent(pid);
	char name[32];

	if (parent == getpid())
		return RT_ACCOUNTING_POLL;
	ck_assert_int_eq(get_parent(parent), getpid());
	read_proc(parent, "comm", name, sizeof(name));
	ck_assert_str_eq(name, "rtrack-supervis\n"); /* the kernel keeps 15 bytes */
	return is_in_own_cgroup(pid, "") ? RT_ACCOUNTING_CGROUP : RT_ACCOUNTING_WAIT;
}

/* Start a command and compare the method of its outcome with what the kernel shows. Returns the
 * method, or the error of the start. Sets *is_in_v2 if it ran in a cgroup of its own in v2. */
static int run_and_compare(uint32_t accounting, bool *is_in_v2)
{
	const struct rt_command_opts opts = { .accounting = accounting };
	struct rt_command *command;
	struct rt_outcome outcome;
	int err = start_command(&command, opts, sleep_argv);
	uint32_t found;

	if (err < 0)
		return err;
	found = find_method(rt_command_pid(command));
	*is_in_v2 = is_in_own_cgroup(rt_command_pid(command), "0:");
	ck_assert_int_eq(rt_command_signal(command, SIGKILL), 0);
	outcome = finish_command(command);
	ck_assert_uint_eq(outcome.accounting, found);
	ck_assert_uint_eq(outcome.reasons & RT_REASON_NO_SUPERVISOR, 0);
	rt_command_free(command);
	return (int)found;
}

/* This user may lack a cgroup. The others work everywhere. */
START_TEST(explicit_method_is_the_one_that_runs)
{
	const uint32_t methods[] = { RT_ACCOUNTING_POLL, RT_ACCOUNTING_WAIT, RT_ACCOUNTING_CGROUP };

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		bool is_in_v2;
		int found = run_and_compare(methods[i], &is_in_v2);

		if (i < 2 || found != -EOPNOTSUPP)
			ck_assert_int_eq(found, (int)methods[i]);
	}
}
END_TEST

/* A program of 0.2 may ask for the clock that was inherited then. */
START_TEST(method_of_an_inherited_clock_acts_as_wait_and_says_so)
{
	const struct rt_command_opts opts = { .accounting = RT_ACCOUNTING_WAIT_PERF };
	struct rt_command *command;
	struct rt_outcome outcome;

	ck_assert_int_eq(start_command(&command, opts, (const char *[]){ "true", NULL }), 0);
	outcome = finish_command(command);
	ck_assert_uint_eq(outcome.accounting, RT_ACCOUNTING_WAIT);
	ck_assert_uint_gt(outcome.cpu_low_ns, 0);
	ck_assert_uint_eq(outcome.cpu_estimate_ns, outcome.cpu_low_ns);
	rt_command_free(command);
}
END_TEST

/* With v1, the automatic method may be wait although a cgroup can be had. */
START_TEST(automatic_method_is_the_best_one_and_is_reported)
{
	bool is_in_v2 = false, is_automatic_in_v2;
	int explicit = run_and_compare(RT_ACCOUNTING_CGROUP, &is_in_v2);
	int found = run_and_compare(RT_ACCOUNTING_AUTO, &is_automatic_in_v2);

	ck_assert(found == RT_ACCOUNTING_CGROUP || found == RT_ACCOUNTING_WAIT);
	if (is_in_v2)
		ck_assert_int_eq(found, RT_ACCOUNTING_CGROUP);
	if (explicit == -EOPNOTSUPP)
		ck_assert_int_eq(found, RT_ACCOUNTING_WAIT);
}
END_TEST

START_TEST(options_of_zero_keep_environment_and_directory_of_caller)
{
	char script[512], dir[256];

	ck_assert_ptr_nonnull(getcwd(dir, sizeof(dir)));
	snprintf(script, sizeof(script),
	         "[ \"$RTRACK_TEST_DEFAULT\" = set ] && [ \"$(pwd -P)\" = '%s' ]", dir);
	ck_assert_int_eq(setenv("RTRACK_TEST_DEFAULT", "set", 1), 0);
	ck_assert_int_eq(run_shell(script).exit_code, 0);
}
END_TEST

START_TEST(options_of_zero_list_no_processes)
{
	struct rt_command *command = start_shell("true");
	size_t count = 0;

	finish_command(command);
	ck_assert_int_eq(
	    rt_command_processes(command, NULL, sizeof(struct rt_command_process), &count),
	    -EOPNOTSUPP);
	rt_command_free(command);
}
END_TEST

/* Without options, the tracker follows the children and measures all that it can. */
START_TEST(options_of_zero_track_the_whole_tree)
{
	const struct rt_opts zero = { .size = sizeof(zero) };
	const struct rt_command_opts opts = { .tracker = _i ? &zero : NULL };
	const uint64_t all = RT_HAS_CPU | RT_HAS_IO | RT_HAS_IO_CALLS | RT_HAS_FAULTS |
	                     RT_HAS_CTXSW | RT_HAS_PEAK_RSS | RT_HAS_PEAK_FOOTPRINT |
	                     RT_HAS_PROCESSES;
	struct rt_command *command = start_shell_with(opts, "sleep 100; true");
	struct rt_outcome outcome;

	wait_until(has_two_processes, rt_command_tracker(command));
	ck_assert_int_eq(rt_command_kill(command), 0);
	outcome = finish_command(command);
	ck_assert_uint_eq((outcome.valid | outcome.partial | outcome.estimated) & all, all);
	rt_command_free(command);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("command_methods");
	TCase *methods = suite_case(suite, "methods"), *defaults = suite_case(suite, "defaults");

	tcase_add_test(methods, explicit_method_is_the_one_that_runs);
	tcase_add_test(methods, method_of_an_inherited_clock_acts_as_wait_and_says_so);
	tcase_add_test(methods, automatic_method_is_the_best_one_and_is_reported);
	tcase_add_test(defaults, options_of_zero_keep_environment_and_directory_of_caller);
	tcase_add_test(defaults, options_of_zero_list_no_processes);
	tcase_add_loop_test(defaults, options_of_zero_track_the_whole_tree, 0, 2);
	return suite_run(suite);
}
