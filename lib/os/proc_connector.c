/* SPDX-License-Identifier: MIT */
/* The kernel's process events (proc connector, netlink): every fork and exit on the machine. */
#include "os/proc_connector.h"

#include <endian.h>
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES (8 << 20) /* some 10,000 events; the kernel gives most of us less */
#define EVENT_BYTES 1024       /* a message costs no more of the buffer (Linux 6.18: 832) */
#define MESSAGE_BYTES 256
#define AT_ACK 28 /* in an answer: one more than in the request */
#define BATCH 32  /* at a time */

/* struct cn_msg ends in an array and cannot be followed by anything. Since Linux 6.6 a listener
 * may say what it wants. */
struct listen_request {
	struct nlmsghdr netlink;
	struct cb_id id;
	uint32_t seq, ack;
	uint16_t len, flags;
	uint32_t operation, wanted;
};

static int request(int fd, uint32_t port, uint16_t data_len, uint32_t wanted)
{
	const struct listen_request listen = {
		.netlink = { .nlmsg_len =
		                 (uint32_t)offsetof(struct listen_request, operation) + data_len,
		             .nlmsg_type = NLMSG_DONE },
		.id = { CN_IDX_PROC, CN_VAL_PROC },
		.ack = port,
		.len = data_len,
		.operation = PROC_CN_MCAST_LISTEN,
		.wanted = wanted,
	};

	return send(fd, &listen, listen.netlink.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* The answer comes before send() returns. Where we are in another namespace there is none; but
 * those to others come to us as well, so ours has the number that no other socket has. */
static int await_answer(int fd, uint32_t port)
{
	char answer[MESSAGE_BYTES];
	uint32_t what, error, ack;
	ssize_t n;

	for (;;) {
		n = recv(fd, answer, sizeof(answer), 0);
		if (n < 0 && (errno == EINTR || errno == ENOBUFS))
			continue;
		if (n < RTI_EVENT_AT_DATA + 4)
			return -EOPNOTSUPP;
		memcpy(&what, answer + RTI_EVENT_AT_WHAT, sizeof(what));
		memcpy(&error, answer + RTI_EVENT_AT_DATA, sizeof(error));
		memcpy(&ack, answer + AT_ACK, sizeof(ack));
		if (what == RTI_EVENT_WHAT_NONE && ack == port + 1)
			return -(int)error;
	}
}

/* Threads come and go far more often than processes: they are kept out of the buffer. A thread
 * is who has another id than its process. */
static int keep_threads_out(int fd, unsigned also)
{
	const uint8_t to_exit = also & RTI_EVENTS_THREAD_EXITS ? 8 : 4;
	struct sock_filter code[] = {
		/* 0 */ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, RTI_EVENT_AT_WHAT),
		/* 1 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htobe32(RTI_EVENT_WHAT_FORK), 1, 0),
		/* 2 */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htobe32(RTI_EVENT_WHAT_EXIT), to_exit, 8),
		/* 3 */ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, RTI_EVENT_AT_DATA + 8), /* of a fork:
		 * ids of the child */
		/* 4 */ BPF_STMT(BPF_MISC | BPF_TAX, 0),
		/* 5 */ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, RTI_EVENT_AT_DATA + 12),
		/* 6 */ BPF_STMT(BPF_JMP | BPF_JA, 3),
		/* 7 */ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, RTI_EVENT_AT_DATA), /* of an exit */
		/* 8 */ BPF_STMT(BPF_MISC | BPF_TAX, 0),
		/* 9 */ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, RTI_EVENT_AT_DATA + 4),
		/* 10 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1),
		/* 11 */ BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		/* 12 */ BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0 ? -errno
	                                                                                   : 0;
}

/* As much as we may have. */
static void enlarge(int fd)
{
	const int bytes = BUFFER_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

/* First all is asked for, since only that is answered, and then less. Kernels that know no less
 * ignore that. */
static int listen_to(int fd, unsigned also)
{
	const struct sockaddr_nl events = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	struct sockaddr_nl own = { 0 };
	socklen_t own_len = sizeof(own);
	uint32_t wanted = RTI_EVENT_WHAT_FORK | RTI_EVENT_WHAT_EXEC | RTI_EVENT_WHAT_EXIT;
	int err;

	if (also & RTI_EVENTS_NAMES)
		wanted |= RTI_EVENT_WHAT_COMM;
	/* before anything comes, for what does not fit by then would look like a loss */
	enlarge(fd);
	err = keep_threads_out(fd, also);
	if (err == 0 && (bind(fd, (const struct sockaddr *)&events, sizeof(events)) < 0 ||
	                 getsockname(fd, (struct sockaddr *)&own, &own_len) < 0))
		err = -errno;
	if (err == 0)
		err = request(fd, own.nl_pid, sizeof(uint32_t), 0);
	if (err == 0)
		err = await_answer(fd, own.nl_pid);
	if (err == 0)
		err = request(fd, own.nl_pid, 2 * sizeof(uint32_t), wanted);
	return err;
}

int rti_events_open(unsigned also)
{
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
	int err;

	if (fd < 0)
		return -errno;
	err = listen_to(fd, also);
	if (err < 0)
		close(fd);
	return err < 0 ? err : fd;
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
	char text[BATCH][MESSAGE_BYTES];
	struct sockaddr_nl from[BATCH];
	struct iovec parts[BATCH];
	struct mmsghdr messages[BATCH];
	struct rti_process_event event;
	int result = 0, n;

	for (;;) {
		for (int i = 0; i < BATCH; i++) {
			parts[i] = (struct iovec){ text[i], MESSAGE_BYTES };
			messages[i] = (struct mmsghdr){ .msg_hdr = { .msg_name = &from[i],
				                                     .msg_namelen = sizeof(from[i]),
				                                     .msg_iov = &parts[i],
				                                     .msg_iovlen = 1 } };
		}
		n = recvmmsg(fd, messages, BATCH, 0, NULL);
		if (n < 0 && errno == ENOBUFS)
			result = -ENOBUFS;
		else if (n < 0 && errno != EINTR)
			return errno == EAGAIN ? result : -errno;
		/* Anybody may write to us; the kernel is port 0. */
		for (int i = 0; i < n; i++) {
			if (from[i].nl_pid == 0 &&
			    rti_parse_process_event(text[i], messages[i].msg_len, &event) == 0 &&
			    event.kind != RTI_EVENT_OTHER)
				each(arg, &event);
		}
	}
}
