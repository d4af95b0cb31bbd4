/* SPDX-License-Identifier: MIT */
/* The library's side of a tracer: starts it, receives its reports, and looks whether it lives. */
#include "trace/tracer_client.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "os/platform.h"
#include "os/process/helper.h"
#include "os/process/pidfd.h"
#include "os/process/reap_later.h"
#include "os/process/spawn.h"
#include "os/protocol/shared_memory.h"

#define END_MAX_NS 200000000 /* of a tracer that has nothing left to do */
#define NULL_FD (-2)         /* rt_fd.source */

/* Without a pidfd the tracer could not be reaped later: another child of the host may have its pid
 * then. So it is ended at once if there is no descriptor left. It traces nothing yet. Where there
 * are no pidfds at all, it is reaped only if it ends before the handle: see reap(). */
static int open_pidfd(struct rti_tracer *tracer)
{
	int error;

	tracer->pidfd = rti_pidfd_open(tracer->pid);
	error = errno;
	if (tracer->pidfd >= 0 || (error != EMFILE && error != ENFILE && error != ENOMEM))
		return 0;
	rti_spawn_undo(tracer->pid, -1);
	tracer->pid = 0;
	return -error;
}

/* The tracer gets no descriptor of the host, and nothing of its environment: e.g. LD_PRELOAD. */
static int spawn(struct rti_tracer *tracer, const int sources[4])
{
	static const char *const no_env[] = { NULL };
	const char *argv[] = { NULL, RTI_TRACER_TRACE, NULL };
	const struct rt_fd fds[] = {
		{ .target = 0, .source = NULL_FD },
		{ .target = 1, .source = NULL_FD },
		{ .target = 2, .source = NULL_FD },
		{ .target = RTI_TRACER_LIBRARY_FD, .source = sources[0] },
		{ .target = RTI_TRACER_STARTER_FD, .source = sources[1] },
		{ .target = RTI_TRACER_MEMORY_FD, .source = sources[2] },
		{ .target = RTI_TRACER_EVENT_FD, .source = sources[3] },
	};
	const struct rti_spawn opts = { .envp = no_env,
		                        .stdout_fd = -1,
		                        .fds = fds,
		                        .fd_count = sizeof(fds) / sizeof(fds[0]),
		                        .has_only_fds = true,
		                        .has_new_session = true };
	int err = rti_helper_spawn(RTI_TRACER_NAME, &opts, argv, &tracer->file, &tracer->pid);

	if (err < 0)
		return rti_helper_is_missing(err) ? -ENOPKG : err;
	return open_pidfd(tracer);
}

