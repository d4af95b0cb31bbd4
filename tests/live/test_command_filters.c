/* SPDX-License-Identifier: MIT */
/* Commands under a filter of system calls, as in containers, and on kernels that lack calls: the
 * program runs, and its exit code arrives, with the best method that can be had. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"

#define NS_PER_S INT64_C(1000000000)
#define PATIENCE_NS (90 * NS_PER_S)
#define CPU_MIN_NS 300000u     /* that seven.c uses at least */
#define CPU_SLACK_NS 20000000u /* of a supervisor, beyond what it shows */
#define ID_IS_PIDFD 3          /* P_PIDFD of waitid(2) */

/* The calls that the start and the wait make with any method, as strace(1) shows them, and those
 * that the C library may make in their place. Left out are execve(2), exit(2) and what returns
 * from a signal handler. */
static const struct {
	const char *name;
	uint32_t number;
	bool is_needed; /* nothing can be started without it, and the error says so */
} calls[] = {
	{ "bind", SYS_bind, false },
	{ "brk", SYS_brk, false },
	{ "chdir", SYS_chdir, false },
	{ "clock_gettime", SYS_clock_gettime, false },
	{ "clone", SYS_clone, false },
	{ "clone3", 435, false },
	{ "close", SYS_close, false },
	{ "close_range", 436, false },
	{ "dup3", SYS_dup3, false },
	{ "epoll_create1", SYS_epoll_create1, false },
	{ "faccessat", SYS_faccessat, false },
	{ "faccessat2", 439, false },
	{ "fallocate", SYS_fallocate, false },
	{ "fcntl", SYS_fcntl, false },
	{ "getdents64", SYS_getdents64, false },
	{ "getegid", SYS_getegid, false },
	{ "geteuid", SYS_geteuid, false },
	{ "getpid", SYS_getpid, true }, /* the pids of /proc are compared with it */
	{ "getppid", SYS_getppid, false },
	{ "getrandom", SYS_getrandom, false },
	{ "getrusage", SYS_getrusage, false },
	{ "getsockname", SYS_getsockname, false },
	{ "getsockopt", SYS_getsockopt, false },
	{ "getuid", SYS_getuid, false },
	{ "ioctl", SYS_ioctl, false },
	{ "kill", SYS_kill, false },
	{ "memfd_create", SYS_memfd_create, false },
	{ "mkdirat", SYS_mkdirat, false },
	{ "mmap", SYS_mmap, true }, /* the stack of the child that executes the program */
	{ "mprotect", SYS_mprotect, false },
	{ "munmap", SYS_munmap, false },
	{ "nanosleep", SYS_nanosleep, false },
	{ "clock_nanosleep", SYS_clock_nanosleep, false },
	{ "newfstatat", SYS_newfstatat, false },
	{ "openat", SYS_openat, true }, /* /proc */
	{ "pidfd_open", 434, false },
	{ "pidfd_send_signal", 424, false },
	{ "ppoll", SYS_ppoll, false },
	{ "prctl", SYS_prctl, false },
	{ "pread64", SYS_pread64, true }, /* /proc */
	{ "prlimit64", SYS_prlimit64, false },
	{ "read", SYS_read, false },
	{ "readlinkat", SYS_readlinkat, false },
	{ "recvfrom", SYS_recvfrom, false },
	{ "recvmmsg", SYS_recvmmsg, false },
	{ "rseq", 334, false },
	{ "rt_sigaction", SYS_rt_sigaction, false },
	{ "rt_sigprocmask", SYS_rt_sigprocmask, false },
	{ "sched_getaffinity", SYS_sched_getaffinity, false },
	{ "sendto", SYS_sendto, false },
	{ "set_robust_list", SYS_set_robust_list, false },
	{ "set_tid_address", SYS_set_tid_address, false },
	{ "setpriority", SYS_setpriority, false },
	{ "setsockopt", SYS_setsockopt, false },
	{ "signalfd4", SYS_signalfd4, false },
	{ "socket", SYS_socket, false },
	{ "socketpair", SYS_socketpair, false },
	{ "statx", SYS_statx, false },
	{ "wait4", SYS_wait4, false },
	{ "waitid", SYS_waitid, false },
	{ "write", SYS_write, false },
#ifdef SYS_poll /* not on arm64 */
	{ "access", SYS_access, false },
	{ "dup2", SYS_dup2, false },
	{ "fork", SYS_fork, false },
	{ "mkdir", SYS_mkdir, false },
	{ "poll", SYS_poll, false },
	{ "readlink", SYS_readlink, false },
	{ "rmdir", SYS_rmdir, false },
	{ "vfork", SYS_vfork, false },
#endif
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static const int errors[] = { EPERM, ENOSYS, EMFILE };
#define ERRORS ((int)(sizeof(errors) / sizeof(errors[0])))

/* What Linux 4.18 lacks of the calls that the library, glibc and musl make. */
static const uint32_t newer_calls[] = {
	424, /* pidfd_send_signal */
	434, /* pidfd_open */
	435, /* clone3 */
	436, /* close_range */
	437, /* openat2 */
	439, /* faccessat2 */
	441, /* epoll_pwait2 */
	SYS_statx,
};
#define NEWER_CALLS (sizeof(newer_calls) / sizeof(newer_calls[0]))

/* What a child under a filter has seen. In memory that it shares with the test. */
struct seen {
	int start_error, wait_error;
	uint32_t accounting;
	uint64_t children_ns; /* RUSAGE_CHILDREN; 0: refused */
	struct rt_outcome outcome;
};

static int install(const struct sock_filter *code, size_t len)
{
	const struct sock_fprog filter = { .len = (unsigned short)len,
		                           .filter = (struct sock_filter *)(uintptr_t)code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
}

/* From now on a call fails with this errno, here and in all children. Returns 0 or -1. */
static int refuse_call(uint32_t call, int error)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return install(code, sizeof(code) / sizeof(code[0]));
}

/* waitid(2) knows no pidfd either. */
static int refuse_pidfd_wait(void)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_waitid, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ID_IS_PIDFD, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return install(code, sizeof(code) / sizeof(code[0]));
}

