/* SPDX-License-Identifier: MIT */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SKIPPED 77

/* What a process may add to its faults and switches after it has reported them. */
#define FAULTS_OF_EXIT 64
#define SWITCHES_OF_EXIT 8

static int64_t thread_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

void burn_us(int us)
{
	int64_t end = thread_cpu_ns() + (int64_t)us * 1000;

	while (thread_cpu_ns() < end) {
		for (volatile int i = 0; i < 1000; i++)
			;
	}
}

void burn(int ms)
{
	burn_us(ms * 1000);
}

void sleep_ms(int ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

int get_number(int argc, char **argv, int i, int default_value)
{
	return i < argc ? atoi(argv[i]) : default_value;
}

pid_t start_child(void (*work)(int ms), int ms)
{
	pid_t pid = fork();

	if (pid < 0)
		skip_with_errno("fork");
	if (pid == 0) {
		work(ms);
		_exit(0);
	}
	return pid;
}

void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void open_exit_pipe(struct exit_pipe *pipe)
{
	if (pipe2(pipe->fds, O_CLOEXEC) < 0)
		skip_with_errno("pipe2");
}

void wait_for_exits(struct exit_pipe *pipe)
{
	char byte;
	ssize_t n;

	close(pipe->fds[1]);
	do {
		n = read(pipe->fds[0], &byte, 1);
	} while (n > 0 || (n < 0 && errno == EINTR));
	/* A process closes its files before the kernel removes it. */
	sleep_ms(50);
}

static pid_t fork_into(unsigned long namespaces)
{
	return (pid_t)syscall(SYS_clone, namespaces | SIGCHLD, NULL, NULL, NULL, NULL);
}

pid_t start_namespace(void)
{
	pid_t pid = fork_into(CLONE_NEWPID);

	if (pid < 0 && errno == EPERM)
		pid = fork_into(CLONE_NEWUSER | CLONE_NEWPID);
	if (pid < 0)
		skip_with_errno("this user cannot make a pid namespace");
	return pid;
}

void report_line(const char *line)
{
	const char *path = getenv("ACCURACY_REPORT");
	FILE *file = path ? fopen(path, "ae") : NULL;

	if (!file)
		return;
	fprintf(file, "%s\n", line);
	fclose(file);
}

void report_range(const char *name, uint64_t low, uint64_t high)
{
	char line[128];

	snprintf(line, sizeof(line), "%s %" PRIu64 " %" PRIu64, name, low, high);
	report_line(line);
}

void report_value(const char *name, uint64_t value)
{
	report_range(name, value, value);
}

void report_usage(void)
{
	struct rusage self, children;
	uint64_t faults, switches;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	faults = (uint64_t)(self.ru_minflt + children.ru_minflt);
	switches = (uint64_t)(self.ru_nvcsw + children.ru_nvcsw);
	report_range("minor_faults", faults, faults + FAULTS_OF_EXIT);
	report_range("voluntary_switches", switches, switches + SWITCHES_OF_EXIT);
}

void skip(const char *reason)
{
	fprintf(stderr, "%s\n", reason);
	_exit(SKIPPED);
}

void skip_with_errno(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	_exit(SKIPPED);
}
