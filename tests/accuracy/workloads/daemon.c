/* SPDX-License-Identifier: MIT */
/* daemon BEFORE_MS AFTER_MS IDLE_MS: leaves a daemon, which has worked before the end of the
 * root, works on after it, and then idles for a while before it ends by itself. */
#include "work.h"

#include <unistd.h>

static int before_ms, after_ms;
static struct presence presence;

static void be_daemon(int idle_ms)
{
	setsid();
	burn(before_ms);
	close(presence.fds[1]); /* what the root waits for */
	burn(after_ms);
	nap(idle_ms);
}

static void leave_behind(int idle_ms)
{
	start_child(be_daemon, idle_ms);
}

int main(int argc, char **argv)
{
	before_ms = number(argc, argv, 1, 0);
	after_ms = number(argc, argv, 2, 400);
	presence_open(&presence);
	wait_for(start_child(leave_behind, number(argc, argv, 3, 0)));
	presence_await(&presence);
	return 0;
}
