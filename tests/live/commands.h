/* SPDX-License-Identifier: MIT */
/* Helpers for tests that start commands. Those that return a command or an outcome fail the test if
 * they cannot do so. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stdint.h>

#include <rtrack/rtrack.h>

#define WAIT_FOREVER (-1)

/* Flags of rt_command_opts that the run of the suite asks for: it runs with a supervisor, and with
 * a caller that is its own. */
uint32_t flags_of_suite(void);

/* Start argv, with the other options as they are. Returns the result of rt_command_start(). */
int start_command(struct rt_command **command, struct rt_command_opts opts,
                  const char *const argv[]);

/* Start a shell script. The caller frees the command. */
struct rt_command *start_shell(const char *script);
struct rt_command *start_shell_with(struct rt_command_opts opts, const char *script);

/* Start a shell script, wait until it exits, and free the command. */
struct rt_outcome run_shell(const char *script);
struct rt_outcome run_shell_with(struct rt_command_opts opts, const char *script);

/* Wait for some time. Returns the result of rt_command_wait(). */
int wait_for(struct rt_command *command, int64_t timeout_ns);

/* The pid of the supervisor, which is the parent of the program. Takes a sample. */
int32_t get_supervisor_pid(struct rt_command *command);

/* Wait until the command exits. */
struct rt_outcome finish_command(struct rt_command *command);

#endif
