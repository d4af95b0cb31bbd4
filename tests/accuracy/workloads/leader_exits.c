/* SPDX-License-Identifier: MIT */
/* leader_exits THREADS MS: the thread group leader exits, so that the process looks like a zombie,
 * while other threads work on. */
#include "work.h"

#include <pthread.h>
#include <stddef.h>

static int ms;

static void *work(void *arg)
{
	burn(ms);
	return arg;
}

int main(int argc, char **argv)
{
	int threads = get_number(argc, argv, 1, 2);
	pthread_t thread;

	ms = get_number(argc, argv, 2, 400);
	while (threads--) {
		if (pthread_create(&thread, NULL, work, NULL) != 0)
			skip("cannot make a thread");
	}
	pthread_exit(NULL);
}
