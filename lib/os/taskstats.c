/* SPDX-License-Identifier: MIT */
/* Subscription to the kernel's exit accounts (taskstats, generic netlink). */
#include "os/taskstats.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/kernel_abi.h"
#include "parse/netlink.h"

#define BUFFER_BYTES (8 << 20) /* some 4,000 accounts; the kernel grants it to CAP_NET_ADMIN */
#define MESSAGE_BYTES 2048     /* longer than any message (Linux 6.18: 876) */
#define MESSAGES_PER_CALL 8    /* of recvmmsg() */
#define CPUS_MAX 1024          /* bytes of the list of CPUs */
#define ANSWER_MS 1000         /* the kernel answers before send() returns */

struct request {
	struct rti_nlmsghdr netlink;
	uint8_t command, version;
	uint16_t reserved;
	uint16_t attribute_len, attribute_type;
	char value[CPUS_MAX];
};

static int send_request(int fd, struct request *request, uint16_t family, const char *value)
{
	size_t len = strlen(value) + 1;

	if (len > sizeof(request->value))
		return -E2BIG;
	memcpy(request->value, value, len);
	request->netlink.nlmsg_type = family;
	request->netlink.nlmsg_flags = RTI_NLM_F_REQUEST | RTI_NLM_F_ACK;
	request->version = 1;
	request->attribute_len = (uint16_t)(4 + len);
	request->netlink.nlmsg_len =
	    (uint32_t)(offsetof(struct request, value) + (len + 3) / 4 * 4);
	return send(fd, request, request->netlink.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* Receive a message of the kernel, which is port 0. Returns its length or -errno. */
static int receive(int fd, char *text)
{
	struct rti_sockaddr_nl from = { 0 };
	socklen_t from_len = sizeof(from);
	struct pollfd answer = { .fd = fd, .events = POLLIN };
	ssize_t n;

	do {
		from_len = sizeof(from);
		if (poll(&answer, 1, ANSWER_MS) == 0)
			return -ETIMEDOUT;
		n = recvfrom(fd, text, MESSAGE_BYTES, 0, (struct sockaddr *)&from, &from_len);
	} while ((n < 0 && errno == EINTR) || (n >= 0 && from.nl_pid != 0));
	return n < 0 ? -errno : (int)n;
}

/* Ask for the number of the family "TASKSTATS". Returns 0 or -errno. */
static int find_family(int fd, uint16_t *family)
{
	struct request request = { .command = RTI_CTRL_CMD_GETFAMILY,
		                   .attribute_type = RTI_CTRL_ATTR_FAMILY_NAME };
	char text[MESSAGE_BYTES];
	int n, err = send_request(fd, &request, RTI_GENL_ID_CTRL, "TASKSTATS");

	if (err < 0)
		return err;
	n = receive(fd, text);
	if (n < 0)
		return n;
	err = rti_parse_genl_family(text, (size_t)n, family);
	/* An error is the only answer. Otherwise an acknowledgement follows. */
	return err < 0 ? err : (n = receive(fd, text)) < 0 ? n : 0;
}

/* Register for these CPUs. Accounts may arrive before the acknowledgement: they are of processes
 * that exited before the caller began. Returns 0 or -errno. */
static int register_cpus(int fd, uint16_t family, const char *cpus)
{
	struct request request = { .command = RTI_TASKSTATS_CMD_GET,
		                   .attribute_type = RTI_TASKSTATS_ATTR_REGISTER_CPUMASK };
	struct rti_task_exit exited;
	char text[MESSAGE_BYTES];
	int n, err = send_request(fd, &request, family, cpus);

	while (err == 0) {
		n = receive(fd, text);
		if (n < 0)
			return n;
		if (rti_parse_taskstats(text, (size_t)n, &exited) == -EBADMSG)
			return rti_parse_netlink_ack(text, (size_t)n);
	}
	return err;
}

static int subscribe(int fd, const char *cpus)
{
	const struct rti_sockaddr_nl any = { .nl_family = AF_NETLINK };
	const int bytes = BUFFER_BYTES;
	uint16_t family = 0;
	int err;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	if (bind(fd, (const struct sockaddr *)&any, sizeof(any)) < 0)
		return -errno;
	err = find_family(fd, &family);
	return err < 0 ? err : register_cpus(fd, family, cpus);
}

int rti_taskstats_open(const char *cpus)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, RTI_NETLINK_GENERIC);
	int err;

	if (fd < 0)
		return -errno;
	err = subscribe(fd, cpus);
	if (err < 0)
		close(fd);
	return err < 0 ? err : fd;
}

int rti_taskstats_drain(int fd, void (*each)(void *arg, const struct rti_task_exit *exited),
                        void *arg)
{
	char text[MESSAGES_PER_CALL][MESSAGE_BYTES];
	struct rti_sockaddr_nl from[MESSAGES_PER_CALL];
	struct iovec parts[MESSAGES_PER_CALL];
	struct mmsghdr messages[MESSAGES_PER_CALL];
	struct rti_task_exit exited;
	int n, err;

	for (;;) {
		for (int i = 0; i < MESSAGES_PER_CALL; i++) {
			parts[i] = (struct iovec){ text[i], MESSAGE_BYTES };
			messages[i] = (struct mmsghdr){ .msg_hdr = { .msg_name = &from[i],
				                                     .msg_namelen = sizeof(from[i]),
				                                     .msg_iov = &parts[i],
				                                     .msg_iovlen = 1 } };
		}
		n = recvmmsg(fd, messages, MESSAGES_PER_CALL, 0, NULL);
		if (n < 0 && errno != EINTR)
			return errno == EAGAIN ? 0 : -errno;
		/* Any process may write to this socket. The kernel is port 0. */
		for (int i = 0; i < n; i++) {
			if (from[i].nl_pid != 0)
				continue;
			err = rti_parse_taskstats(text[i], messages[i].msg_len, &exited);
			if (err == 0)
				each(arg, &exited);
			else if (err == -EOPNOTSUPP)
				return err;
		}
	}
}
