/* SPDX-License-Identifier: MIT */
/* ignore_term MS: children that ignore SIGTERM work on when they get it, until SIGKILL ends
 * them. */
#include "work.h"

#include <signal.h>

static void work_on(int ms)
{
	signal(SIGTERM, SIG_IGN);
	burn(ms);
}

int main(int argc, char **argv)
{
	int ms = number(argc, argv, 1, 150);
	pid_t children[2];

	for (int i = 0; i < 2; i++)
		children[i] = start_child(work_on, 20 * ms);
	for (int round = 0; round < 2; round++) {
		nap(ms);
		for (int i = 0; i < 2; i++)
			kill(children[i], round == 0 ? SIGTERM : SIGKILL);
	}
	for (int i = 0; i < 2; i++)
		wait_for(children[i]);
	return 0;
}
