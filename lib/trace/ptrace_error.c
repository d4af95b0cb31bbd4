/* SPDX-License-Identifier: MIT */
/* Says in words why a program could not be traced by ptrace(2). */
#include "trace/ptrace_error.h"

#include <errno.h>
#include <string.h>

#include "command/start_error.h"
#include "os/origin_refusal.h"
#include "os/word_file.h"
#include "util/decimal.h"
#include "util/sentence.h"

void rti_ptrace_describe_tracer(const struct rti_trace_request *request, bool has_begun, int err)
{
	struct rti_text text = rti_text(request->reason, request->reason_size);
	bool is_late = has_begun && err == -ETIMEDOUT;

	if (err == -ENOPKG && rti_origin_say_refused(&text, RTI_TRACER_NAME))
		return;
	rti_say(&text, is_late ? RTI_CAUSE_START_TIMEOUT : RTI_CAUSE_TRACER, err,
	        &(struct rti_values){ .name = RTI_TRACER_NAME });
}

/* -EPERM of a process that is not traced yet. */
static enum rti_cause cause_of_ban(void)
{
	char scope[8];

	rti_read_word(RTI_PROC, "sys/kernel/yama/ptrace_scope", scope, sizeof(scope));
	if (strcmp(scope, "3") == 0)
		return RTI_CAUSE_PTRACE_OFF;
	return strcmp(scope, "2") == 0 ? RTI_CAUSE_PTRACE_PRIVILEGED : RTI_CAUSE_PTRACE;
}

static int describe_seizure(struct rti_text *text, const struct rti_tracer_report *report)
{
	char path[RTI_DECIMAL_MAX + sizeof("/comm")], name[64];
	const struct rti_values tracer = { .pid = report->pid, .name = name };
	bool is_banned = report->error == EPERM || report->error == EACCES;

	if (report->pid > 0) {
		memcpy(rti_decimal(path, (uint64_t)report->pid), "/comm", sizeof("/comm"));
		rti_read_word(RTI_PROC, path, name, sizeof(name));
		rti_say(text, *name ? RTI_CAUSE_TRACED_BY : RTI_CAUSE_TRACED, 0, &tracer);
	} else {
		rti_say(text, is_banned ? cause_of_ban() : RTI_CAUSE_PTRACE, -report->error, NULL);
	}
	return is_banned ? -EPERM : -EOPNOTSUPP;
}

int rti_ptrace_describe(const struct rti_trace_request *request,
                        const struct rti_tracer_report *report)
{
	const struct rti_values values = { .error = rt_strerror(-report->error) };
	struct rti_text text = rti_text(request->reason, request->reason_size);

	switch (report->step) {
	case RTI_TRACER_EXECUTED:
		rti_start_error_describe(request->command, -report->error, 0);
		return -report->error;
	case RTI_TRACER_SEIZED:
		return describe_seizure(&text, report);
	case RTI_TRACER_FILTERED:
		rti_say(&text, RTI_CAUSE_PTRACE_FILTER, 0, &values);
		return report->error == ENOMEM ? -ENOMEM : -EOPNOTSUPP;
	case RTI_TRACER_INFORMED:
		rti_say(&text, RTI_CAUSE_PTRACE_OLD, 0, &values);
		return -EOPNOTSUPP;
	default:
		rti_say(&text, RTI_CAUSE_PTRACE_KILLED, 0, &values);
		return -ECHILD;
	}
}