static int become_old_kernel(void)
{
	for (size_t i = 0; i < NEWER_CALLS; i++)
		if (refuse_call(newer_calls[i], ENOSYS) < 0)
			return -1;
	return refuse_pidfd_wait();
}

static uint64_t to_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

/* In the child. */
static void run_command(uint32_t accounting, uint32_t flags, struct seen *seen)
{
	const char *const argv[] = { getenv("RT_TEST_SEVEN"), NULL };
	const struct rt_command_opts opts = {
		.size = sizeof(opts), .argv = argv, .accounting = accounting, .flags = flags
	};
	struct rusage use = { 0 };
	struct rt_command *command;

	seen->start_error = rt_command_start(&command, &opts);
	if (seen->start_error < 0)
		return;
	do {
		seen->wait_error =
		    rt_command_wait(command, PATIENCE_NS, &seen->outcome, sizeof(seen->outcome));
	} while (seen->wait_error == -EINTR);
	seen->accounting = seen->outcome.accounting;
	rt_command_free(command);
	if (getrusage(RUSAGE_CHILDREN, &use) == 0)
		seen->children_ns = to_ns(use.ru_utime) + to_ns(use.ru_stime);
}

static int has_no_child(void *unused)
{
	(void)unused;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static void *share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	memset(memory, 0, size);
	return memory;
}

/* Whatever the child has left behind becomes a child of the test. */
static void end_child(pid_t child, const char *what)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status %d", what, status);
	wait_until(has_no_child, NULL);
}

static void check_outcome(const struct seen *seen, const char *what)
{
	const struct rt_outcome *out = &seen->outcome;
	uint64_t cpu_ns = out->cpu_user_ns + out->cpu_system_ns;

	ck_assert_msg(seen->start_error == 0, "%s: start: %d", what, seen->start_error);
	ck_assert_msg(seen->wait_error == 0, "%s: wait: %d", what, seen->wait_error);
	ck_assert_msg(out->exit_code == 7 && out->signal == 0, "%s: exit code %d, signal %d", what,
	              out->exit_code, out->signal);
	if (out->valid & RT_HAS_CPU)
		ck_assert_msg(cpu_ns >= CPU_MIN_NS, "%s: %llu ns, and valid", what,
		              (unsigned long long)cpu_ns);
	if (out->valid & RT_HAS_CPU && seen->children_ns)
		ck_assert_msg(cpu_ns <= seen->children_ns + CPU_MIN_NS, "%s: %llu ns of %llu", what,
		              (unsigned long long)cpu_ns, (unsigned long long)seen->children_ns);
	if (seen->accounting == RT_ACCOUNTING_POLL)
		ck_assert_msg(out->reasons & RT_REASON_NO_SUPERVISOR, "%s: no reason", what);
}

static void run_without(size_t call, int error, uint32_t flags)
{
	struct seen *seen = share(sizeof(*seen));
	char what[80];
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (refuse_call(calls[call].number, error) < 0)
			_exit(77);
		run_command(RT_ACCOUNTING_AUTO, flags, seen);
		_exit(0);
	}
	snprintf(what, sizeof(what), "%s: %s%s", calls[call].name, strerror(error),
	         flags ? ", own supervisor" : "");
	end_child(child, what);
	/* It must not look as if the program was missing. */
	if (calls[call].is_needed && seen->start_error < 0)
		ck_assert_msg(seen->start_error != -ENOENT && seen->start_error != -EACCES,
		              "%s: start: %d", what, seen->start_error);
	else
		check_outcome(seen, what);
	munmap(seen, sizeof(*seen));
}

