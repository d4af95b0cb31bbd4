/* SPDX-License-Identifier: MIT */
/* daemon BEFORE_MS AFTER_MS IDLE_MS: a daemon that outlives the root. It works before the root
 * exits, works on after that, and is idle for a while before it exits. */
#include "work.h"

#include <unistd.h>

static int before_ms, after_ms;
static struct exit_pipe exit_pipe;

static void run_daemon(int idle_ms)
{
	setsid();
	burn(before_ms);
	close(exit_pipe.fds[1]); /* lets the root exit */
	burn(after_ms);
	sleep_ms(idle_ms);
}

static void start_daemon(int idle_ms)
{
	start_child(run_daemon, idle_ms);
}

int main(int argc, char **argv)
{
	before_ms = get_number(argc, argv, 1, 0);
	after_ms = get_number(argc, argv, 2, 400);
	open_exit_pipe(&exit_pipe);
	wait_for(start_child(start_daemon, get_number(argc, argv, 3, 0)));
	wait_for_exits(&exit_pipe);
	return 0;
}
