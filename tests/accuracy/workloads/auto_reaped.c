/* SPDX-License-Identifier: MIT */
/* auto_reaped COUNT MS [HOW]: children that the kernel reaps itself, so that their usage is added
 * to no account. HOW the parent requests that:
 *   ignore      it ignores SIGCHLD
 *   nocldwait   its handler has the flag SA_NOCLDWAIT
 *   briefly     it ignores SIGCHLD, and then sets the default action again */
#include "work.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static void ignore_signal(int signal)
{
	(void)signal;
}

static void wait_for_all(void)
{
	/* Without zombies, wait() returns only when no child is left. */
	while (wait(NULL) >= 0)
		;
}

int main(int argc, char **argv)
{
	int count = get_number(argc, argv, 1, 50), ms = get_number(argc, argv, 2, 20);
	const char *how = argc > 3 ? argv[3] : "ignore";
	struct sigaction action = { .sa_handler = SIG_IGN };

	if (strcmp(how, "nocldwait") == 0) {
		action.sa_handler = ignore_signal;
		action.sa_flags = SA_NOCLDWAIT | SA_RESTART;
	}
	sigaction(SIGCHLD, &action, NULL);
	while (count--) {
		start_child(burn, ms);
		wait_for_all();
	}
	if (strcmp(how, "briefly") == 0)
		signal(SIGCHLD, SIG_DFL);
	return 0;
}
