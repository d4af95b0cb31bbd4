/* SPDX-License-Identifier: MIT */
/* dies SIGNAL MS: a signal ends a child and then the program itself, in the middle of their
 * work. */
#include "work.h"

#include <signal.h>
#include <sys/resource.h>

static int signal_number;

static void work_and_die(int ms)
{
	burn(ms);
	raise(signal_number);
}

int main(int argc, char **argv)
{
	/* Below a page no core file is written, and with 1 no core handler runs either. */
	struct rlimit no_core = { 1, 1 };
	int ms = number(argc, argv, 2, 200);

	signal_number = number(argc, argv, 1, SIGKILL);
	setrlimit(RLIMIT_CORE, &no_core);
	wait_for(start_child(work_and_die, ms));
	work_and_die(ms);
	return 1;
}
