/* SPDX-License-Identifier: MIT */
/* workers ROUNDS COUNT BURN_MS ALIVE_MS: rounds of workers at the same time. Each works for a
 * while, and sleeps until it was alive for that long. */
#include "memory.h"
#include "work.h"

static int burn_ms;

static void work_and_sleep(int alive_ms)
{
	uint64_t end_ns = now_ns() + (uint64_t)alive_ms * 1000000, at_ns;

	burn(burn_ms);
	while ((at_ns = now_ns()) < end_ns)
		sleep_ms((int)((end_ns - at_ns) / 1000000) + 1);
}

int main(int argc, char **argv)
{
	int rounds = get_number(argc, argv, 1, 4), count = get_number(argc, argv, 2, 2);
	int alive_ms = get_number(argc, argv, 4, 900);
	pid_t pids[16];

	burn_ms = get_number(argc, argv, 3, 60);
	if (count > 16)
		return 2;
	while (rounds--) {
		for (int i = 0; i < count; i++)
			pids[i] = start_child(work_and_sleep, alive_ms);
		for (int i = 0; i < count; i++)
			wait_for(pids[i]);
	}
	report_usage();
	return 0;
}
