/* SPDX-License-Identifier: MIT */
/* short_children COUNT MS: children one after another, each gone long before anybody looks. */
#include "work.h"

int main(int argc, char **argv)
{
	int count = number(argc, argv, 1, 2000), ms = number(argc, argv, 2, 1);

	while (count--)
		wait_for(start_child(burn, ms));
	return 0;
}
