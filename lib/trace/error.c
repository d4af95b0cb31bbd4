/* SPDX-License-Identifier: MIT */
/* Says in words why a trace could not begin. */
#include "trace/error.h"

#include <errno.h>
#include <string.h>

static const char *sentence(int err)
{
	switch (err) {
	case -EINVAL:
		return "An option is unknown or out of range, or not exactly one of a pid, a"
		       " command and the whole machine is to be traced; ptrace can only trace a"
		       " command.";
	case -ESRCH:
		return "There is no such process.";
	default:
		return rt_strerror(err);
	}
}

void rti_trace_error_describe(const struct rt_trace_opts *opts, int err)
{
	const char *text = sentence(err);
	size_t len = strlen(text);

	if (!opts->message || !opts->message_size)
		return;
	if (len >= opts->message_size)
		len = opts->message_size - 1;
	memcpy(opts->message, text, len);
	opts->message[len] = '\0';
}
