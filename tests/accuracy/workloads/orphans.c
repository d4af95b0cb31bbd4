/* SPDX-License-Identifier: MIT */
/* orphans COUNT MS: children that lose their parent at once, so that no process of the tree waits
 * for them. */
#include "work.h"

static void start_orphan(int ms)
{
	start_child(burn, ms);
}

int main(int argc, char **argv)
{
	int count = get_number(argc, argv, 1, 50), ms = get_number(argc, argv, 2, 20);
	struct exit_pipe exit_pipe;

	open_exit_pipe(&exit_pipe);
	while (count--) {
		wait_for(start_child(start_orphan, ms));
		sleep_ms(ms / 2); /* some run at the same time, not all */
	}
	wait_for_exits(&exit_pipe);
	return 0;
}
