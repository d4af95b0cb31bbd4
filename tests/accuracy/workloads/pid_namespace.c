/* SPDX-License-Identifier: MIT */
/* pid_namespace COUNT MS: pid namespaces in which the first process is killed. The kernel then
 * kills and reaps all other processes in it. */
#include "work.h"

#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int count = get_number(argc, argv, 1, 1), ms = get_number(argc, argv, 2, 400);

	while (count--) {
		pid_t first = start_namespace();

		if (first == 0) {
			for (int i = 0; i < 2; i++)
				start_child(burn, 10 * ms);
			sleep_ms(10 * ms);
			_exit(0);
		}
		sleep_ms(ms);
		kill(first, SIGKILL);
		wait_for(first);
	}
	return 0;
}
