/* SPDX-License-Identifier: MIT */
/* Subscription to the kernel's process events (proc connector, netlink). */
#include "os/proc_connector.h"

#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/kernel_abi.h"
#include "os/platform.h"
#include "parse/netlink.h"

/* What SO_RCVBUF is set to: the kernel doubles it, and grants most users less. Some 20,000 events,
 * and 1,250. */
#define BUFFER_BYTES (8 << 20)
#define SMALL_BUFFER_BYTES (1 << 19)
#define EVENT_BYTES 1024     /* the most that a message takes of it (Linux 6.18: 832) */
#define MESSAGE_BYTES 128    /* longer than any message (Linux 6.18: 76) */
#define ACK_OFFSET 28        /* of cn_msg.ack; an answer has one more than the request */
#define MESSAGES_PER_CALL 16 /* of recvmmsg(); they lie on the stack of the host's thread */
#define DRAINED_MAX (4 * BUFFER_BYTES / EVENT_BYTES) /* in one call: the buffer, twice */
#define FAILURES_MAX 16 /* in one call here; a filter of system calls may fail each */

/* struct cn_msg with its data. It is spelled out here because it ends in a flexible array, which no
 * member may follow. Since Linux 6.6 a subscriber may choose its events. */
struct subscribe_request {
	struct rti_nlmsghdr netlink;
	struct rti_cb_id id;
	uint32_t seq, ack;
	uint16_t len, flags;
	uint32_t operation, events;
};

/* Ask the kernel for events. data_len covers operation, and events if those are to be chosen.
 * Returns 0 or -errno. */
