/* SPDX-License-Identifier: MIT */
/* Why a program could not be traced by ptrace(2), in words: each step, and each reason. */
#include "trace/ptrace_error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "os/word_file.h"
#include "suite.h"

#define TRACER 4711

static const char *ptrace_scope, *name_of_tracer;

/* The linker calls this instead of rti_read_word(). */
void __wrap_rti_read_word(enum rti_base base, const char *path, char *out, size_t size);

void __wrap_rti_read_word(enum rti_base base, const char *path, char *out, size_t size)
{
	(void)base;
	snprintf(out, size, "%s",
	         strcmp(path, "sys/kernel/yama/ptrace_scope") == 0 ? ptrace_scope
	         : strcmp(path, "4711/comm") == 0                  ? name_of_tracer
	                                                           : "");
}

static const struct {
	struct rti_tracer_report report;
	const char *scope, *name;
	int err;
	const char *reason;
} steps[] = {
	{ { RTI_TRACER_SEIZED, EPERM, TRACER },
	  "",
	  "gdb",
	  -EPERM,
	  "The program is traced already, by process 4711 (gdb): a process has one tracer at "
	  "most." },
	{ { RTI_TRACER_SEIZED, EPERM, TRACER },
	  "",
	  "",
	  -EPERM,
	  "The program is traced already, by process 4711: a process has one tracer at most." },
	{ { RTI_TRACER_SEIZED, EPERM, 0 },
	  "3",
	  "",
	  -EPERM,
	  "No process may use ptrace: kernel.yama.ptrace_scope is 3." },
	{ { RTI_TRACER_SEIZED, EPERM, 0 },
	  "2",
	  "",
	  -EPERM,
	  "Only a process with CAP_SYS_PTRACE may use ptrace: kernel.yama.ptrace_scope is 2." },
	{ { RTI_TRACER_SEIZED, EACCES, 0 },
	  "",
	  "",
	  -EPERM,
	  "The use of ptrace is forbidden here, e.g. by the seccomp filter of a container." },
	{ { RTI_TRACER_SEIZED, ENOSYS, 0 }, "", "", -EOPNOTSUPP, "The kernel has no ptrace." },
	{ { RTI_TRACER_FILTERED, EINVAL, 0 },
	  "",
	  "",
	  -EOPNOTSUPP,
	  "The program cannot be given a seccomp filter: invalid argument." },
	{ { RTI_TRACER_FILTERED, ENOMEM, 0 },
	  "",
	  "",
	  -ENOMEM,
	  "The program cannot be given a seccomp filter: out of memory." },
	{ { RTI_TRACER_INFORMED, EIO, 0 },
	  "",
	  "",
	  -EOPNOTSUPP,
	  "The kernel has no PTRACE_GET_SYSCALL_INFO (Linux 5.3)." },
	{ { RTI_TRACER_SILENT, 0, 0 },
	  "",
	  "",
	  -ECHILD,
	  "The program was killed before it could be traced." },
};

START_TEST(step_that_failed_has_an_error_and_a_reason)
{
	char reason[512] = "";
	const struct rti_trace_request request = { .reason = reason,
		                                   .reason_size = sizeof(reason) };

	ptrace_scope = steps[_i].scope;
	name_of_tracer = steps[_i].name;
	ck_assert_int_eq(rti_ptrace_describe(&request, &steps[_i].report), steps[_i].err);
	ck_assert_str_eq(reason, steps[_i].reason);
}
END_TEST

/* The error of execve(2) is that of the command, and so is the message. */
START_TEST(program_that_cannot_be_executed_has_the_message_of_a_start)
{
	const char *const argv[] = { "/nowhere/program", NULL };
	char message[512] = "", reason[512] = "";
	const struct rt_command_opts command = { .size = sizeof(command),
		                                 .argv = argv,
		                                 .message = message,
		                                 .message_size = sizeof(message) };
	const struct rti_trace_request request = { .command = &command,
		                                   .reason = reason,
		                                   .reason_size = sizeof(reason) };
	const struct rti_tracer_report report = { RTI_TRACER_EXECUTED, ENOENT, 0 };

	ptrace_scope = name_of_tracer = "";
	ck_assert_int_eq(rti_ptrace_describe(&request, &report), -ENOENT);
	ck_assert_ptr_nonnull(strstr(message, "/nowhere/program"));
}
END_TEST

static const struct {
	int err;
	bool has_begun;
	const char *part;
} tracers[] = {
	{ -ENOPKG, false, "rtrack-tracer-" },
	{ -ENOPKG, false, "is not installed" },
	{ -EOPNOTSUPP, false, "No memory can be shared with rtrack-tracer-" },
	{ -ECHILD, true, "was killed before it could start the program" },
	{ -ETIMEDOUT, false, "did not begin in time" },
	{ -ETIMEDOUT, true, "was not executed within rt_command_opts.start_timeout_ns" },
};

START_TEST(tracer_that_starts_nothing_has_a_reason)
{
	char reason[512] = "";
	const struct rti_trace_request request = { .reason = reason,
		                                   .reason_size = sizeof(reason) };

	rti_ptrace_describe_tracer(&request, tracers[_i].has_begun, tracers[_i].err);
	ck_assert_ptr_nonnull(strstr(reason, tracers[_i].part));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ptrace_error");
	TCase *reasons = suite_case(suite, "reasons");

	tcase_add_loop_test(reasons, step_that_failed_has_an_error_and_a_reason, 0,
	                    sizeof(steps) / sizeof(steps[0]));
	tcase_add_test(reasons, program_that_cannot_be_executed_has_the_message_of_a_start);
	tcase_add_loop_test(reasons, tracer_that_starts_nothing_has_a_reason, 0,
	                    sizeof(tracers) / sizeof(tracers[0]));
	return suite_run(suite);
}