static int open_pair(int pair[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ? -errno : 0;
}

static int make_ring(struct rti_tracer *tracer, const struct rti_trace_request *request,
                     int *memory_fd)
{
	void *memory;
	int err;

	tracer->ring_bytes = RTI_TRACE_RING_HEAD_BYTES + request->ring.bytes;
	err = rti_shared_memory_new(tracer->ring_bytes, &memory, memory_fd);
	if (err < 0)
		return err;
	tracer->ring = memory;
	if (!rti_trace_end_init(&tracer->reader, memory, tracer->ring_bytes))
		return -EINVAL;
	atomic_store(&tracer->ring->is_asleep, 1);
	tracer->ring->calls = request->calls;
	tracer->ring->has_children = request->has_children;
	tracer->ring->wakes_for_children = request->wakes_for_children;
	return 0;
}

static int open_pairs_and_spawn(struct rti_tracer *tracer, int memory_fd)
{
	int library[2], starter[2], err;

	tracer->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (tracer->event < 0)
		return -errno;
	err = open_pair(library);
	if (err < 0)
		return err;
	tracer->socket = library[0];
	err = open_pair(starter);
	if (err == 0) {
		tracer->starter_socket = starter[0];
		err = spawn(tracer,
		            (const int[]){ library[1], starter[1], memory_fd, tracer->event });
		close(starter[1]);
	}
	close(library[1]);
	return err;
}

int rti_tracer_start(struct rti_tracer *tracer, const struct rti_trace_request *request)
{
	struct rti_tracer_report ready;
	int memory_fd, err;

	*tracer = (struct rti_tracer)RTI_TRACER_INIT;
	rti_platform_init(&tracer->platform, false);
	rti_reap_later_look();
	err = make_ring(tracer, request, &memory_fd);
	if (err == 0)
		err = open_pairs_and_spawn(tracer, memory_fd);
	if (memory_fd >= 0)
		close(memory_fd);
	if (err < 0)
		return err;
	tracer->wait = (struct rti_helper_wait){ .pid = tracer->pid, .pidfd = tracer->pidfd };
	/* Nothing was started before it is ready. */
	err = rti_tracer_receive(
	    tracer, tracer->platform.monotonic_ns() + tracer->platform.waits.begin_ns, &ready);
	return err == -EBUSY ? -ETIMEDOUT : err;
}

void rti_tracer_release_starter(struct rti_tracer *tracer)
{
	if (tracer->starter_socket >= 0)
		close(tracer->starter_socket);
	tracer->starter_socket = -1;
	if (tracer->file.dir >= 0)
		close(tracer->file.dir);
	tracer->file.dir = -1;
}

int rti_tracer_receive(struct rti_tracer *tracer, uint64_t end_ns, struct rti_tracer_report *out)
{
	ssize_t n;

	tracer->wait.platform = &tracer->platform;
	tracer->wait.end_ns = end_ns;
	while ((n = recv(tracer->socket, out, sizeof(*out), MSG_DONTWAIT)) < 0 &&
	       (errno == EINTR || errno == EAGAIN)) {
		int err = rti_helper_await(&tracer->wait, tracer->socket);

		if (err == -ECHILD)
			return err;
		if (err < 0) {
			rti_pidfd_signal(tracer->pidfd, tracer->pid, SIGKILL);
			return err;
		}
	}
	if (n != sizeof(*out))
		return -ECHILD;
	if (out->step == RTI_TRACER_STARTED)
		tracer->has_program = true;
	return 0;
}

bool rti_tracer_is_gone(const struct rti_tracer *tracer)
{
	struct rti_tracer_report report;

	return recv(tracer->socket, &report, sizeof(report), MSG_DONTWAIT) == 0;
}

int rti_tracer_look(struct rti_tracer *tracer)
{
	tracer->wait.platform = &tracer->platform;
	/* Its end shows in the socket. */
	if (rti_helper_look(&tracer->wait) != -EBUSY)
		return 0;
	rti_pidfd_signal(tracer->pidfd, tracer->pid, SIGKILL);
	return -ETIMEDOUT;
}

/* It ends at once if it has nothing to trace, and else with the program. */
static void reap(struct rti_tracer *tracer)
{
	bool is_ending = !tracer->has_program || atomic_load(&tracer->ring->is_over) ||
	                 rti_tracer_is_gone(tracer);

	rti_tracer_release_starter(tracer);
	if (tracer->pidfd < 0) {
		/* Some seccomp filters of containers refuse pidfd_open(2). */
		if (is_ending && tracer->pid > 0)
			rti_spawn_undo(tracer->pid, -1);
		return;
	}
	rti_tracer_look(tracer);
	if (is_ending)
		rti_pidfd_wait(tracer->pidfd, -1, END_MAX_NS);
	rti_reap_later_take(tracer->pidfd);
	tracer->pidfd = -1;
}

void rti_tracer_close(struct rti_tracer *tracer, bool is_owner)
{
	if (tracer->ring && is_owner) {
		atomic_store(&tracer->ring->is_closed, 1);
		reap(tracer);
	}
	rti_tracer_release_starter(tracer);
	if (tracer->ring)
		munmap(tracer->ring, tracer->ring_bytes);
	if (tracer->socket >= 0)
		close(tracer->socket);
	if (tracer->event >= 0)
		close(tracer->event);
	rti_pidfd_close(tracer->pidfd);
	*tracer = (struct rti_tracer)RTI_TRACER_INIT;
}
