/* SPDX-License-Identifier: MIT */
/* Which back end a trace takes, and what it says if the kernel refuses one or both. What a system
 * can refuse is refused to a child of the test: capabilities are dropped, a seccomp filter fails
 * system calls, and files of /sys are covered. */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "refusals.h"
#include "suite.h"
#include "tracing.h"

#define NO_USER 65534
#define NOT_POSSIBLE 77 /* exit status */

/* What a child of the test has got. */
struct result {
	int err; /* of rt_trace_new() */
	uint32_t back_end;
	uint64_t events;
	char message[512];
};

static bool refuse(long number, int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* Keep all capabilities but these two. */
static bool drop(unsigned first, unsigned second)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const unsigned dropped[] = { first, second };
	struct __user_cap_data_struct held[2];

	if (geteuid() != 0 || syscall(SYS_capget, &header, held) < 0)
		return false;
	for (int i = 0; i < 2; i++) {
		uint32_t mask = ~(1u << dropped[i] % 32);

		held[dropped[i] / 32].effective &= mask;
		held[dropped[i] / 32].permitted &= mask;
	}
	return syscall(SYS_capset, &header, held) == 0;
}

/* Have an empty file system at a directory, in a mount namespace of its own. */
static bool cover(const char *directory)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", directory, "tmpfs", 0, NULL) == 0;
}

static bool allow_all(void)
{
	return true;
}

static bool lack_all_rights(void)
{
	return setgroups(0, NULL) == 0 && setgid(NO_USER) == 0 && setuid(NO_USER) == 0;
}

static bool lack_cap_bpf(void)
{
	return drop(CAP_BPF, CAP_SYS_ADMIN);
}

static bool lack_cap_perfmon(void)
{
	return drop(CAP_PERFMON, CAP_SYS_ADMIN);
}

static bool refuse_bpf(void)
{
	return geteuid() == 0 && refuse(SYS_bpf, EPERM);
}

static bool deny_bpf(void)
{
	return geteuid() == 0 && refuse(SYS_bpf, EACCES);
}

static bool have_no_bpf(void)
{
	return refuse(SYS_bpf, ENOSYS);
}

/* The verifier calls it an invalid argument that a program reads the kernel's memory. */
static bool be_locked_down(void)
{
	static const char text[] = "none integrity [confidentiality]\n";
	FILE *file;
	bool is_written;

	if (!cover("/sys/kernel/security"))
		return false;
	file = fopen("/sys/kernel/security/lockdown", "we");
	if (!file)
		return false;
	is_written = fputs(text, file) >= 0;
	return fclose(file) == 0 && is_written && refuse(SYS_bpf, EINVAL);
}

static bool have_no_btf(void)
{
	return cover("/sys/kernel/btf") && refuse(SYS_bpf, EINVAL);
}

static bool have_an_old_kernel(void)
{
	return geteuid() == 0 && access("/sys/kernel/btf/vmlinux", F_OK) == 0 &&
	       refuse(SYS_bpf, EINVAL);
}

static bool refuse_both(void)
{
	return refuse_bpf() && refuse(SYS_ptrace, EPERM);
}

static bool have_neither(void)
{
	return have_no_bpf() && refuse(SYS_ptrace, ENOSYS);
}

static bool refuse_seccomp(void)
{
	return have_no_bpf() && refuse(SYS_seccomp, EPERM);
}

enum target { COMMAND, MACHINE };

static void count_event(void *arg, const struct rt_trace_event *event)
{
	(void)event;
	++*(uint64_t *)arg;
}

static void trace(uint32_t back_end, enum target target, struct result *out)
{
	static const char *const argv[] = { "bash", "-c", "times >/dev/null", NULL };
	const struct rt_command_opts command = { .size = sizeof(command), .argv = argv };
	const struct rt_trace_opts opts = {
		.size = sizeof(opts),
		.back_end = back_end,
		.flags = target == MACHINE ? RT_TRACE_OPT_ALL : 0,
		.command = target == COMMAND ? &command : NULL,
		.message = out->message,
		.message_size = sizeof(out->message),
	};
	struct rt_trace *trace;

	out->err = rt_trace_new(&trace, &opts);
	if (out->err < 0)
		return;
	out->back_end = totals_of(trace).back_end;
	if (target == COMMAND) {
		read_to_end(trace, count_event, &out->events);
		rt_command_wait(rt_trace_command(trace), -1, NULL, 0);
	}
	rt_trace_free(trace);
}

