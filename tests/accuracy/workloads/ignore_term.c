/* SPDX-License-Identifier: MIT */
/* ignore_term MS: children that ignore SIGTERM, so that they run on until SIGKILL ends them. */
#include "work.h"

#include <signal.h>

static void burn_without_sigterm(int ms)
{
	signal(SIGTERM, SIG_IGN);
	burn(ms);
}

int main(int argc, char **argv)
{
	int ms = get_number(argc, argv, 1, 150);
	pid_t children[2];

	for (int i = 0; i < 2; i++)
		children[i] = start_child(burn_without_sigterm, 20 * ms);
	for (int round = 0; round < 2; round++) {
		sleep_ms(ms);
		for (int i = 0; i < 2; i++)
			kill(children[i], round == 0 ? SIGTERM : SIGKILL);
	}
	for (int i = 0; i < 2; i++)
		wait_for(children[i]);
	return 0;
}
