/* SPDX-License-Identifier: MIT */
/* odd_names MS: process names with spaces, parentheses and newlines, which are in the middle of
 * /proc/PID/stat. */
#include "work.h"

#include <sys/prctl.h>

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"a) R 1 2 3 4", "b (c) d", ") ) )", "e\nf 9", "\n", ""
	};
	int ms = get_number(argc, argv, 1, 100);

	prctl(PR_SET_NAME, ") S 1 1\n1 0 -1");
	for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); i++) {
		prctl(PR_SET_NAME, names[i]); /* of the parent, and the child inherits it */
		wait_for(start_child(burn, ms));
	}
	burn(ms);
	return 0;
}
