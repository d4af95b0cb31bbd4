/* SPDX-License-Identifier: MIT */
/* auto_reaped COUNT MS [HOW]: children that the kernel reaps itself, whose use is added to
 * nobody's. HOW the parent asks for that: "ignore" SIGCHLD, with the flag "nocldwait" on a
 * handler, or ignore it only "briefly". */
#include "work.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static void on_child(int signal)
{
	(void)signal;
}

static void await_all(void)
{
	/* Without zombies, wait() returns only when no child is left. */
	while (wait(NULL) >= 0)
		;
}

int main(int argc, char **argv)
{
	int count = number(argc, argv, 1, 50), ms = number(argc, argv, 2, 20);
	const char *how = argc > 3 ? argv[3] : "ignore";
	struct sigaction action = { .sa_handler = SIG_IGN };

	if (strcmp(how, "nocldwait") == 0) {
		action.sa_handler = on_child;
		action.sa_flags = SA_NOCLDWAIT | SA_RESTART;
	}
	sigaction(SIGCHLD, &action, NULL);
	while (count--) {
		start_child(burn, ms);
		await_all();
	}
	if (strcmp(how, "briefly") == 0)
		signal(SIGCHLD, SIG_DFL);
	return 0;
}
