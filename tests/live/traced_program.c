/* SPDX-License-Identifier: MIT */
/* A program to be traced: it calls getrusage(2), and logs each call in shared memory.
 *
 * Arguments: what to do, and how often. It is also built statically and for 32 bits. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
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

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "traced_log.h"

#define AT_ONCE 4
#define STOPPED_US 20000 /* enough to see that a process runs on, if it does */
#define LONG_BYTES sizeof(struct rusage)

static struct traced_log *traced_log;
static void *read_only_page, *unmapped_page;
static char **arguments;

static void add(int subject, long result, const void *usage)
{
	uint32_t index = __atomic_fetch_add(&traced_log->count, 1, __ATOMIC_SEQ_CST);
	struct traced_call *call = &traced_log->calls[index];

	call->tid = (uint32_t)syscall(SYS_gettid);
	call->subject = subject;
	call->result = (int32_t)(result < 0 ? -errno : result);
	if (result < 0 || !usage)
		return;
	call->usage_bytes = LONG_BYTES;
	memcpy(call->usage, usage, LONG_BYTES);
}

static void call_with(int subject, void *usage)
{
	add(subject, syscall(SYS_getrusage, subject, usage), usage);
}

/* Good and bad arguments in turn. */
static void call_many(int count)
{
	struct rusage usage;

	for (int i = 0; i < count; i++) {
		switch (i % 7) {
		case 0:
			call_with(RUSAGE_SELF, &usage);
			break;
		case 1:
			call_with(RUSAGE_CHILDREN, &usage);
			break;
		case 2:
			call_with(RUSAGE_THREAD, &usage);
			break;
		case 3:
			call_with(77, &usage);
			break;
		case 4:
			call_with(RUSAGE_SELF, NULL);
			break;
		case 5:
			call_with(RUSAGE_SELF, unmapped_page);
			break;
		default:
			call_with(RUSAGE_SELF, read_only_page);
			break;
		}
	}
}

static void *run_thread(void *count)
{
	call_many(*(int *)count);
	return NULL;
}

static void call_in_threads(int count)
{
	pthread_t threads[AT_ONCE];

	for (int i = 0; i < AT_ONCE; i++)
		pthread_create(&threads[i], NULL, run_thread, &count);
	for (int i = 0; i < AT_ONCE; i++)
		pthread_join(threads[i], NULL);
}

static void call_in_processes(int count)
{
	for (int i = 0; i < AT_ONCE; i++) {
		if (fork() == 0) {
			call_many(count);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	call_many(count);
}

/* Each of them lives for one call. */
static void call_in_short_lived(int count)
{
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			call_many(1);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void execute_self(const char *what, const char *count)
{
	char *const argv[] = { arguments[0], (char *)(size_t)what, (char *)(size_t)count, NULL };

	execv("/proc/self/exe", argv);
	_exit(99);
}

static pid_t execute_after_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		execute_self("calls", "3");
	return pid;
}

static void call_after_vfork(int count)
{
	for (int i = 0; i < count; i++) {
		waitpid(execute_after_vfork(), NULL, 0);
		call_many(1);
	}
}

static void *execute_in_thread(void *arg)
{
	call_many(3);
	execute_self("calls", arg);
	return NULL;
}

/* An exec from a thread that is not the leader, which it ends. A thread that has not ended by then
 * could not log its last call. */
static void execute_from_thread(const char *count)
{
	pthread_t threads[2];
	int some = 7;

	pthread_create(&threads[0], NULL, run_thread, &some);
	pthread_join(threads[0], NULL);
	pthread_create(&threads[1], NULL, execute_in_thread, (void *)(size_t)count);
	for (;;)
		pause();
}

/* Likewise, and then nothing but to wait: one thread is left. */
static void *execute_to_wait(void *arg)
{
	execute_self("wait", "0");
	return arg;
}

static void execute_and_wait(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, execute_to_wait, NULL);
	for (;;)
		pause();
}

static bool is_leader_asleep(void)
{
	char path[64], text[512] = "", *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	file = fopen(path, "r");
	if (!file)
		return false;
	end = fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
	fclose(file);
	return end && end[2] == 'S';
}

static void *execute_once_leader_waits(void *arg)
{
	while (!traced_log->values[0] || !is_leader_asleep())
		usleep(1000);
	execute_self("calls", "3");
	return arg;
}

/* The leader waits for a child that does not end, until another thread executes a program. */
static void execute_from_wait(void)
{
	pthread_t thread;
	pid_t pid = fork();

	if (pid < 0)
		_exit(97);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* at the exec, which ends the leader */
		traced_log->values[1] = 1;
		for (;;)
			pause();
	}
	while (!*(volatile int32_t *)&traced_log->values[1])
		usleep(1000);
	pthread_create(&thread, NULL, execute_once_leader_waits, NULL);
	traced_log->values[0] = 1;
	wait4(pid, NULL, 0, NULL);
	_exit(97);
}

/* A filter of its own that stops the traced call for a tracer that the program does not have. */
static void call_with_own_stop(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | 5),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	struct rusage usage;

	call_many(7);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	traced_log->values[0] = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	traced_log->values[1] = syscall(SYS_getrusage, RUSAGE_SELF, &usage) < 0 ? errno : 0;
}

/* One call whenever the test asks for one: values[0] counts what was asked for, values[1] is the
 * argument, values[2] counts what was done. */
static void call_when_asked(void)
{
	struct rusage usage;

	while (!__atomic_load_n(&traced_log->may_end, __ATOMIC_SEQ_CST)) {
		if (__atomic_load_n(&traced_log->values[0], __ATOMIC_SEQ_CST) ==
		    traced_log->values[2]) {
			usleep(100);
			continue;
		}
		call_with(traced_log->values[1], &usage);
		__atomic_fetch_add(&traced_log->values[2], 1, __ATOMIC_SEQ_CST);
	}
}