/* Returns false if the system cannot be made so. */
static bool trace_where(bool (*make_so)(void), uint32_t back_end, enum target target,
                        struct result *out)
{
	struct result *shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	ck_assert_ptr_ne(shared, MAP_FAILED);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (!make_so())
			_exit(NOT_POSSIBLE);
		trace(back_end, target, shared);
		_exit(waitpid(-1, NULL, WNOHANG) < 0 ? 0 : 1); /* nothing is left */
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	*out = *shared;
	munmap(shared, sizeof(*shared));
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) != NOT_POSSIBLE)
		ck_assert_int_eq(status, 0);
	return WEXITSTATUS(status) == 0;
}

static const char not_possible[] = "the right cannot be taken away here, or is not there";

static bool (*const without_bpf[])(void) = {
	lack_all_rights, lack_cap_bpf,   lack_cap_perfmon, refuse_bpf,
	have_no_bpf,     be_locked_down, have_no_btf,
};

START_TEST(command_is_traced_by_ptrace_where_bpf_is_refused)
{
	struct result result;

	if (!trace_where(without_bpf[_i], RT_TRACE_BACK_END_AUTO, COMMAND, &result)) {
		suite_skip_test(not_possible);
		return;
	}
	ck_assert_msg(result.err == 0, "%d: %s", result.err, result.message);
	ck_assert_uint_eq(result.back_end, RT_TRACE_BACK_END_PTRACE);
	ck_assert_uint_eq(result.events, 2);
}
END_TEST

START_TEST(command_is_traced_by_bpf_where_it_can_be_had)
{
	struct result result;

	if (why_no_bpf()) {
		suite_skip_test(why_no_bpf());
		return;
	}
	ck_assert(trace_where(allow_all, RT_TRACE_BACK_END_AUTO, COMMAND, &result));
	ck_assert_int_eq(result.err, 0);
	ck_assert_uint_eq(result.back_end, RT_TRACE_BACK_END_BPF);
	ck_assert_uint_eq(result.events, 2);
}
END_TEST

/* A text of the message that says what is missing, and one of another reason. */
static const struct {
	bool (*make_so)(void);
	int expected;
	const char *has, *lacks;
} refusals[] = {
	{ lack_all_rights, -EPERM, "CAP_BPF and CAP_PERFMON", "lock" },
	{ lack_cap_bpf, -EPERM, "CAP_BPF", "CAP_PERFMON" },
	{ lack_cap_perfmon, -EPERM, "CAP_PERFMON", "CAP_BPF" },
	{ refuse_bpf, -EPERM, "seccomp", "CAP_" },
	{ deny_bpf, -EPERM, "seccomp", "CAP_" },
	{ have_no_bpf, -EOPNOTSUPP, "kernel", "CAP_" },
	{ be_locked_down, -EPERM, "lockdown", "seccomp" },
	{ have_no_btf, -EOPNOTSUPP, "CONFIG_DEBUG_INFO_BTF", "CAP_" },
	{ have_an_old_kernel, -EOPNOTSUPP, "Linux 5.17", "CONFIG_DEBUG_INFO_BTF" },
};

