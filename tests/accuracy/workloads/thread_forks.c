/* SPDX-License-Identifier: MIT */
/* thread_forks COUNT MS: children of a thread that is not the leader, which only that thread's
 * list of children has. */
#include "work.h"

#include <pthread.h>
#include <stddef.h>

static int count, ms;

static void *fork_and_wait(void *arg)
{
	for (int i = 0; i < count; i++)
		wait_for(start_child(burn, ms));
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	count = number(argc, argv, 1, 50);
	ms = number(argc, argv, 2, 20);
	if (pthread_create(&thread, NULL, fork_and_wait, NULL) != 0)
		give_up("no thread could be made");
	pthread_join(thread, NULL);
	return 0;
}
