/* SPDX-License-Identifier: MIT */
/* Every error and every cause has a sentence of its own, which ends and fits into any buffer. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "api/obstacle_text.h"
#include "api/opts_error.h"
#include "bpf/refusal.h"
#include "command/start_error.h"
#include "fixture.h"
#include "os/capability.h"
#include "os/kernel_abi.h"
#include "os/word_file.h"
#include "suite.h"
#include "trace/bpf_error.h"
#include "trace/error.h"
#include "trace/ptrace_error.h"

#define ERRORS 134 /* of Linux */
#define MESSAGE 1024
#define FILL 'x'

static char message[MESSAGE];

/* What the system says to a program that asks whether it may load BPF programs. The linker calls
 * these instead of the functions in their names. */
static struct {
	bool has_bpf, has_perfmon, has_btf;
	const char *lockdown;
} system_says;

bool __wrap_rti_has_capability(unsigned capability);
void __wrap_rti_read_word(enum rti_base base, const char *path, char *out, size_t size);
int __wrap_rti_procfs_access(const struct rti_procfs *procfs, enum rti_base base, const char *path);
int __real_rti_procfs_access(const struct rti_procfs *procfs, enum rti_base base, const char *path);

bool __wrap_rti_has_capability(unsigned capability)
{
	return (capability == RTI_CAP_BPF && system_says.has_bpf) ||
	       (capability == RTI_CAP_PERFMON && system_says.has_perfmon);
}

void __wrap_rti_read_word(enum rti_base base, const char *path, char *out, size_t size)
{
	(void)base;
	(void)path;
	snprintf(out, size, "%s", system_says.lockdown);
}

int __wrap_rti_procfs_access(const struct rti_procfs *procfs, enum rti_base base, const char *path)
{
	if (strcmp(path, "kernel/btf/vmlinux") == 0)
		return system_says.has_btf ? 0 : -ENOENT;
	return __real_rti_procfs_access(procfs, base, path);
}

static void clear(void)
{
	memset(message, FILL, sizeof(message));
}

/* Returns its length. */
static size_t check_sentence(const char *what, int err)
{
	size_t len = strnlen(message, sizeof(message));

	ck_assert_msg(len < sizeof(message) && len > 10, "%s: no sentence for %d", what, err);
	ck_assert_msg(message[len - 1] == '.', "%s: %d: \"%s\" does not end", what, err, message);
	clear();
	return len;
}

/* A message that is cut ends in the buffer. */
static void check_cut(const char *what, size_t size)
{
	ck_assert_msg(size == 0 || memchr(message, '\0', size), "%s: no end in %zu bytes", what,
	              size);
	for (size_t i = size; i < sizeof(message); i++)
		ck_assert_msg(message[i] == FILL, "%s: writes behind %zu bytes", what, size);
	clear();
}

static void describe_opts(uint32_t kind, const char *root, int err, uint32_t size)
{
	const struct rt_opts opts = {
		.size = sizeof(opts), .root = root, .message = message, .message_size = size
	};

	rti_opts_error_describe(
	    &opts,
	    &(struct rti_subject){ .kind = kind,
	                           .pid = kind == RT_KIND_PID,
	                           .name = kind == RT_KIND_CGROUP ? "/a" : NULL },
	    err, &rti_procfs_linux);
}

START_TEST(every_error_of_a_tracker_has_a_sentence)
{
	clear();
	for (int err = -1; err > -ERRORS; err--) {
		for (uint32_t kind = RT_KIND_PID; kind <= RT_KIND_CGROUP; kind++) {
			describe_opts(kind, NULL, err, sizeof(message));
			check_sentence("tracker", err);
			describe_opts(kind, "/nowhere", err, sizeof(message));
			check_sentence("tracker with a root", err);
			describe_opts(kind, NULL, err, (uint32_t)-err);
			check_cut("tracker", (size_t)-err);
		}
	}
}
END_TEST

START_TEST(every_error_of_a_command_has_a_sentence)
{
	static const char *const argv[] = { "/nowhere/program", "argument", NULL };
	struct rt_command_opts opts = { .size = sizeof(opts),
		                        .argv = argv,
		                        .message = message,
		                        .message_size = sizeof(message) };

	clear();
	for (int err = -1; err > -ERRORS; err--) {
		for (uint32_t method = RT_ACCOUNTING_AUTO; method <= RT_ACCOUNTING_BPF; method++) {
			opts.accounting = method;
			opts.message_size = sizeof(message);
			rti_start_error_describe(&opts, err, err);
			check_sentence("command", err);
			opts.message_size = (uint32_t)-err;
			rti_start_error_describe(&opts, err, err);
			check_cut("command", (size_t)-err);
		}
	}
}
END_TEST

