/* SPDX-License-Identifier: MIT */
/* The network interfaces of a network namespace, and whether they have changed: rtnetlink(7). */
#include "os/links.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/kernel_abi.h"
#include "util/visit.h"

#define SEQ 1              /* of a request; changes have 0 */
#define ANSWER_BYTES 32768 /* the most that the kernel sends at once: net/netlink/af_netlink.c */
#define ANSWERS_MAX 65536  /* of one list: a bound on a kernel that never ends it */
#define CHANGES_MAX 4096   /* that one call takes in: more than fit in the socket */
#define CHANGE_BYTES 4096  /* longer than any change (Linux 6.18: 1,500) */

struct request {
	struct rti_nlmsghdr netlink;
	uint8_t family, padding;
	uint16_t type;
	uint32_t index, flags, change;
};

int rti_links_open(void)
{
	const struct rti_sockaddr_nl group = { .nl_family = AF_NETLINK,
		                               .nl_groups = RTI_RTMGRP_LINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, RTI_NETLINK_ROUTE);
	int err;

	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&group, sizeof(group)) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

void rti_links_close(int fd)
{
	close(fd);
}

/* A change that finds no room in the socket leaves the error ENOBUFS, once. Privileged processes
 * may write to the socket, too, which is a change for nothing. */
enum rti_link_changes
rti_links_take_changes(int fd, void (*gone)(void *arg, const struct rti_link *link), void *arg)
{
	char text[CHANGE_BYTES];
	bool is_lost = false;

	for (int changes = 0; changes < CHANGES_MAX; changes++) {
		ssize_t n = recv(fd, text, sizeof(text), 0);
		struct rti_link link;

		if (n < 0 && errno == EAGAIN)
			return is_lost   ? RTI_LINKS_UNKNOWN
			       : changes ? RTI_LINKS_CHANGED
			                 : RTI_LINKS_SAME;
		is_lost |= n < 0 && errno != EINTR;
		if (n > 0 && rti_parse_link_gone(text, (size_t)n, &link))
			gone(arg, &link);
	}
	return RTI_LINKS_UNKNOWN;
}

/* Receive a part of the answer. The kernel writes the next one while this is received. Returns what
 * rti_parse_links() returns. */
static int receive(int fd, char *text, int (*each)(void *arg, const struct rti_link *link),
                   void *arg)
{
	struct rti_sockaddr_nl from = { 0 };
	socklen_t from_len = sizeof(from);
	ssize_t n =
	    recvfrom(fd, text, ANSWER_BYTES, MSG_TRUNC, (struct sockaddr *)&from, &from_len);

	if (n < 0)
		return errno == EINTR ? RTI_CONTINUE : errno == EAGAIN ? -ETIMEDOUT : -errno;
	/* Privileged processes may write to this socket. The kernel is port 0. */
	if (from.nl_pid != 0)
		return RTI_CONTINUE;
	return n > ANSWER_BYTES ? -EMSGSIZE : rti_parse_links(text, (size_t)n, SEQ, each, arg);
}

int rti_links_list(int fd, int (*each)(void *arg, const struct rti_link *link), void *arg)
{
	const struct request request = {
		.netlink = { .nlmsg_len = sizeof(request),
		             .nlmsg_type = RTI_RTM_GETLINK,
		             .nlmsg_flags = RTI_NLM_F_REQUEST | RTI_NLM_F_DUMP,
		             .nlmsg_seq = SEQ },
	};
	char *text = malloc(ANSWER_BYTES);
	int result = RTI_CONTINUE;

	if (!text)
		return -ENOMEM;
	if (send(fd, &request, sizeof(request), 0) < 0)
		result = -errno;
	for (int answers = 0; result == RTI_CONTINUE; answers++)
		result = answers < ANSWERS_MAX ? receive(fd, text, each, arg) : -EOVERFLOW;
	free(text);
	return result == RTI_STOP ? 0 : result;
}
