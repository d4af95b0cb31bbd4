/* SPDX-License-Identifier: MIT */
/* unreaped COUNT MS: children that end while their parent lives, which exits without having
 * waited for them. */
#include "work.h"

int main(int argc, char **argv)
{
	int count = number(argc, argv, 1, 20), ms = number(argc, argv, 2, 20);
	struct presence presence;

	presence_open(&presence);
	while (count--)
		start_child(burn, ms);
	presence_await(&presence);
	return 0;
}
