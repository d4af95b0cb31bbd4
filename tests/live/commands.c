/* SPDX-License-Identifier: MIT */
#include "commands.h"

#include <stddef.h>
#include <stdlib.h>

#include "suite.h"
#include "tracking.h"

uint32_t flags_of_suite(void)
{
	return getenv("RT_TEST_SUBREAPER_SELF") ? RT_COMMAND_SUBREAPER_SELF : 0;
}

int start_command(struct rt_command **command, struct rt_command_opts opts,
                  const char *const argv[])
{
	opts.size = sizeof(opts);
	opts.argv = argv;
	opts.flags |= flags_of_suite();
	return rt_command_start(command, &opts);
}

struct rt_command *start_shell(const char *script)
{
	return start_shell_with((struct rt_command_opts){ 0 }, script);
}

struct rt_command *start_shell_with(struct rt_command_opts opts, const char *script)
{
	const char *argv[] = { "sh", "-c", script, NULL };
	struct rt_command *command;

	ck_assert_int_eq(start_command(&command, opts, argv), 0);
	return command;
}

struct rt_outcome run_shell(const char *script)
{
	return run_shell_with((struct rt_command_opts){ 0 }, script);
}

struct rt_outcome run_shell_with(struct rt_command_opts opts, const char *script)
{
	struct rt_command *command = start_shell_with(opts, script);
	struct rt_outcome outcome = finish_command(command);

	rt_command_free(command);
	return outcome;
}

int wait_for(struct rt_command *command, int64_t timeout_ns)
{
	return rt_command_wait(command, timeout_ns, NULL, 0);
}

struct rt_outcome finish_command(struct rt_command *command)
{
	struct rt_outcome outcome;

	ck_assert_int_eq(rt_command_wait(command, WAIT_FOREVER, &outcome, sizeof(outcome)), 0);
	return outcome;
}

int32_t get_supervisor_pid(struct rt_command *command)
{
	struct rt_process row;
	size_t count = 1;

	sample(rt_command_tracker(command));
	ck_assert_int_eq(
	    rt_tracker_processes(rt_command_tracker(command), &row, sizeof(row), &count), 0);
	ck_assert_int_eq(row.pid, rt_command_pid(command));
	return row.ppid;
}
