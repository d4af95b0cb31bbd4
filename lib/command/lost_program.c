/* SPDX-License-Identifier: MIT */
/* The end of a program that has lost its supervisor. */
#include "command/lost_program.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>

#include "collect/pid_stat.h"
#include "os/pid_file.h"
#include "os/process/pidfd.h"

/* How long the new parent of a program may take to reap it. */
#define ADOPTION_NS 1000000000
#define ADOPTION_LOOK_NS 1000000

/* Its stat shows how a zombie ended. A reader without permission sees 0 there, and no io at all. So
 * 0 is believed if io can be read. In the end the process must still be there: its pid may have
 * been reused. */
static int read_zombie_status(const struct rt_command *c, int *status)
{
	const struct rti_context *ctx = &c->tracker->ctx;
	struct rti_pid_stat stat;
	int err = rti_pid_file_read(ctx, c->pid, "stat", NULL);
	int code = 0;

	if (err == 0)
		err = rti_parse_pid_stat(ctx->buf->data, ctx->buf->len, &stat);
	if (err == 0)
		err = rti_parse_pid_stat_exit_code(ctx->buf->data, ctx->buf->len, &code);
	if (err < 0 || !rti_pid_stat_is_zombie(&stat) || c->pidfd < 0 ||
	    (code == 0 && rti_pid_file_read(ctx, c->pid, "io", NULL) < 0) ||
	    rti_pidfd_signal(c->pidfd, c->pid, 0) < 0)
		return -ECHILD;
	*status = code;
	return 0;
}

/* The caller is the new parent if it is a subreaper, or process 1 of a container. Then it alone can
 * reap the program, and until then no other process has its pid. */
static int reap(const struct rt_command *c, int *status)
{
	int err = rti_pidfd_reap(c->pidfd, status);

	if (err != -EOPNOTSUPP || rti_pidfd_signal(c->pidfd, c->pid, 0) < 0)
		return err;
	return waitpid(c->pid, status, WNOHANG) == c->pid ? 0 : -ECHILD;
}

int rti_lost_program_wait(const struct rt_command *c, int *status)
{
	const struct timespec nap = { .tv_nsec = ADOPTION_LOOK_NS };

	if (c->pidfd < 0) /* another process may have its pid */
		return -ECHILD;
	for (int64_t waited_ns = 0; waited_ns < ADOPTION_NS; waited_ns += ADOPTION_LOOK_NS) {
		int err;

		if (reap(c, status) == 0 || read_zombie_status(c, status) == 0)
			return 0;
		err = rti_pidfd_exit_status(c->pidfd, status);
		if (err == 0)
			return 0;
		/* Where the kernel does not keep the exit code, the program is still there until it
		 * is reaped. */
		if (err != -EAGAIN && rti_pidfd_signal(c->pidfd, c->pid, 0) == -ESRCH)
			return -ECHILD;
		nanosleep(&nap, NULL);
	}
	return -ECHILD;
}
