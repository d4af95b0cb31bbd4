/* SPDX-License-Identifier: MIT */
/* thread_exec MS: a thread that is not the leader executes a program. The kernel ends the leader,
 * and the thread takes its pid. */
#include "work.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char **arguments;
static int ms;

static void *burn_and_exec(void *arg)
{
	char text[16];

	burn(ms);
	snprintf(text, sizeof(text), "%d", ms);
	execl("/proc/self/exe", arguments[0], text, "again", (char *)NULL);
	skip_with_errno("execl");
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	arguments = argv;
	ms = get_number(argc, argv, 1, 200);
	if (argc > 2) {
		burn(ms);
		return 0;
	}
	if (pthread_create(&thread, NULL, burn_and_exec, NULL) != 0)
		skip("cannot make a thread");
	burn(ms / 2);
	pthread_join(thread, NULL);
	return 1;
}