/* A method is refused because of a call that failed, whatever its error. */
START_TEST(refusal_of_a_method_names_the_call_that_failed)
{
	static const char *const argv[] = { "true", NULL };
	struct rt_command_opts opts = { .size = sizeof(opts),
		                        .argv = argv,
		                        .message = message,
		                        .message_size = sizeof(message) };

	clear();
	for (int why = -1; why > -ERRORS; why--) {
		bool is_filter = why == -EPERM || why == -ENOSYS;

		opts.accounting = RT_ACCOUNTING_WAIT;
		rti_start_error_describe(&opts, -EOPNOTSUPP, why);
		ck_assert_msg(strstr(message, "wait is not available") != NULL, "%d: %s", why,
		              message);
		ck_assert_int_eq(strstr(message, "seccomp") != NULL, is_filter);
		ck_assert_int_eq(strstr(message, rt_strerror(why)) != NULL, why != -EOPNOTSUPP);
		check_sentence("command", why);
	}
}
END_TEST

START_TEST(every_error_of_a_trace_has_a_sentence)
{
	struct rt_trace_opts opts = { .size = sizeof(opts),
		                      .message = message,
		                      .message_size = sizeof(message) };

	clear();
	for (int err = -1; err > -ERRORS; err--) {
		opts.message_size = sizeof(message);
		rti_trace_error_describe(&opts, err);
		check_sentence("trace", err);
		opts.message_size = (uint32_t)-err;
		rti_trace_error_describe(&opts, err);
		check_cut("trace", (size_t)-err);
	}
}
END_TEST

/* Of one process and of many, for each domain that a cause may be given for. */
START_TEST(every_cause_has_a_sentence)
{
	clear();
	for (int cause = RTI_CAUSE_READ; cause <= RTI_CAUSE_CGROUP_HIDDEN; cause++) {
		const char *controller = cause < RTI_CAUSE_CGROUP_CONTROLLER ? NULL : "memory";

		for (int err = -1; err > -ERRORS; err--) {
			const struct rti_explanation why = { .cause = (enum rti_cause)cause,
				                             .error = err,
				                             .pid = err % 2 ? 0 : 7,
				                             .file = err % 3 ? "stat" : "",
				                             .members = (uint64_t)-err % 4,
				                             .members_ever = (uint64_t)-err,
				                             .pss_share = 10,
				                             .pss_hold_us = 50000,
				                             .controller = controller };

			rti_obstacle_describe(&why, UINT64_C(1) << (-err % 40), message,
			                      sizeof(message));
			check_sentence("obstacle", cause);
			rti_obstacle_describe(&why, RT_HAS_IO, message, (size_t)-err);
			check_cut("obstacle", (size_t)-err);
		}
	}
}
END_TEST

static int describe_report(uint32_t step, int32_t error, int32_t pid)
{
	const struct rti_trace_request request = { .reason = message,
		                                   .reason_size = sizeof(message) };
	const struct rti_tracer_report report = { .step = step, .error = error, .pid = pid };

	clear();
	return rti_ptrace_describe(&request, &report);
}

START_TEST(refused_seizure_names_the_tracer_the_ban_or_the_kernel)
{
	ck_assert_int_eq(describe_report(RTI_TRACER_SEIZED, EPERM, 4711), -EPERM);
	ck_assert_ptr_nonnull(strstr(message, "by process 4711"));
	ck_assert_int_eq(describe_report(RTI_TRACER_SEIZED, EPERM, 0), -EPERM);
	ck_assert_ptr_null(strstr(message, "The kernel has no ptrace"));
	ck_assert_int_eq(describe_report(RTI_TRACER_SEIZED, EACCES, 0), -EPERM);
	ck_assert_ptr_null(strstr(message, "The kernel has no ptrace"));
	ck_assert_int_eq(describe_report(RTI_TRACER_SEIZED, ENOSYS, 0), -EOPNOTSUPP);
	ck_assert_ptr_nonnull(strstr(message, "The kernel has no ptrace"));
}
END_TEST

START_TEST(shortage_of_descriptors_of_a_trace_names_the_limit)
{
	struct rt_trace_opts opts = { .message = message, .message_size = sizeof(message) };

	rti_trace_error_describe(&opts, -EMFILE);
	ck_assert_ptr_nonnull(strstr(message, "RLIMIT_NOFILE"));
}
END_TEST

/* An error that says no more than that the method is not there is left out of the sentence. */
START_TEST(method_that_is_not_there_names_the_error_if_it_says_more)
{
	static const char *const argv[] = { "true", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .accounting = RT_ACCOUNTING_WAIT,
		                              .message = message,
		                              .message_size = sizeof(message) };

	rti_start_error_describe(&opts, -EOPNOTSUPP, -EPERM);
	ck_assert_ptr_nonnull(strstr(message, "A system call failed"));
	rti_start_error_describe(&opts, -EOPNOTSUPP, -EOPNOTSUPP);
	ck_assert_ptr_null(strstr(message, "A system call failed"));
	rti_start_error_describe(&opts, -EOPNOTSUPP, 0);
	ck_assert_ptr_null(strstr(message, "A system call failed"));
}
END_TEST

