/* SPDX-License-Identifier: MIT */
/* Makes calls of getrusage(2) with known arguments, and writes down what it got.
 *
 *	caller HOW DESCRIPTOR THREADS ROWS
 *
 * DESCRIPTOR is memory for the logs of THREADS threads or processes with ROWS rows each. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call_log.h"

#define WAYS 8
#define NO_SUCH_ARGUMENT 12345

static char *logs;
static char *read_only, *unmapped;
static unsigned long rows, threads;
static char **arguments;

static struct call_log *log_of(unsigned long thread)
{
	return (struct call_log *)(logs + thread * call_log_bytes(rows));
}

static uint64_t hash_of(const long *words)
{
	int64_t wide[USAGE_WORDS];

	for (int i = 0; i < USAGE_WORDS; i++)
		wide[i] = words[i];
	return hash_words(wide);
}

/* One of the ways to make a call: right ones and wrong ones. */
static void make_call(struct call_row *row, unsigned long way)
{
	static const int argument[WAYS] = { RUSAGE_SELF,      RUSAGE_CHILDREN, RUSAGE_THREAD,
		                            NO_SUCH_ARGUMENT, RUSAGE_SELF,     RUSAGE_SELF,
		                            RUSAGE_SELF,      RUSAGE_SELF };
	long words[USAGE_WORDS];
	void *const to[WAYS] = { words, words, words, words, NULL, read_only, unmapped, words };

	row->call = 1;
	row->who = argument[way];
	row->address = (uintptr_t)to[way];
	row->result = syscall(SYS_getrusage, argument[way], to[way]) < 0 ? -errno : 0;
	row->hash = row->result == 0 ? hash_of(words) : 0;
}

static void make_some_calls(struct call_log *log, unsigned long end)
{
	log->pid = getpid();
	log->tid = (int32_t)syscall(SYS_gettid);
	for (unsigned long i = (unsigned long)log->rows; i < end; i++) {
		make_call(&log->row[i], i % WAYS);
		__atomic_store_n(&log->rows, i + 1, __ATOMIC_RELEASE);
	}
}

static void *make_calls(void *log)
{
	make_some_calls(log, rows);
	return NULL;
}

static void run_threads(void)
{
	pthread_t *thread = calloc(threads, sizeof(*thread));

	for (unsigned long i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, make_calls, log_of(i)) != 0)
			exit(1);
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
}

/* At most 16 at a time. */
static void run_processes(void)
{
	for (unsigned long i = 0; i < threads; i++) {
		pid_t pid = fork();

		if (pid < 0)
			exit(1);
		if (pid == 0) {
			make_calls(log_of(i));
			_exit(0);
		}
		if (i >= 16)
			waitpid(-1, NULL, 0);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
}

/* They outlive the program, and their parent is another process by the time that they call. */
static void run_orphans(void)
{
	for (unsigned long i = 0; i < threads; i++) {
		pid_t pid = fork(), parent;

		if (pid == 0) {
			parent = getpid();
			pid = fork();
			while (pid == 0 && getppid() == parent)
				usleep(1000);
			if (pid == 0)
				make_calls(log_of(i));
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

/* The thread takes the place of its process, with its pid. */
static void *execute(void *unused)
{
	(void)unused;
	arguments[1] = (char *)"threads";
	execv("/proc/self/exe", arguments);
	exit(1);
}

static void run_exec(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, execute, NULL) == 0)
		pthread_join(thread, NULL);
	exit(1);
}

/* As above, but for the process alone, once the test has written a byte. */
static void run_when_asked(void)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) == 1)
		make_calls(log_of(0));
}

/* Each process makes calls, forks the next one, and goes on: a tree that is not at rest. None ends
 * before the test says so. */
static void run_chain(void)
{
	for (unsigned long i = 0; i < threads; i++) {
		make_some_calls(log_of(i), rows / 2);
		if (i + 1 < threads && fork() == 0)
			continue;
		make_some_calls(log_of(i), rows - 1);
		while (!__atomic_load_n(&log_of(0)->may_end, __ATOMIC_ACQUIRE))
			usleep(1000);
		make_some_calls(log_of(i), rows);
		while (waitpid(-1, NULL, 0) > 0)
			;
		_exit(0);
	}
}

static void log_wait(struct call_log *log, struct call_row row, const long *words, int has_figures)
{
	row.address = (uintptr_t)words;
	row.hash = has_figures ? hash_of(words) : 0;
	log->row[log->rows++] = row;
}

static void wait_by_wait4(struct call_log *log, int pid, int options)
{
	long words[USAGE_WORDS];
	struct call_row row = { .call = 2, .who = pid };

	row.result = syscall(SYS_wait4, pid, NULL, options, words);
	if (row.result < 0)
		row.result = -errno;
	log_wait(log, row, words, row.result > 0);
}

static void wait_by_waitid(struct call_log *log, int pid, int options)
{
	long words[USAGE_WORDS];
	siginfo_t info;
	struct call_row row = { .call = 4, .who = P_PID };

	row.result = syscall(SYS_waitid, P_PID, pid, &info, options, words) < 0 ? -errno : 0;
	log_wait(log, row, words, row.result == 0 && info.si_signo == SIGCHLD);
}

static pid_t fork_reader(int *pipe_end)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends) < 0)
		exit(1);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	close(ends[0]);
	*pipe_end = ends[1];
	return pid;
}

/* Two children, each looked at while it runs and waited for when it ends. */
static void run_waits(void)
{
	struct call_log *log = log_of(0);
	int end;
	pid_t pid = fork_reader(&end);

	log->pid = getpid();
	log->tid = log->pid;
	wait_by_wait4(log, pid, WNOHANG);
	close(end);
	wait_by_wait4(log, pid, 0);
	wait_by_wait4(log, pid, 0);
	pid = fork_reader(&end);
	wait_by_waitid(log, pid, WEXITED | WNOHANG);
	close(end);
	wait_by_waitid(log, pid, WEXITED | WNOWAIT);
	wait_by_waitid(log, pid, WEXITED | WNOHANG);
	wait_by_waitid(log, pid, WEXITED);
}

static void run(const char *how)
{
	if (strcmp(how, "threads") == 0)
		run_threads();
	else if (strcmp(how, "processes") == 0)
		run_processes();
	else if (strcmp(how, "orphans") == 0)
		run_orphans();
	else if (strcmp(how, "exec") == 0)
		run_exec();
	else if (strcmp(how, "when_asked") == 0)
		run_when_asked();
	else if (strcmp(how, "chain") == 0)
		run_chain();
	else if (strcmp(how, "waits") == 0)
		run_waits();
	else
		make_calls(log_of(0));
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	arguments = argv;
	threads = strtoul(argv[3], NULL, 10);
	rows = strtoul(argv[4], NULL, 10);
	logs = mmap(NULL, (size_t)(threads * call_log_bytes(rows)), PROT_READ | PROT_WRITE,
	            MAP_SHARED, atoi(argv[2]), 0);
	read_only = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* A hole of one page, which no stack of a thread fits in. */
	unmapped = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (logs == MAP_FAILED || read_only == MAP_FAILED || unmapped == MAP_FAILED)
		return 1;
	unmapped += 4096;
	munmap(unmapped, 4096);
	run(argv[1]);
	return 0;
}
