/* SPDX-License-Identifier: MIT */
/* A call that a seccomp filter of the program's own stops: it fails as without a tracer. */
#include "tracer/foreign_stop.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#if defined(__x86_64__) || defined(__aarch64__)
#define CAN_REFUSE 1
#else
#define CAN_REFUSE 0
#endif

enum { IS_REFUSED, IS_MADE, HAS_OTHER_ERROR, HAS_NO_FILTER };

/* Whether dup(2) of standard error fails. */
static int try_call(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_dup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	if (ptrace(PTRACE_TRACEME, 0, 0L, 0L) < 0 || raise(SIGSTOP) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		return HAS_NO_FILTER;
	if (syscall(SYS_dup, STDERR_FILENO) >= 0)
		return IS_MADE;
	return errno == ENOSYS ? IS_REFUSED : HAS_OTHER_ERROR;
}

START_TEST(call_that_a_filter_of_the_program_stops_fails_with_enosys)
{
	int status, stops = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(try_call());
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(
	    ptrace(PTRACE_SETOPTIONS, pid, 0L, (long)(PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP)),
	    0);
	ck_assert_int_eq(ptrace(PTRACE_CONT, pid, 0L, 0L), 0);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8)) {
			rtt_foreign_stop_refuse(pid);
			stops++;
		}
		ck_assert_int_eq(ptrace(PTRACE_CONT, pid, 0L, 0L), 0);
	}

	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == HAS_NO_FILTER) {
		suite_skip_test("a process can have no seccomp filter here");
		return;
	}
	ck_assert_int_eq(WEXITSTATUS(status), IS_REFUSED);
	ck_assert_int_eq(stops, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("foreign_stop");
	TCase *tcase = suite_case(suite, "foreign_stop");

	if (!CAN_REFUSE)
		return suite_skip("calls of this architecture are not traced");
	tcase_add_test(tcase, call_that_a_filter_of_the_program_stops_fails_with_enosys);
	return suite_run(suite);
}