/* The files of a process that ptrace(2) may refuse, and one that only its mode refuses. */
START_TEST(refused_file_is_explained_by_what_guards_it)
{
	static const char *const traced[] = { "io", "smaps_rollup", "fd" };
	struct rti_explanation why = { .cause = RTI_CAUSE_READ, .error = -EACCES, .pid = 7 };

	for (size_t i = 0; i < sizeof(traced) / sizeof(traced[0]); i++) {
		why.file = traced[i];
		rti_obstacle_describe(&why, RT_HAS_IO, message, sizeof(message));
		ck_assert_msg(strstr(message, "CAP_SYS_PTRACE") != NULL, "%s: %s", traced[i],
		              message);
	}
	why.file = "status";
	rti_obstacle_describe(&why, RT_HAS_CTXSW, message, sizeof(message));
	ck_assert_ptr_null(strstr(message, "CAP_SYS_PTRACE"));
	ck_assert_ptr_nonnull(strstr(message, "permission to read that file"));
}
END_TEST

static void check_refusal(int err, const char *part)
{
	struct rti_text text = rti_text(message, sizeof(message));

	rti_bpf_refusal_add(&text, err, "6.2");
	ck_assert_msg(strstr(message, part) != NULL, "\"%s\" has no \"%s\"", message, part);
	check_sentence("refusal", err);
}

START_TEST(refusal_of_bpf_names_what_is_missing)
{
	clear();
	system_says.lockdown = "none";
	check_refusal(-ENOPKG, "not installed");
	check_refusal(-EPERM, "CAP_BPF and CAP_PERFMON,");
	ck_assert(rti_bpf_lacks_capability());
	system_says.has_bpf = true;
	check_refusal(-EPERM, "need CAP_PERFMON,");
	system_says.has_bpf = false;
	system_says.has_perfmon = true;
	check_refusal(-EPERM, "need CAP_BPF,");
	system_says.has_bpf = true;
	ck_assert(!rti_bpf_lacks_capability());
	check_refusal(-EPERM, "user namespace");
	system_says.lockdown = "none integrity [confidentiality]";
	check_refusal(-EPERM, "locked down");
	check_refusal(-EOPNOTSUPP, "no BTF");
	system_says.has_btf = true;
	check_refusal(-EOPNOTSUPP, "Linux 6.2");
}
END_TEST

START_TEST(refused_trace_by_bpf_names_ptrace_where_that_would_do)
{
	const struct rt_command_opts command = { .size = sizeof(command) };
	struct rti_trace_request request = { .reason = message, .reason_size = sizeof(message) };

	clear();
	system_says.lockdown = "none";
	system_says.has_bpf = system_says.has_perfmon = false;
	rti_bpf_describe(&request, -EPERM);
	ck_assert_ptr_nonnull(strstr(message, "can be traced by ptrace"));
	rti_bpf_describe(&request, -ENOPKG);
	ck_assert_ptr_null(strstr(message, "can be traced by ptrace"));
	request.command = &command;
	rti_bpf_describe(&request, -EPERM);
	ck_assert_ptr_null(strstr(message, "can be traced by ptrace"));
}
END_TEST

/* What BPF programs would have seen, and why they do not account for the tree. */
START_TEST(figure_that_bpf_programs_would_have_names_what_they_lack)
{
	static const struct {
		int account_error;
		bool has_bpf;
		const char *words; /* NULL: none */
		bool has_account;
	} cases[] = { { 0, false, "RT_OPT_PROCESS_EVENTS of a tracker" },
		      { 0, true, NULL, true },
		      { -EPERM, false, "they need CAP_BPF and CAP_PERFMON." },
		      { -EPERM, true, "are refused here." },
		      { -ENOPKG, false, "their plug-in cannot be loaded." },
		      { -EOPNOTSUPP, false, "they need Linux 6.2 with BTF." },
		      { -ENOMEM, false, NULL } };
	static const enum rti_cause causes[] = { RTI_CAUSE_UNWAITED,     RTI_CAUSE_UNREPORTED,
		                                 RTI_CAUSE_SIGCHLD,      RTI_CAUSE_TICKS,
		                                 RTI_CAUSE_THREAD_ENDED, RTI_CAUSE_EVENTS_UNHEARD,
		                                 RTI_CAUSE_EVENTS_LOST };

	system_says.has_bpf = system_says.has_perfmon = cases[_i].has_bpf;
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		const struct rti_explanation why = { .cause = causes[i],
			                             .error = -ENOBUFS,
			                             .account_error = cases[_i].account_error,
			                             .has_account = cases[_i].has_account,
			                             .file = "" };

		bool has_asked =
		    causes[i] == RTI_CAUSE_EVENTS_UNHEARD || causes[i] == RTI_CAUSE_EVENTS_LOST;
		const char *words = cases[_i].words;

		if (has_asked && !cases[_i].account_error)
			words = NULL;
		rti_obstacle_describe(&why, RT_HAS_CPU, message, sizeof(message));
		ck_assert_int_eq(strstr(message, "BPF programs would") != NULL, words != NULL);
		ck_assert_msg(!words || strstr(message, words), "%s", message);
	}
}
END_TEST

