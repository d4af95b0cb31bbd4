/* SPDX-License-Identifier: MIT */
/* Says in words why a trace could not begin. */
#include "trace/error.h"

#include <errno.h>

#include "util/text.h"

void rti_trace_error_describe(const struct rt_trace_opts *opts, int err)
{
	struct rti_text text;

	if (!opts->message || !opts->message_size)
		return;
	text = rti_text(opts->message, opts->message_size);
	if (err == -EINVAL) {
		rti_text_add(&text, "An option is unknown or out of range, or not exactly one of a"
		                    " pid, a command and the whole machine is to be traced; ptrace"
		                    " can only trace a command.");
	} else if (err == -ESRCH) {
		rti_text_add(&text, "There is no such process.");
	} else if (err == -EMFILE || err == -ENFILE) {
		rti_text_add(&text, "The limit of open descriptors is reached: close some, or raise"
		                    " RLIMIT_NOFILE or fs.file-max. A trace needs about 30.");
	} else {
		rti_text_add(&text, "The trace cannot begin: ");
		rti_text_add(&text, rt_strerror(err));
		rti_text_add(&text, ".");
	}
}
