/* SPDX-License-Identifier: MIT */
/* The exit code of a subcommand that starts a command. */
#include "exit_code.h"

#include <errno.h>

#include "text/message.h"

/* As in env(1) and timeout(1), the exit code shows whether rtrack or the command failed. */
int exit_code_of_failed_start(int err)
{
	switch (err) {
	case -ENOENT:
		return EXIT_NOT_FOUND;
	case -ECHILD: /* the command may have run */
		return EXIT_STATUS_LOST;
	case -EAGAIN:
	case -ENOMEM:
	case -EMFILE:
	case -ENFILE:
	case -EINVAL:
	case -ENOSYS:
	case -EXDEV:
	case -EOPNOTSUPP:
	case -ENOPKG:
	case -EPROTO:
	case -ETIMEDOUT:
		return EXIT_BEFORE_START;
	default:
		return EXIT_CANNOT_EXEC;
	}
}

int exit_code_of_outcome(const struct rt_outcome *outcome)
{
	if (outcome->signal > 0)
		return EXIT_SIGNAL_BASE + outcome->signal;
	/* -1: the exit status is lost, which was reported. */
	return outcome->exit_code >= 0 ? outcome->exit_code : EXIT_STATUS_LOST;
}
