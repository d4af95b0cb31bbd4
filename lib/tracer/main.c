/* SPDX-License-Identifier: MIT */
/* The tracer: traces one program and its descendants by ptrace(2) for the library.
 *
 * It is a process of its own, since the stops of traced threads reach every thread of a tracer that
 * waits for children. The same file is the starter, which becomes the program: see tracer/start.c.
 *
 * The calls of a program with the filter fail if there is no tracer. So the tracer stays until the
 * last traced process has ended, even if the library is gone, and if it is killed, the kernel kills
 * what it traces (PTRACE_O_EXITKILL). */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "os/protocol/shared_memory.h"
#include "os/protocol/trace_ring.h"
#include "os/protocol/tracer_protocol.h"
#include "tracer/identity.h"
#include "tracer/loop.h"
#include "tracer/start.h"

#define OPTIONS                                                                                    \
	(PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |    \
	 PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP)

/* Map the ring, which the library has mapped already: no other process shall. Returns false if it
 * is not there: the tracer was started by hand. */
static bool map_ring(struct rti_trace_end *writer)
{
	struct stat file;
	void *memory;

	if (fstat(RTI_TRACER_MEMORY_FD, &file) < 0)
		return false;
	memory = mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED,
	              RTI_TRACER_MEMORY_FD, 0);
	rti_shared_memory_protect(RTI_TRACER_MEMORY_FD);
	close(RTI_TRACER_MEMORY_FD);
	return memory != MAP_FAILED && rti_trace_end_init(writer, memory, (size_t)file.st_size);
}

/* Wait for the starter. Returns its pid in our own pid namespace, or 0 if it will not come. */
static int32_t meet_starter(int socket)
{
	struct rti_starter_message message;
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} control;
	struct iovec data = { .iov_base = &message, .iov_len = sizeof(message) };
	struct msghdr header = { .msg_iov = &data,
		                 .msg_iovlen = 1,
		                 .msg_control = &control,
		                 .msg_controllen = sizeof(control) };
	struct ucred sender;
	struct cmsghdr *part;

	if (recvmsg(socket, &header, MSG_CMSG_CLOEXEC) != sizeof(message))
		return 0;
	part = CMSG_FIRSTHDR(&header);
	if (!part || part->cmsg_type != SCM_CREDENTIALS)
		return 0;
	memcpy(&sender, CMSG_DATA(part), sizeof(sender));
	return sender.pid;
}

/* Returns true if the starter gets the answer, or is gone. */
static bool answer(const struct rtt_loop *loop, int error)
{
	const struct rti_starter_message message = { .step = RTI_TRACER_SEIZED,
		                                     .error = error,
		                                     .calls = loop->ring->calls };

	return send(loop->starter, &message, sizeof(message), MSG_NOSIGNAL) == sizeof(message) ||
	       errno == EPIPE;
}

static int trace(void)
{
	struct rti_trace_end writer = { 0 };
	struct rtt_loop loop = { .writer = &writer,
		                 .library = RTI_TRACER_LIBRARY_FD,
		                 .starter = RTI_TRACER_STARTER_FD,
		                 .event = RTI_TRACER_EVENT_FD };
	int error, on = 1;

	if (!map_ring(&writer) ||
	    setsockopt(loop.starter, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return 2;
	loop.ring = writer.ring;
	rtt_identity_begin();
	/* The library waits for this one. */
	if (!rtt_loop_report(&loop, RTI_TRACER_READY, 0, getpid()))
		return 2;
	loop.program = meet_starter(loop.starter);
	error = loop.program ? 0 : ESRCH;
	if (!error && ptrace(PTRACE_SEIZE, loop.program, 0L, (long)OPTIONS) < 0)
		error = errno;
	if (!error) {
		/* A starter without an answer would wait for ever. It ends with the tracer. */
		if (!answer(&loop, 0))
			return 2;
		rtt_loop_run(&loop);
		return 0;
	}
	atomic_store(&loop.ring->is_over, 1);
	rtt_loop_report(&loop, loop.program ? RTI_TRACER_SEIZED : RTI_TRACER_SILENT, error,
	                loop.program ? rtt_identity_tracer_of(loop.program) : 0);
	answer(&loop, error);
	return 0;
}

int main(int argc, char **argv)
{
	sigset_t all;

	if (argc >= 2 && strcmp(argv[1], RTI_TRACER_START) == 0)
		return rtt_start(argc, argv);
	if (argc != 2 || strcmp(argv[1], RTI_TRACER_TRACE) != 0)
		return 2;
	/* It has a session of its own: what is sent to the host's process group or typed at its
	 * terminal is not for the tracer. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	(void)!chdir("/"); /* nothing depends on it */
	return trace();
}
