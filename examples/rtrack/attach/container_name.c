/* SPDX-License-Identifier: MIT */
/* Names of containers, which are known to their engine alone. */
#include "container_name.h"

#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "follow/clock.h"
#include "process/signals.h"
#include "text/units.h"

#define PATIENCE_NS (5 * NS_PER_S) /* with an engine that does not answer */
#define NAP_NS (NS_PER_S / 100)

bool container_name_is_valid(const char *name)
{
	size_t len = 0;

	while (isalnum((unsigned char)name[len]) ||
	       (len > 0 && name[len] && strchr("_.-", name[len])))
		len++;
	return len > 0 && !name[len];
}

/* Start a program with its output in a pipe. rtrack has blocked signals that are to end it, too.
 * Returns its pid, or -1. */
static pid_t start(const char *const argv[], int out)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	pid_t pid = -1;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	if (posix_spawnp(&pid, argv[0], &actions, &attributes, (char *const *)argv, environ) != 0)
		pid = -1;
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

/* Wait for the end of a program. Kill it after the deadline, or if the user requests the end. */
static void reap(pid_t pid, int64_t deadline)
{
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		int64_t now = clock_now();

		if (now >= deadline || signals_end_requested())
			kill(pid, SIGKILL);
		signals_sleep(now + NAP_NS, NULL, 0);
	}
}

/* Read the first bytes of the output of a program, for some time. Returns how many there are. */
static size_t read_output(const char *const argv[], char *out, size_t size)
{
	int64_t deadline = clock_now() + PATIENCE_NS;
	int ends[2];
	size_t len = 0;
	ssize_t n = 1;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return 0;
	pid = start(argv, ends[1]);
	close(ends[1]);
	while (pid > 0 && len < size && n != 0 && clock_now() < deadline &&
	       !signals_end_requested()) {
		struct pollfd more = { .fd = ends[0], .events = POLLIN };

		signals_sleep(deadline, &more, 1);
		n = read(ends[0], out + len, size - len);
		len += n > 0 ? (size_t)n : 0;
	}
	close(ends[0]);
	if (pid > 0)
		reap(pid, deadline);
	return len;
}

bool container_name_ask(const char *name, char id[CONTAINER_ID_BYTES])
{
	static const char *const engines[] = { "docker", "podman" };

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		const char *argv[] = { engines[i], "container", "inspect", "--format",
			               "{{.Id}}",  name,        NULL };
		size_t len = read_output(argv, id, CONTAINER_ID_BYTES);

		if (len == CONTAINER_ID_BYTES && id[len - 1] == '\n') {
			id[len - 1] = '\0';
			if (strspn(id, "0123456789abcdef") == len - 1)
				return true;
		}
	}
	return false;
}
