/* SPDX-License-Identifier: MIT */
/* threads COUNT US: short-lived threads, two at a time. */
#include "work.h"

#include <pthread.h>
#include <stddef.h>

static int us;

static void *work(void *arg)
{
	burn_us(us);
	return arg;
}

int main(int argc, char **argv)
{
	int count = get_number(argc, argv, 1, 400);

	us = get_number(argc, argv, 2, 10000);
	for (int i = 0; i < count; i += 2) {
		pthread_t pair[2];

		for (int j = 0; j < 2; j++) {
			if (pthread_create(&pair[j], NULL, work, NULL) != 0)
				skip("cannot make a thread");
		}
		for (int j = 0; j < 2; j++)
			pthread_join(pair[j], NULL);
	}
	return 0;
}