static int refuse_open(int dirfd, const char *path, int flags)
{
	(void)dirfd;
	(void)path;
	(void)flags;
	return -EACCES;
}

START_TEST(proc_that_cannot_be_opened_is_named_with_its_root)
{
	const struct rti_subject system = { .kind = RT_KIND_SYSTEM };
	struct rti_procfs_ops refusing = rti_procfs_linux;
	struct rt_opts opts = { .size = sizeof(opts),
		                .message = message,
		                .message_size = sizeof(message) };

	refusing.open = refuse_open;
	refusing.open_in_root = NULL;
	rti_opts_error_describe(&opts, &system, -EACCES, &refusing);
	ck_assert_msg(strncmp(message, "/proc cannot be opened: permission", 34) == 0, "%s",
	              message);
	opts.root = "/nowhere";
	rti_opts_error_describe(&opts, &system, -EACCES, &refusing);
	ck_assert_msg(strstr(message, "a directory with proc in it: /nowhere/proc: ") != NULL, "%s",
	              message);
}
END_TEST

START_TEST(cgroup_without_a_name_is_said_to_have_none)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .message = message,
		                      .message_size = sizeof(message) };

	rti_opts_error_describe(&opts, &(struct rti_subject){ .kind = RT_KIND_CGROUP }, -EFAULT,
	                        &rti_procfs_linux);
	ck_assert_str_eq(message, "The name of the cgroup is NULL.");
}
END_TEST

/* Only the file of a thread names another process as its leader. */
START_TEST(missing_process_is_called_a_thread_only_if_its_file_says_so)
{
	static const struct {
		const char *status, *words;
	} cases[] = { { "Name:\tx\nTgid:\t4\n", "5 is the id of a thread of process 4" },
		      { "Name:\tx\nTgid:\t5\n", "There is no process 5 below " },
		      { "Name:\tx\n", "There is no process 5 below " } };
	struct fixture f;
	struct rt_opts opts = { .size = sizeof(opts),
		                .message = message,
		                .message_size = sizeof(message) };

	fixture_new(&f);
	fixture_write(&f, "proc/5/status", cases[_i].status);
	opts.root = f.root;
	rti_opts_error_describe(&opts, &(struct rti_subject){ .kind = RT_KIND_PID, .pid = 5 },
	                        -ESRCH, &rti_procfs_linux);
	fixture_free(&f);
	ck_assert_msg(strstr(message, cases[_i].words) == message, "%s", message);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("every message");
	TCase *tests = suite_case(suite, "messages");

	tcase_add_test(tests, every_error_of_a_tracker_has_a_sentence);
	tcase_add_test(tests, every_error_of_a_command_has_a_sentence);
	tcase_add_test(tests, refusal_of_a_method_names_the_call_that_failed);
	tcase_add_test(tests, every_error_of_a_trace_has_a_sentence);
	tcase_add_test(tests, every_cause_has_a_sentence);
	tcase_add_test(tests, refused_seizure_names_the_tracer_the_ban_or_the_kernel);
	tcase_add_test(tests, shortage_of_descriptors_of_a_trace_names_the_limit);
	tcase_add_test(tests, method_that_is_not_there_names_the_error_if_it_says_more);
	tcase_add_test(tests, refused_file_is_explained_by_what_guards_it);
	tcase_add_test(tests, refusal_of_bpf_names_what_is_missing);
	tcase_add_test(tests, refused_trace_by_bpf_names_ptrace_where_that_would_do);
	tcase_add_loop_test(tests, figure_that_bpf_programs_would_have_names_what_they_lack, 0, 7);
	tcase_add_test(tests, proc_that_cannot_be_opened_is_named_with_its_root);
	tcase_add_test(tests, cgroup_without_a_name_is_said_to_have_none);
	tcase_add_loop_test(tests, missing_process_is_called_a_thread_only_if_its_file_says_so, 0,
	                    3);
	return suite_run(suite);
}