/* A filter of its own: getppid() fails with EACCES, and getpgid() stops for a tracer that the
 * program does not have. */
static void call_with_filter(int count)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | 5),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	traced_log->values[0] = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	call_many(count);
	traced_log->values[1] = syscall(SYS_getppid) < 0 ? errno : 0;
	traced_log->values[2] = syscall(SYS_getpgid, 0) < 0 ? errno : 0;
	call_many(count);
}

static void note_signal(int signal, siginfo_t *info, void *context)
{
	(void)context;
	traced_log->values[0]++;
	traced_log->values[1] = signal;
	traced_log->values[2] = info->si_code;
	traced_log->values[3] = info->si_pid;
	traced_log->values[4] = info->si_value.sival_int;
}

/* Signals to itself, with a value, between calls and during one. */
static void call_with_signals(int count)
{
	struct sigaction action = { .sa_sigaction = note_signal, .sa_flags = SA_SIGINFO };

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
	for (int i = 0; i < count; i++) {
		union sigval value = { .sival_int = i };

		sigqueue(getpid(), i % 2 ? SIGTRAP : SIGUSR1, value);
		call_many(1);
	}
}

/* It ends once its parent has seen that it goes on. */
static void stop_self(int signal, int go)
{
	char byte;

	call_many(1);
	raise(signal);
	traced_log->values[3]++;
	call_many(1);
	_exit(read(go, &byte, 1) == 1 ? 33 : 34);
}

/* A child stops itself, and does not run on by itself. Its parent sees each change of state. */
static void call_with_stops(int count)
{
	for (int i = 0; i < count; i++) {
		int status = 0, go[2];
		pid_t pid;

		if (pipe(go) < 0)
			_exit(97);
		pid = fork();
		if (pid < 0)
			_exit(97);
		if (pid == 0)
			stop_self(i % 2 ? SIGTSTP : SIGSTOP, go[0]);
		waitpid(pid, &status, WUNTRACED);
		traced_log->values[0] += WIFSTOPPED(status);
		usleep(STOPPED_US);
		traced_log->values[4] += traced_log->values[3] == i;
		kill(pid, SIGCONT);
		waitpid(pid, &status, WCONTINUED);
		traced_log->values[1] += !!WIFCONTINUED(status);
		if (write(go[1], "", 1) != 1)
			_exit(97);
		waitpid(pid, &status, 0);
		traced_log->values[2] += WIFEXITED(status) && WEXITSTATUS(status) == 33;
		close(go[0]);
		close(go[1]);
	}
}

static void *call_without_end(void *arg)
{
	for (;;) {
		syscall(SYS_getrusage, RUSAGE_SELF, NULL);
		__atomic_fetch_add(&traced_log->values[0], 1, __ATOMIC_SEQ_CST);
	}
	return arg;
}

/* In two processes of two threads each, until they are killed. The first one ends by itself after
 * a number of calls, or once it may. */
static void call_for_ever(int count)
{
	pthread_t thread;
	pid_t pid = fork();

	if (pid < 0)
		_exit(97);
	traced_log->values[pid == 0 ? 2 : 1] = getpid();
	pthread_create(&thread, NULL, call_without_end, NULL);
	if (pid == 0)
		call_without_end(NULL);
	while (__atomic_load_n(&traced_log->values[0], __ATOMIC_SEQ_CST) < count &&
	       !__atomic_load_n(&traced_log->may_end, __ATOMIC_SEQ_CST))
		syscall(SYS_getrusage, RUSAGE_CHILDREN, NULL);
	kill(pid, SIGKILL);
}

static void call_and_wait(void)
{
	call_many(1);
	for (;;)
		pause();
}

static void set_pages(void)
{
	long size = sysconf(_SC_PAGESIZE);

	read_only_page = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unmapped_page = mmap(NULL, (size_t)size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(unmapped_page, (size_t)size);
}

static void run(const char *what, const char *count_text)
{
	int count = atoi(count_text);

	if (strcmp(what, "calls") == 0)
		call_many(count);
	else if (strcmp(what, "threads") == 0)
		call_in_threads(count);
	else if (strcmp(what, "processes") == 0)
		call_in_processes(count);
	else if (strcmp(what, "short_lived") == 0)
		call_in_short_lived(count);
	else if (strcmp(what, "vfork") == 0)
		call_after_vfork(count);
	else if (strcmp(what, "exec_from_thread") == 0)
		execute_from_thread(count_text);
	else if (strcmp(what, "exec_and_wait") == 0)
		execute_and_wait();
	else if (strcmp(what, "exec_from_wait") == 0)
		execute_from_wait();
	else if (strcmp(what, "own_stop") == 0)
		call_with_own_stop();
	else if (strcmp(what, "when_asked") == 0)
		call_when_asked();
	else if (strcmp(what, "filter") == 0)
		call_with_filter(count);
	else if (strcmp(what, "signals") == 0)
		call_with_signals(count);
	else if (strcmp(what, "stops") == 0)
		call_with_stops(count);
	else if (strcmp(what, "wait") == 0)
		call_and_wait();
	else if (strcmp(what, "forever") == 0)
		call_for_ever(count);
}

int main(int argc, char **argv)
{
	arguments = argv;
	traced_log =
	    mmap(NULL, sizeof(*traced_log), PROT_READ | PROT_WRITE, MAP_SHARED, TRACED_LOG_FD, 0);
	if (argc != 3 || traced_log == MAP_FAILED)
		return 98;
	set_pages();
	run(argv[1], argv[2]);
	return 7;
}
