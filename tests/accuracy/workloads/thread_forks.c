/* SPDX-License-Identifier: MIT */
/* thread_forks COUNT MS: children of a thread that is not the leader. Only the `children` file of
 * that thread lists them. */
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

	count = get_number(argc, argv, 1, 50);
	ms = get_number(argc, argv, 2, 20);
	if (pthread_create(&thread, NULL, fork_and_wait, NULL) != 0)
		skip("cannot make a thread");
	pthread_join(thread, NULL);
	return 0;
}
