/* SPDX-License-Identifier: MIT */
/* Calls getrusage(2) many times, and prints the nanoseconds of a call. Argument: how often. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	int count = argc == 2 ? atoi(argv[1]) : 0;
	struct rusage usage;
	double begin_ns = now_ns();

	for (int i = 0; i < count; i++)
		getrusage(RUSAGE_SELF, &usage);
	printf("%.1f\n", (now_ns() - begin_ns) / count);
	return 0;
}