static bool can_filter(void)
{
	int status = 1;
	pid_t child = fork();

	if (child == 0)
		_exit(refuse_call(SYS_acct, EPERM) < 0);
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Once with a supervisor of its own, once without. */
START_TEST(program_runs_whichever_call_is_refused)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (size_t call = 0; call < CALLS; call++) {
		run_without(call, errors[_i], 0);
		run_without(call, errors[_i], RT_COMMAND_SUBREAPER_SELF);
	}
}
END_TEST

static const struct {
	uint32_t accounting, flags;
} ways[] = {
	{ RT_ACCOUNTING_POLL, 0 },
	{ RT_ACCOUNTING_WAIT, 0 },
	{ RT_ACCOUNTING_CGROUP, 0 },
	{ RT_ACCOUNTING_AUTO, 0 },
	{ RT_ACCOUNTING_AUTO, RT_COMMAND_SUBREAPER_SELF },
	{ RT_ACCOUNTING_AUTO, RT_COMMAND_LIST_PROCESSES },
};

/* The CPU time is that of wait4(2): the supervisor's own is the rest of that of the children. */
START_TEST(command_on_an_old_kernel_is_exact)
{
	struct seen *seen = share(sizeof(*seen));
	const struct rt_outcome *out = &seen->outcome;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (become_old_kernel() < 0)
			_exit(77);
		run_command(ways[_i].accounting, ways[_i].flags, seen);
		_exit(0);
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	end_child(child, "old kernel");
	if (ways[_i].accounting == RT_ACCOUNTING_CGROUP && seen->start_error == -EOPNOTSUPP)
		return; /* no cgroup may be made here */
	ck_assert_int_eq(seen->start_error, 0);
	ck_assert_int_eq(seen->wait_error, 0);
	ck_assert_int_eq(out->exit_code, 7);
	ck_assert_uint_le(out->cpu_user_ns + out->cpu_system_ns, seen->children_ns + CPU_MIN_NS);
	ck_assert_uint_ge(out->cpu_user_ns + out->cpu_system_ns + out->overhead_cpu_ns +
	                      CPU_SLACK_NS,
	                  seen->children_ns);
	if (ways[_i].accounting == RT_ACCOUNTING_AUTO)
		ck_assert_uint_ne(seen->accounting, RT_ACCOUNTING_POLL);
	if (seen->accounting != RT_ACCOUNTING_POLL)
		ck_assert_uint_eq(out->valid & RT_HAS_CPU, RT_HAS_CPU);
	munmap(seen, sizeof(*seen));
}
END_TEST

/* In a child: returns its exit status. */
static int sample_on_an_old_kernel(int32_t pid)
{
	struct rt_tracker *tree, *system;
	struct rt_metrics of_tree, of_system;
	bool is_right;

	if (become_old_kernel() < 0 || rt_pid_tracker_new(&tree, pid, NULL) < 0 ||
	    rt_system_tracker_new(&system, NULL) < 0 ||
	    rt_sample(tree, &of_tree, sizeof(of_tree)) < 0 ||
	    rt_sample(system, &of_system, sizeof(of_system)) < 0)
		return 1;
	is_right = of_tree.valid & RT_HAS_CPU && of_tree.valid & RT_HAS_RSS &&
	           of_tree.rss_bytes > 0 && of_system.valid & RT_HAS_CPU_MODES &&
	           of_system.valid & RT_HAS_MEMORY;
	rt_tracker_free(tree);
	rt_tracker_free(system);
	return is_right ? 0 : 2;
}

START_TEST(trackers_on_an_old_kernel_sample)
{
	int32_t parent = getpid();
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(sample_on_an_old_kernel(parent));
	end_child(child, "trackers");
}
END_TEST

int main(void)
{
	Suite *suite;
	TCase *refused, *old;

	if (!can_filter())
		return suite_skip("no filter of system calls may be set here");
	suite = suite_create("command_filters");
	refused = suite_case(suite, "refused");
	old = suite_case(suite, "old");
	tcase_add_loop_test(refused, program_runs_whichever_call_is_refused, 0, ERRORS);
	tcase_add_loop_test(old, command_on_an_old_kernel_is_exact, 0,
	                    sizeof(ways) / sizeof(ways[0]));
	tcase_add_test(old, trackers_on_an_old_kernel_sample);
	return suite_run(suite);
}
