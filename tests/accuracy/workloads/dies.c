/* SPDX-License-Identifier: MIT */
/* dies SIGNAL MS: a signal ends a child, and then the program itself, in the middle of their
 * work. */
#include "work.h"

#include <signal.h>
#include <sys/resource.h>

static int signal_number;

static void burn_and_raise(int ms)
{
	burn(ms);
	raise(signal_number);
}

int main(int argc, char **argv)
{
	/* With a limit below one page the kernel writes no core file. With 1 it runs no core
	 * handler either. */
	struct rlimit no_core = { 1, 1 };
	int ms = get_number(argc, argv, 2, 200);

	signal_number = get_number(argc, argv, 1, SIGKILL);
	setrlimit(RLIMIT_CORE, &no_core);
	wait_for(start_child(burn_and_raise, ms));
	burn_and_raise(ms);
	return 1;
}
