/* SPDX-License-Identifier: MIT */
/* Says in words why a program could not be traced by ptrace(2). */
#include "trace/ptrace_error.h"

#include <errno.h>
#include <string.h>

#include "command/start_error.h"
#include "os/word_file.h"
#include "util/decimal.h"
#include "util/text.h"

void rti_ptrace_describe_tracer(const struct rti_trace_request *request, int err)
{
	struct rti_text text = rti_text(request->reason, request->reason_size);

	if (err == -ENOPKG)
		rti_text_add(&text, RTI_TRACER_NAME " is not installed: install libexec/librtrack"
		                                    " with the library.");
	else if (err == -EOPNOTSUPP)
		rti_text_add(&text, "No memory can be shared with " RTI_TRACER_NAME ".");
	else if (err == -ECHILD)
		rti_text_add(&text,
		             RTI_TRACER_NAME " was killed before it could start the program.");
	else if (err == -ETIMEDOUT)
		rti_text_add(&text, RTI_TRACER_NAME " did not begin in time: it may be in a frozen"
		                                    " cgroup.");
}

static void name_tracer(struct rti_text *text, int32_t pid)
{
	char path[RTI_DECIMAL_MAX + sizeof("/comm")], name[64];

	memcpy(rti_decimal(path, (uint64_t)pid), "/comm", sizeof("/comm"));
	rti_read_word(RTI_PROC, path, name, sizeof(name));
	rti_text_add(text, "The program is traced already, by process ");
	rti_text_add_number(text, (uint64_t)pid);
	if (*name) {
		rti_text_add(text, " (");
		rti_text_add(text, name);
		rti_text_add(text, ")");
	}
	rti_text_add(text, ": a process has one tracer at most.");
}

/* -EPERM of a process that is not traced yet. */
static void describe_ban(struct rti_text *text)
{
	char scope[8];

	rti_read_word(RTI_PROC, "sys/kernel/yama/ptrace_scope", scope, sizeof(scope));
	if (strcmp(scope, "3") == 0)
		rti_text_add(text, "No process may use ptrace: kernel.yama.ptrace_scope is 3.");
	else if (strcmp(scope, "2") == 0)
		rti_text_add(text, "Only a process with CAP_SYS_PTRACE may use ptrace:"
		                   " kernel.yama.ptrace_scope is 2.");
	else
		rti_text_add(text, "The use of ptrace is forbidden here, e.g. by the seccomp"
		                   " filter of a container.");
}

static int describe_seizure(struct rti_text *text, const struct rti_tracer_report *report)
{
	if (report->pid > 0)
		name_tracer(text, report->pid);
	else if (report->error == EPERM || report->error == EACCES)
		describe_ban(text);
	else
		rti_text_add(text, "The kernel has no ptrace.");
	return report->error == EPERM || report->error == EACCES ? -EPERM : -EOPNOTSUPP;
}

int rti_ptrace_describe(const struct rti_trace_request *request,
                        const struct rti_tracer_report *report)
{
	struct rti_text text = rti_text(request->reason, request->reason_size);

	switch (report->step) {
	case RTI_TRACER_EXECUTED:
		rti_start_error_describe(request->command, -report->error, 0);
		return -report->error;
	case RTI_TRACER_SEIZED:
		return describe_seizure(&text, report);
	case RTI_TRACER_FILTERED:
		rti_text_add(&text, "The program cannot be given a seccomp filter: ");
		rti_text_add(&text, rt_strerror(-report->error));
		rti_text_add(&text, ".");
		return report->error == ENOMEM ? -ENOMEM : -EOPNOTSUPP;
	case RTI_TRACER_INFORMED:
		rti_text_add(&text, "The kernel has no PTRACE_GET_SYSCALL_INFO (Linux 5.3).");
		return -EOPNOTSUPP;
	default:
		rti_text_add(&text, "The program was killed before it could be traced.");
		return -ECHILD;
	}
}