static int send_request(int fd, uint32_t port, uint16_t data_len, uint32_t events)
{
	const struct subscribe_request request = {
		.netlink = { .nlmsg_len =
		                 (uint32_t)offsetof(struct subscribe_request, operation) + data_len,
		             .nlmsg_type = RTI_NLMSG_DONE },
		.id = { RTI_CN_IDX_PROC, RTI_CN_VAL_PROC },
		.ack = port,
		.len = data_len,
		.operation = RTI_PROC_CN_MCAST_LISTEN,
		.events = events,
	};

	return send(fd, &request, request.netlink.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* Read the answer to a request, which has arrived before send() returns. In other namespaces there
 * is none. Answers to other sockets arrive here too, so compare the ack number: this socket's
 * request had its port there, which no other socket has. *kernel_ns is when it was sent. Returns 0
 * or -errno. */
static int read_answer(int fd, uint32_t port, uint64_t *kernel_ns)
{
	char answer[MESSAGE_BYTES];
	uint32_t what, error, ack;
	ssize_t n;

	for (int failures = 0;;) {
		n = recv(fd, answer, sizeof(answer), 0);
		if (n < 0 && (errno == EINTR || errno == ENOBUFS) && ++failures < FAILURES_MAX)
			continue;
		if (n < RTI_EVENT_AT_DATA + 4)
			return -EOPNOTSUPP;
		memcpy(&what, answer + RTI_EVENT_AT_WHAT, sizeof(what));
		memcpy(&error, answer + RTI_EVENT_AT_DATA, sizeof(error));
		memcpy(&ack, answer + ACK_OFFSET, sizeof(ack));
		memcpy(kernel_ns, answer + RTI_EVENT_AT_TIME, sizeof(*kernel_ns));
		if (what == RTI_EVENT_WHAT_NONE && ack == port + 1)
			return -(int)error;
	}
}

static int set_filter(int fd, const struct rti_sock_fprog *program)
{
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, program, sizeof(*program)) < 0 ? -errno
	                                                                                   : 0;
}

/* Drop the events of threads before they take up the buffer: threads start and exit far more often
 * than processes. An event is of a thread if its tid differs from its pid. Returns 0 or -errno. */
static int attach_filter(int fd, unsigned also)
{
	/* Accept every exit, or go on to compare its ids. */
	const uint8_t to_exit = also & RTI_EVENTS_THREAD_EXITS ? 8 : 4;
	struct rti_sock_filter code[] = {
		/* 0 */ { RTI_BPF_LOAD, 0, 0, RTI_EVENT_AT_WHAT },
		/* 1 */ { RTI_BPF_IF_EQUAL, 1, 0, htobe32(RTI_EVENT_WHAT_FORK) },
		/* 2 */
		{ RTI_BPF_IF_EQUAL, to_exit, 8, htobe32(RTI_EVENT_WHAT_EXIT) },
		/* A fork: compare the ids of the child. */
		/* 3 */ { RTI_BPF_LOAD, 0, 0, RTI_EVENT_AT_DATA + 8 },
		/* 4 */ { RTI_BPF_TO_INDEX, 0, 0, 0 },
		/* 5 */ { RTI_BPF_LOAD, 0, 0, RTI_EVENT_AT_DATA + 12 },
		/* 6 */ { RTI_BPF_JUMP, 0, 0, 3 },
		/* An exit: compare the ids of the thread that exits. */
		/* 7 */ { RTI_BPF_LOAD, 0, 0, RTI_EVENT_AT_DATA },
		/* 8 */ { RTI_BPF_TO_INDEX, 0, 0, 0 },
		/* 9 */ { RTI_BPF_LOAD, 0, 0, RTI_EVENT_AT_DATA + 4 },
		/* 10 */ { RTI_BPF_IF_EQUAL_X, 0, 1, 0 },
		/* 11 */ { RTI_BPF_RETURN, 0, 0, UINT32_MAX },
		/* 12 */ { RTI_BPF_RETURN, 0, 0, 0 },
	};
	const struct rti_sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return set_filter(fd, &program);
}

/* Accept the starts of threads, and the answer to the request. Returns 0 or -errno. */
static int attach_thread_filter(int fd, unsigned also)
{
	(void)also;
	struct rti_sock_filter code[] = {
		/* 0 */ { RTI_BPF_LOAD, 0, 0, RTI_EVENT_AT_WHAT },
		/* 1 */ { RTI_BPF_IF_EQUAL, 5, 0, htobe32(RTI_EVENT_WHAT_NONE) },
		/* 2 */ { RTI_BPF_IF_EQUAL, 0, 5, htobe32(RTI_EVENT_WHAT_FORK) },
		/* 3 */ { RTI_BPF_LOAD, 0, 0, RTI_EVENT_AT_DATA + 8 },
		/* 4 */ { RTI_BPF_TO_INDEX, 0, 0, 0 },
		/* 5 */ { RTI_BPF_LOAD, 0, 0, RTI_EVENT_AT_DATA + 12 },
		/* 6 */ { RTI_BPF_IF_EQUAL_X, 1, 0, 0 },
		/* 7 */ { RTI_BPF_RETURN, 0, 0, UINT32_MAX },
		/* 8 */ { RTI_BPF_RETURN, 0, 0, 0 },
	};
	const struct rti_sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return set_filter(fd, &program);
}

/* Send a request, and read the answer. The kernel puts the time of its own clock into the answer:
 * if that is not between the two readings of the caller's clock, the caller is in a time namespace.
 * Returns 0 or -errno. */
static int request_all(int fd, uint32_t port, int64_t *ahead_ns)
{
	uint64_t before_ns = rti_monotonic_ns(), kernel_ns = 0, after_ns;
	int err = send_request(fd, port, sizeof(uint32_t), 0);

	if (err == 0)
		err = read_answer(fd, port, &kernel_ns);
	if (err < 0)
		return err;
	after_ns = rti_monotonic_ns();
	*ahead_ns = 0;
	if (kernel_ns < before_ns || kernel_ns > after_ns)
		*ahead_ns = (int64_t)(before_ns + (after_ns - before_ns) / 2 - kernel_ns);
	return 0;
}

/* Subscribe to all events first, since the kernel only answers that request, and then to fewer.
 * Kernels that cannot restrict the events ignore the second request. Returns 0 or -errno. */
static int subscribe(int fd, int (*attach)(int fd, unsigned also), unsigned also, uint32_t events,
                     int64_t *ahead_ns)
{
	const struct rti_sockaddr_nl group = { .nl_family = AF_NETLINK,
		                               .nl_groups = RTI_CN_IDX_PROC };
	const int bytes = also & RTI_EVENTS_CHEAP ? SMALL_BUFFER_BYTES : BUFFER_BYTES;
	struct rti_sockaddr_nl self = { 0 };
	socklen_t self_len = sizeof(self);
	int err;

	/* Make the buffer as large as the kernel allows, before the first event arrives: one that
	 * does not fit would look like a loss. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	err = also & RTI_EVENTS_UNFILTERED ? 0 : attach(fd, also);
	if (err == 0 && (bind(fd, (const struct sockaddr *)&group, sizeof(group)) < 0 ||
	                 getsockname(fd, (struct sockaddr *)&self, &self_len) < 0))
		err = -errno;
	if (err == 0)
		err = request_all(fd, self.nl_pid, ahead_ns);
	if (err == 0)
		err = send_request(fd, self.nl_pid, 2 * sizeof(uint32_t), events);
	return err;
}

static int open_events(int (*attach)(int fd, unsigned also), unsigned also, uint32_t events,
                       int64_t *ahead_ns)
{
	int fd =
	    socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, RTI_NETLINK_CONNECTOR);
	int err;

	if (fd < 0)
		return -errno;
	err = subscribe(fd, attach, also, events, ahead_ns);
	if (err < 0)
		close(fd);
	return err < 0 ? err : fd;
}

int rti_events_open(unsigned also, int64_t *ahead_ns)
{
	int64_t unused_ns;
	uint32_t events = RTI_EVENT_WHAT_FORK | RTI_EVENT_WHAT_EXIT;

	if (!(also & RTI_EVENTS_CHEAP))
		events |= RTI_EVENT_WHAT_EXEC;

	if (also & RTI_EVENTS_NAMES)
		events |= RTI_EVENT_WHAT_COMM;
	if (also & RTI_EVENTS_TRACERS)
		events |= RTI_EVENT_WHAT_TRACE;
	return open_events(attach_filter, also, events, ahead_ns ? ahead_ns : &unused_ns);
}

int rti_events_open_threads(unsigned also)
{
	int64_t unused_ns;

	return open_events(attach_thread_filter, also, RTI_EVENT_WHAT_FORK, &unused_ns);
}

void rti_events_filter(int fd, unsigned also)
{
	if (fd >= 0)
		attach_filter(fd, also);
}

void rti_events_filter_threads(int fd)
{
	if (fd >= 0)
		attach_thread_filter(fd, 0);
}

void rti_events_close(int fd)
{
	close(fd);
}

uint32_t rti_events_capacity(int fd)
{
	socklen_t len = sizeof(int);
	int bytes = 0;

	getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &len);
	return (uint32_t)bytes / EVENT_BYTES;
}

int rti_events_drain(int fd, void (*each)(void *arg, const struct rti_process_event *event),
                     void *arg)
{
	char text[MESSAGES_PER_CALL][MESSAGE_BYTES];
	struct rti_sockaddr_nl from[MESSAGES_PER_CALL];
	struct iovec parts[MESSAGES_PER_CALL];
	struct mmsghdr messages[MESSAGES_PER_CALL];
	struct rti_process_event event;
	int result = 0, failures = 0, drained = 0, n;

	while (failures < FAILURES_MAX && drained < DRAINED_MAX) {
		for (int i = 0; i < MESSAGES_PER_CALL; i++) {
			parts[i] = (struct iovec){ text[i], MESSAGE_BYTES };
			messages[i] = (struct mmsghdr){ .msg_hdr = { .msg_name = &from[i],
				                                     .msg_namelen = sizeof(from[i]),
				                                     .msg_iov = &parts[i],
				                                     .msg_iovlen = 1 } };
		}
		n = recvmmsg(fd, messages, MESSAGES_PER_CALL, 0, NULL);
		if (n < 0 && errno != ENOBUFS && errno != EINTR)
			return errno == EAGAIN ? result : -errno;
		if (n < 0 && errno == ENOBUFS)
			result = -ENOBUFS;
		failures += n < 0;
		drained += n > 0 ? n : 0;
		/* Any process may write to this socket. The kernel is port 0. */
		for (int i = 0; i < n; i++) {
			if (from[i].nl_pid == 0 &&
			    rti_parse_process_event(text[i], messages[i].msg_len, &event) == 0 &&
			    event.kind != RTI_EVENT_OTHER)
				each(arg, &event);
		}
	}
	return failures < FAILURES_MAX ? result : -ENOBUFS;
}
