/* SPDX-License-Identifier: MIT */
/* short_children COUNT MS: children, one after another, which exit before a sample can
 * see them. */
#include "work.h"

int main(int argc, char **argv)
{
	int count = get_number(argc, argv, 1, 2000), ms = get_number(argc, argv, 2, 1);

	while (count--)
		wait_for(start_child(burn, ms));
	report_usage();
	return 0;
}
