/* SPDX-License-Identifier: MIT */
/* Says in words why a trace could not begin. */
#include "trace/error.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static const char *sentence(const struct rt_trace_opts *opts, int err)
{
	bool is_ptrace = opts->back_end == RT_TRACE_BACK_END_PTRACE;

	switch (err) {
	case -EINVAL:
		return "An option is unknown or out of range, or not exactly one of a pid, a "
		       "command"
		       " and the whole machine is to be traced; ptrace can only trace a command.";
	case -ESRCH:
		return "There is no such process.";
	case -EPERM:
		return is_ptrace
		           ? "The program is traced by another process already, so it cannot be"
		             " traced by ptrace."
		           : "BPF programs may not be loaded: that needs CAP_BPF and CAP_PERFMON,"
		             " or root. A command of one's own can be traced by ptrace without"
		             " these.";
	case -EOPNOTSUPP:
		return is_ptrace ? "The kernel has no PTRACE_GET_SYSCALL_INFO (Linux 5.3) or no"
		                   " seccomp filters."
		                 : "The kernel cannot trace by BPF: that needs Linux 5.14 or later"
		                   " with CONFIG_DEBUG_INFO_BTF.";
	case -ENOPKG:
		return is_ptrace ? "rtrack-tracer is not installed: install libexec/librtrack with"
		                   " the library."
		                 : "The BPF plug-in is not installed: install librtrack-bpf with"
		                   " the library.";
	default:
		return rt_strerror(err);
	}
}

void rti_trace_error_describe(const struct rt_trace_opts *opts, int err)
{
	const char *text = sentence(opts, err);
	size_t len = strlen(text);

	if (!opts->message || !opts->message_size)
		return;
	if (len >= opts->message_size)
		len = opts->message_size - 1;
	memcpy(opts->message, text, len);
	opts->message[len] = '\0';
}
