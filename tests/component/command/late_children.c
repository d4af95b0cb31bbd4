/* SPDX-License-Identifier: MIT */
#include "late_children.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/process/reap_later.h"

#define LOOKS 20000
#define PAUSE_US 500

bool late_children_end(void)
{
	siginfo_t info;

	for (int i = 0; i < LOOKS; i++) {
		rti_reap_later_look();
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
			return errno == ECHILD;
		usleep(PAUSE_US);
	}
	return false;
}
