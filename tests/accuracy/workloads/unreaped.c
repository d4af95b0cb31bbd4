/* SPDX-License-Identifier: MIT */
/* unreaped COUNT MS: children that exit before their parent, which then exits without waiting for
 * them. */
#include "work.h"

int main(int argc, char **argv)
{
	int count = get_number(argc, argv, 1, 20), ms = get_number(argc, argv, 2, 20);
	struct exit_pipe exit_pipe;

	open_exit_pipe(&exit_pipe);
	while (count--)
		start_child(burn, ms);
	wait_for_exits(&exit_pipe);
	return 0;
}
