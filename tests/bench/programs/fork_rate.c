/* SPDX-License-Identifier: MIT */
/* fork_rate RATE: the other programs of a busy machine. Starts RATE processes a second, which end
 * at once, until standard input ends. */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000

static int64_t read_wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

static bool start_one(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

int main(int argc, char **argv)
{
	int rate = argc > 1 ? atoi(argv[1]) : 0;
	struct pollfd end = { .fd = STDIN_FILENO, .events = POLLIN };
	int64_t next_ns = read_wall_ns();

	if (rate < 1 || rate > 1000)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int64_t left_ns = next_ns - read_wall_ns();

		if (poll(&end, 1, left_ns > 0 ? (int)(left_ns / 1000000) : 0) != 0)
			return 0;
		if (left_ns >= 1000000)
			continue;
		if (!start_one()) {
			perror("fork_rate");
			return 1;
		}
		next_ns += SECOND_NS / rate;
	}
}