/* Of a command by BPF alone, and of the machine, which only BPF can trace. */
START_TEST(refused_bpf_has_a_sentence_that_says_what_is_missing)
{
	const enum target target = _i % 2 ? MACHINE : COMMAND;
	const uint32_t back_end =
	    target == MACHINE ? RT_TRACE_BACK_END_AUTO : RT_TRACE_BACK_END_BPF;
	const int i = _i / 2;
	struct result result;

	if (!IS_BUILT) {
		suite_skip_test("the BPF plug-in is not built");
		return;
	}
	if (!trace_where(refusals[i].make_so, back_end, target, &result)) {
		suite_skip_test(not_possible);
		return;
	}
	ck_assert_int_eq(result.err, refusals[i].expected);
	ck_assert_ptr_nonnull(strstr(result.message, refusals[i].has));
	ck_assert_msg(!strstr(result.message, refusals[i].lacks), "%s", result.message);
	ck_assert_int_eq(result.message[strlen(result.message) - 1], '.');
}
END_TEST

static const struct {
	bool (*make_so)(void);
	int expected;
	const char *of_bpf, *of_ptrace;
} refused_twice[] = {
	{ refuse_both, -EPERM, "BPF", "The use of ptrace is forbidden here" },
	{ have_neither, -EOPNOTSUPP, "BPF", "The kernel has no ptrace" },
	{ refuse_seccomp, -EOPNOTSUPP, "BPF", "seccomp filter" },
};

START_TEST(message_has_the_reasons_of_both_back_ends)
{
	struct result result;

	if (!trace_where(refused_twice[_i].make_so, RT_TRACE_BACK_END_AUTO, COMMAND, &result)) {
		suite_skip_test(not_possible);
		return;
	}
	ck_assert_int_eq(result.err, refused_twice[_i].expected);
	ck_assert_msg(strstr(result.message, refused_twice[_i].of_bpf) != NULL, "%s",
	              result.message);
	ck_assert_msg(strstr(result.message, refused_twice[_i].of_ptrace) != NULL, "%s",
	              result.message);
}
END_TEST

START_TEST(message_has_the_reason_of_ptrace_if_that_was_asked_for)
{
	struct result result;

	if (!trace_where(refused_twice[_i].make_so, RT_TRACE_BACK_END_PTRACE, COMMAND, &result)) {
		suite_skip_test(not_possible);
		return;
	}
	ck_assert_int_eq(result.err, refused_twice[_i].expected);
	ck_assert_msg(strstr(result.message, refused_twice[_i].of_ptrace) != NULL, "%s",
	              result.message);
	ck_assert_msg(!strstr(result.message, "BPF"), "%s", result.message);
}
END_TEST

/* Returns NULL if a command can be traced by ptrace here, or why not. */
static const char *why_no_ptrace(void)
{
	static const char *const argv[] = { "true", NULL };
	static char why[512];
	const struct rt_command_opts command = { .size = sizeof(command), .argv = argv };
	const struct rt_trace_opts opts = { .size = sizeof(opts),
		                            .back_end = RT_TRACE_BACK_END_PTRACE,
		                            .command = &command,
		                            .message = why,
		                            .message_size = sizeof(why) };
	struct rt_trace *trace;
	int err = rt_trace_new(&trace, &opts);

	if (err == 0)
		rt_trace_free(trace);
	return has_ptrace() ? NULL : why;
}

int main(void)
{
	Suite *suite = suite_create("trace_choice");
	TCase *choice = suite_case(suite, "choice"), *reasons = suite_case(suite, "reasons");
	const char *why = why_no_ptrace();

	if (why)
		return suite_skip(why);
	tcase_add_test(choice, command_is_traced_by_bpf_where_it_can_be_had);
	tcase_add_loop_test(choice, command_is_traced_by_ptrace_where_bpf_is_refused, 0,
	                    sizeof(without_bpf) / sizeof(without_bpf[0]));
	tcase_add_loop_test(reasons, refused_bpf_has_a_sentence_that_says_what_is_missing, 0,
	                    2 * sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_loop_test(reasons, message_has_the_reasons_of_both_back_ends, 0,
	                    sizeof(refused_twice) / sizeof(refused_twice[0]));
	tcase_add_loop_test(reasons, message_has_the_reason_of_ptrace_if_that_was_asked_for, 0,
	                    sizeof(refused_twice) / sizeof(refused_twice[0]));
	return suite_run(suite);
}
