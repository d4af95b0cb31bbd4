/* SPDX-License-Identifier: MIT */
/* The starter: becomes the traced program.
 *
 * It runs where the program is to run: below the supervisor, in its cgroup, with its signals,
 * directory and terminal, and changes none of them. It has itself traced, takes the filter, and
 * executes the program. What it uses counts for the program, so it does as little as possible. */
#include "tracer/start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "os/process/path_exec.h"
#include "os/protocol/tracer_protocol.h"
#include "tracer/filter.h"

#define FAILED 127 /* as a shell that cannot start a program */

/* Returns true if it was sent. If not, this process has to end: the tracer waits for either. */
static bool say(int socket, enum rti_tracer_step step, int error)
{
	const struct rti_starter_message message = { .step = step, .error = error };

	return send(socket, &message, sizeof(message), MSG_NOSIGNAL) == sizeof(message);
}

int rtt_start(int argc, char **argv)
{
	struct rti_starter_message answer;
	int socket, dir, error;
	ssize_t n;

	if (argc < 6)
		return FAILED;
	socket = atoi(argv[2]);
	dir = atoi(argv[3]);
	/* They must not reach the program. */
	if (fcntl(socket, F_SETFD, FD_CLOEXEC) < 0 || (dir > 0 && close(dir) < 0))
		return FAILED;
	/* The Yama security module lets a process be traced by its ancestors only (ptrace_scope 1),
	 * unless it names another one. */
	prctl(PR_SET_PTRACER, (unsigned long)atoi(argv[4]), 0, 0, 0);
	if (!say(socket, RTI_TRACER_READY, 0))
		return FAILED;
	do {
		n = recv(socket, &answer, sizeof(answer), 0);
	} while (n < 0 && errno == EINTR);
	/* The tracer is gone, or cannot trace this process. */
	if (n != sizeof(answer) || answer.error)
		return FAILED;
	error = rtt_filter_install(answer.calls);
	if (error) {
		say(socket, RTI_TRACER_FILTERED, error);
		return FAILED;
	}
	say(socket, RTI_TRACER_EXECUTED, rti_path_exec(argv + 5, NULL, NULL));
	return FAILED;
}
