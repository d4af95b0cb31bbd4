/* SPDX-License-Identifier: MIT */
/* Says in words why a program could not be started. */
#include "command/start_error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "api/opts_error.h"
#include "api/tracker.h"
#include "bpf/refusal.h"
#include "command/bpf_account.h"
#include "command/handle.h"
#include "os/origin_refusal.h"
#include "os/process/fd_map.h"
#include "os/protocol/supervisor_protocol.h"
#include "util/sentence.h"

/* The working directory is entered first. */
static bool is_directory_to_blame(const char *path, int err)
{
	switch (err) {
	case -ENOTDIR:
		return path;
	case -ENOENT:
	case -EACCES:
	case -ELOOP:
	case -ENAMETOOLONG:
		return path && (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ||
		                faccessat(AT_FDCWD, path, F_OK, 0) < 0);
	default:
		return false;
	}
}

static const char *help_with_program(const char *program, int err)
{
	if (err == -ENOENT && !strchr(program, '/'))
		return rti_sentence(RTI_CAUSE_PROGRAM_NOT_IN_PATH, err);
	if (err == -ENOENT && faccessat(AT_FDCWD, program, F_OK, 0) == 0)
		return rti_sentence(RTI_CAUSE_PROGRAM_INTERPRETER, err);
	return rti_sentence(RTI_CAUSE_PROGRAM_HELP, err);
}

/* The first one that is not open; else one is above the limit. */
static enum rti_cause cause_of_descriptor(const struct rt_command_opts *opts,
                                          struct rti_values *values)
{
	for (uint32_t i = 0; i < opts->fd_count; i++) {
		const struct rt_fd *fd = &opts->fds[i];

		if (fd->source < 0 || fcntl(fd->source, F_GETFD) >= 0)
			continue;
		values->value = (uint64_t)fd->source;
		values->other = (uint64_t)fd->target;
		return RTI_CAUSE_FDS_CLOSED;
	}
	return RTI_CAUSE_FDS_LIMIT;
}

/* Two entries have one target, or one is out of range. Else the program is to blame. */
static enum rti_cause cause_of_bad_descriptor(const struct rt_command_opts *opts,
                                              struct rti_values *values)
{
	if (opts->fd_count > RTI_FD_MAP_MAX)
		return RTI_CAUSE_FDS_COUNT;
	for (uint32_t i = 0; i < opts->fd_count; i++) {
		if (rti_fd_map_check(opts->fds, i + 1) == 0)
			continue;
		values->value = i;
		if (opts->fds[i].target < 0)
			return RTI_CAUSE_FDS_TARGET;
		return opts->fds[i].source < -2 ? RTI_CAUSE_FDS_SOURCE : RTI_CAUSE_FDS_TWICE;
	}
	return RTI_CAUSE_PROGRAM_DAMAGED;
}

/* In the order in which the options are checked. */
static enum rti_cause cause_of_bad_option(const struct rt_command_opts *opts,
                                          struct rti_values *values)
{
	if (!opts->argv[0])
		return RTI_CAUSE_COMMAND_EMPTY;
	if (opts->flags & ~RTI_COMMAND_FLAGS)
		return RTI_CAUSE_COMMAND_FLAGS;
	if (opts->reserved)
		return RTI_CAUSE_COMMAND_RESERVED;
	if (opts->accounting > RT_ACCOUNTING_BPF)
		return RTI_CAUSE_COMMAND_ACCOUNTING;
	return cause_of_bad_descriptor(opts, values);
}

static enum rti_cause cause_of(const struct rt_command_opts *opts, int err, int why,
                               struct rti_values *values)
{
	if (err == -EFAULT && opts->argv)
		return RTI_CAUSE_FDS_NULL;
	if (err == -ECHILD && opts->accounting == RT_ACCOUNTING_POLL)
		return RTI_CAUSE_COMMAND_REAPED;
	if (why == -EBUSY && err == -ECHILD)
		return RTI_CAUSE_SUPERVISOR_STOPPED;
	if (why == -ETIME && err == -ETIMEDOUT)
		return RTI_CAUSE_START_TIMEOUT;
	if (rti_sentence(RTI_CAUSE_COMMAND, err))
		return RTI_CAUSE_COMMAND;
	if (err == -EINVAL)
		return cause_of_bad_option(opts, values);
	if (err == -EBADF)
		return cause_of_descriptor(opts, values);
	if (is_directory_to_blame(opts->cwd, err)) {
		values->name = opts->cwd;
		return *opts->cwd ? RTI_CAUSE_DIRECTORY : RTI_CAUSE_DIRECTORY_EMPTY;
	}
	values->name = opts->argv[0];
	values->more = help_with_program(opts->argv[0], err);
	return *opts->argv[0] ? RTI_CAUSE_PROGRAM : RTI_CAUSE_PROGRAM_EMPTY;
}

/* why: the error of the call that failed; 0: unknown. */
static void describe_method(struct rti_text *text, uint32_t method, int why)
{
	const struct rti_values values = { .error = rt_strerror(why) };

	if (method == RT_ACCOUNTING_BPF) {
		/* The reason is lost with the handle, so ask again: a refusal comes at once. */
		struct rti_command_account account = { 0 };
		int err = rti_command_account_open(&account, false);

		rti_command_account_close(&account);
		rti_say(text, RTI_CAUSE_METHOD_BPF, err, NULL);
		rti_bpf_refusal_add(text, err, "6.2");
		return;
	}
	rti_say(text,
	        method == RT_ACCOUNTING_CGROUP ? RTI_CAUSE_METHOD_CGROUP
	        : method == RT_ACCOUNTING_WAIT ? RTI_CAUSE_METHOD_WAIT
	                                       : RTI_CAUSE_METHOD,
	        why, &values);
	if (why)
		rti_say(text, RTI_CAUSE_SYSTEM_CALL, why, &values);
}

/* Returns false if the options of the tracker are not to blame. */
static bool describe_tracker_opts(struct rti_text *text, const struct rt_command_opts *opts,
                                  int err)
{
	struct rt_opts known;
	int refused = rti_tracker_check_opts(opts->tracker, &known);

	if (err != -EINVAL && err != -E2BIG)
		return false;
	if (refused < 0)
		rti_opts_error_add(text, &known, RT_KIND_PID, refused);
	else if (known.root)
		rti_say(text, RTI_CAUSE_COMMAND_ROOT, err, NULL);
	else if (known.flags & RT_OPT_NO_CHILDREN && opts->accounting > RT_ACCOUNTING_POLL)
		rti_say(text, RTI_CAUSE_COMMAND_ALONE, err, NULL);
	else
		return false;
	return true;
}

void rti_start_error_describe(const struct rt_command_opts *opts, int err, int why)
{
	struct rti_values values = { .error = rt_strerror(err) };
	struct rti_text text;

	if (!opts->message || !opts->message_size)
		return;
	text = rti_text(opts->message, opts->message_size);
	if (describe_tracker_opts(&text, opts, err))
		return;
	if (err == -ENOPKG && rti_origin_say_refused(&text, RTI_SUPERVISOR_NAME))
		return;
	if (err == -EOPNOTSUPP)
		describe_method(&text, opts->accounting, why);
	else
		rti_say(&text, cause_of(opts, err, why, &values), err, &values);
}
