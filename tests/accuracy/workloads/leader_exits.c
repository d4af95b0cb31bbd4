/* SPDX-License-Identifier: MIT */
/* leader_exits THREADS MS: the first thread ends, and the process looks like a zombie, while
 * others work on. */
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
	int threads = number(argc, argv, 1, 2);
	pthread_t thread;

	ms = number(argc, argv, 2, 400);
	while (threads--) {
		if (pthread_create(&thread, NULL, work, NULL) != 0)
			give_up("no thread could be made");
	}
	pthread_exit(NULL);
}
