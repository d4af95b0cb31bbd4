/* SPDX-License-Identifier: MIT */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SKIPPED 77

static int64_t thread_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

void burn(int ms)
{
	int64_t end = thread_cpu_ns() + (int64_t)ms * 1000000;

	while (thread_cpu_ns() < end) {
		for (volatile int i = 0; i < 1000; i++)
			;
	}
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

uint64_t read_resident_bytes(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "re");
	char line[256];
	unsigned long long kib = 0;

	if (!file)
		skip_with_errno("/proc/self/smaps_rollup");
	while (fgets(line, sizeof(line), file) && sscanf(line, "Rss: %llu", &kib) != 1)
		;
	fclose(file);
	return kib * 1024;
}

void report_value(const char *name, uint64_t value)
{
	const char *path = getenv("ACCURACY_REPORT");
	FILE *file = path ? fopen(path, "ae") : NULL;

	if (!file)
		return;
	fprintf(file, "%s %llu\n", name, (unsigned long long)value);
	fclose(file);
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
