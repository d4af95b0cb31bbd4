/* SPDX-License-Identifier: MIT */
/* orphans COUNT MS: children whose parent is gone at once, so that the tree never waits for
 * them. */
#include "work.h"

static void leave_behind(int ms)
{
	start_child(burn, ms);
}

int main(int argc, char **argv)
{
	int count = number(argc, argv, 1, 50), ms = number(argc, argv, 2, 20);
	struct presence presence;

	presence_open(&presence);
	while (count--) {
		wait_for(start_child(leave_behind, ms));
		nap(ms / 2); /* some live at the same time, not all */
	}
	presence_await(&presence);
	return 0;
}
