/* SPDX-License-Identifier: MIT */
/* The kernel's list of network interfaces: of this machine, in a network namespace of our own, and
 * as a kernel might answer that is not to be trusted. */
#include "os/links.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"
#include "util/visit.h"

#define SEQ 1

/* What the next calls of recv() and recvfrom() give, in order. Then the socket is empty. */
struct answer {
	int error; /* -errno; 0: text */
	uint32_t port;
	size_t len; /* as the kernel says it */
	const void *text;
};

static struct {
	const struct answer *answer; /* NULL: the kernel is asked */
	size_t count, repeats;       /* repeats: of the last one */
	unsigned receives, sends;
	int send_error, bind_error;
} script;

ssize_t __real_send(int fd, const void *text, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *text, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *text, size_t len, int flags)
{
	script.sends++;
	errno = -script.send_error;
	if (script.send_error < 0)
		return -1;
	return script.answer ? (ssize_t)len : __real_send(fd, text, len, flags);
}

int __real_bind(int fd, const struct sockaddr *address, socklen_t len);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t len);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t len)
{
	errno = -script.bind_error;
	return script.bind_error < 0 ? -1 : __real_bind(fd, address, len);
}

static ssize_t give(void *text, size_t size, struct sockaddr_nl *from)
{
	const struct answer *next = script.answer;

	script.receives++;
	errno = script.count ? -next->error : EAGAIN;
	if (script.count == 0 || next->error < 0) {
		script.answer += script.count > 0;
		script.count -= script.count > 0;
		return -1;
	}
	if (script.count > 1 || script.repeats-- == 0) {
		script.answer++;
		script.count--;
	}
	if (from)
		from->nl_pid = next->port;
	if (next->len <= size)
		memcpy(text, next->text, next->len);
	return (ssize_t)next->len;
}

ssize_t __real_recv(int fd, void *text, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *text, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *text, size_t size, int flags)
{
	return script.answer ? give(text, size, NULL) : __real_recv(fd, text, size, flags);
}

ssize_t __real_recvfrom(int fd, void *text, size_t size, int flags, struct sockaddr *from,
                        socklen_t *from_len);
ssize_t __wrap_recvfrom(int fd, void *text, size_t size, int flags, struct sockaddr *from,
                        socklen_t *from_len);
ssize_t __wrap_recvfrom(int fd, void *text, size_t size, int flags, struct sockaddr *from,
                        socklen_t *from_len)
{
	if (script.answer)
		return give(text, size, (struct sockaddr_nl *)(void *)from);
	return __real_recvfrom(fd, text, size, flags, from, from_len);
}

struct seen {
	struct rti_link link[64];
	size_t count;
};

static int see(void *arg, const struct rti_link *link)
{
	struct seen *seen = arg;

	if (seen->count < 64)
		seen->link[seen->count++] = *link;
	return RTI_CONTINUE;
}

static void see_gone(void *arg, const struct rti_link *link)
{
	see(arg, link);
}

static const struct rti_link *find(const struct seen *seen, const char *name)
{
	for (size_t i = 0; i < seen->count; i++)
		if (strcmp(seen->link[i].name, name) == 0)
			return &seen->link[i];
	return NULL;
}

/* In a namespace of its own, which goes with the process of the test. */
static int open_alone(void)
{
	int fd;

	if (unshare(CLONE_NEWNET) < 0)
		suite_skip_test("no network namespace can be made here");
	fd = rti_links_open();
	ck_assert_int_ge(fd, 0);
	return fd;
}

static bool run_ip(const char *arguments)
{
	char line[128];

	snprintf(line, sizeof(line), "ip link %s >/dev/null 2>&1", arguments);
	return system(line) == 0; /* NOLINT: of the test's own words */
}

START_TEST(interfaces_are_those_that_the_c_library_knows)
{
	struct seen seen = { .count = 0 };
	struct if_nameindex *known = if_nameindex();
	int fd = rti_links_open();
	size_t count = 0;

	ck_assert_ptr_nonnull(known);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(rti_links_list(fd, see, &seen), 0);
	for (; known[count].if_index; count++) {
		const struct rti_link *link = find(&seen, known[count].if_name);

		ck_assert_ptr_nonnull(link);
		ck_assert_uint_eq(link->index, known[count].if_index);
	}
	ck_assert_uint_eq(count, seen.count);
	ck_assert(!find(&seen, "lo")->is_hardware);
	ck_assert_uint_eq(find(&seen, "lo")->address_len, 6);
	if_freenameindex(known);
	rti_links_close(fd);
}
END_TEST

START_TEST(changes_are_reported_once_with_what_has_gone)
{
	struct seen gone = { .count = 0 }, seen = { .count = 0 };
	int fd = open_alone();
	uint32_t index;

	ck_assert_int_eq(rti_links_take_changes(fd, see_gone, &gone), RTI_LINKS_SAME);
	if (!run_ip("add v0 type veth peer name v1"))
		suite_skip_test("no pair of interfaces can be made here");
	index = if_nametoindex("v0");
	ck_assert_int_eq(rti_links_take_changes(fd, see_gone, &gone), RTI_LINKS_CHANGED);
	ck_assert_int_eq(rti_links_take_changes(fd, see_gone, &gone), RTI_LINKS_SAME);
	ck_assert(run_ip("set v0 name w0"));
	ck_assert_int_eq(rti_links_take_changes(fd, see_gone, &gone), RTI_LINKS_CHANGED);
	ck_assert_int_eq(rti_links_list(fd, see, &seen), 0);
	ck_assert_ptr_null(find(&seen, "v0"));
	ck_assert_uint_eq(find(&seen, "w0")->index, index);
	ck_assert(!find(&seen, "w0")->is_hardware);
	ck_assert_uint_eq(gone.count, 0);
	ck_assert(run_ip("del w0"));
	ck_assert_int_eq(rti_links_take_changes(fd, see_gone, &gone), RTI_LINKS_CHANGED);
	ck_assert_uint_eq(gone.count, 2);
	ck_assert_uint_eq(find(&gone, "w0")->index, index);
	rti_links_close(fd);
}
END_TEST

START_TEST(list_of_many_parts_is_whole)
{
	struct seen seen = { .count = 0 };
	int fd = open_alone();

	for (int i = 0; i < 25; i++) {
		char arguments[64];

		snprintf(arguments, sizeof(arguments), "add a%d type veth peer name b%d", i, i);
		if (!run_ip(arguments))
			suite_skip_test("no pair of interfaces can be made here");
	}
	rti_links_take_changes(fd, see_gone, &seen);
	seen.count = 0;
	ck_assert_int_eq(rti_links_list(fd, see, &seen), 0);
	ck_assert_ptr_nonnull(find(&seen, "lo"));
	ck_assert_uint_ge(seen.count, 51);
	ck_assert_ptr_nonnull(find(&seen, "a24"));
	ck_assert_ptr_nonnull(find(&seen, "b0"));
	rti_links_close(fd);
}
END_TEST

/* A storm of them. */
START_TEST(changes_that_find_no_room_are_unknown)
{
	struct seen seen = { .count = 0 };
	const int bytes = 1;
	int fd = open_alone();

	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)), 0);
	for (int i = 0; i < 10; i++) {
		if (!run_ip("add v0 type veth peer name v1"))
			suite_skip_test("no pair of interfaces can be made here");
		ck_assert(run_ip("del v0"));
	}
	ck_assert_int_eq(rti_links_take_changes(fd, see_gone, &seen), RTI_LINKS_UNKNOWN);
	ck_assert_int_eq(rti_links_take_changes(fd, see_gone, &seen), RTI_LINKS_SAME);
	rti_links_close(fd);
}
END_TEST

START_TEST(refused_socket_fails)
{
	script.bind_error = -EPERM;
	ck_assert_int_eq(rti_links_open(), -EPERM);
}
END_TEST

static const struct {
	struct nlmsghdr done;
	int error;
} end = { { sizeof(end), NLMSG_DONE, NLM_F_MULTI, SEQ, 0 }, 0 };

static const struct {
	struct nlmsghdr change;
	struct ifinfomsg info;
	struct nlattr name;
	char text[8];
} gone_eth0 = {
	{ sizeof(gone_eth0), RTM_DELLINK, 0, 0, 0 }, { .ifi_index = 7 }, { 9, IFLA_IFNAME }, "eth0"
};

static const struct {
	struct answer answer[2];
	size_t count, repeats;
	int send_error, expected;
} hostile[] = {
	{ { { .len = sizeof(end), .text = &end } }, 1, 0, 0, 0 },
	{ { { -EINTR, 0, 0, NULL }, { .len = sizeof(end), .text = &end } }, 2, 0, 0, 0 },
	/* from another process than the kernel */
	{ { { 0, 4711, 3, "bad" }, { -ECONNREFUSED, 0, 0, NULL } }, 2, 0, 0, -ECONNREFUSED },
	{ { { 0, 0, 3, "bad" }, { .len = sizeof(end), .text = &end } }, 2, 0, 0, -EBADMSG },
	{ { { .len = 0, .text = &end } }, 1, 0, 0, -ETIMEDOUT },
	{ { { .len = sizeof(gone_eth0), .text = &gone_eth0 } }, 1, 0, 0, -EAGAIN },
	{ { { .len = 40000, .text = &end } }, 1, 0, 0, -EMSGSIZE }, /* it is cut */
	{ { { -ENOBUFS, 0, 0, NULL } }, 1, 0, 0, -ENOBUFS },
	{ { { -ECONNREFUSED, 0, 0, NULL } }, 1, 0, 0, -ECONNREFUSED },
	{ { { .len = 0, .text = &end } }, 1, 100000, 0, -EOVERFLOW }, /* it never ends */
	{ { { .len = sizeof(end), .text = &end } }, 1, 0, -EPERM, -EPERM },
	{ { { .len = sizeof(end), .text = &end } }, 1, 0, -EBUSY, -EBUSY },
};

START_TEST(list_of_a_hostile_kernel_ends)
{
	struct seen seen = { .count = 0 };
	int fd = rti_links_open();

	ck_assert_int_ge(fd, 0);
	script.answer = hostile[_i].answer;
	script.count = hostile[_i].count;
	script.repeats = hostile[_i].repeats;
	script.send_error = hostile[_i].send_error;
	ck_assert_int_eq(rti_links_list(fd, see, &seen), hostile[_i].expected);
	ck_assert_uint_eq(script.sends, 1);
	ck_assert_uint_eq(seen.count, 0);
	script.answer = NULL;
	rti_links_close(fd);
}
END_TEST

static const struct {
	struct answer answer[2];
	size_t count, repeats;
	enum rti_link_changes expected;
	unsigned gone, receives;
} changes[] = {
	{ { { .len = sizeof(gone_eth0), .text = &gone_eth0 } }, 1, 0, RTI_LINKS_CHANGED, 1, 2 },
	{ { { .len = sizeof(end), .text = &end } }, 1, 0, RTI_LINKS_CHANGED, 0, 2 },
	{ { { 0, 0, 3, "bad" } }, 1, 0, RTI_LINKS_CHANGED, 0, 2 },
	{ { { .len = 0, .text = "" } }, 1, 0, RTI_LINKS_CHANGED, 0, 2 },
	{ { { -EINTR, 0, 0, NULL } }, 1, 0, RTI_LINKS_CHANGED, 0, 2 },
	{ { { -ENOBUFS, 0, 0, NULL }, { .len = sizeof(gone_eth0), .text = &gone_eth0 } },
	  2,
	  0,
	  RTI_LINKS_UNKNOWN,
	  1,
	  3 },
	{ { { -EPERM, 0, 0, NULL } }, 1, 0, RTI_LINKS_UNKNOWN, 0, 2 },
	{ { { .len = sizeof(end), .text = &end } }, 1, 100000, RTI_LINKS_UNKNOWN, 0, 4096 },
};

START_TEST(changes_of_a_hostile_kernel_end)
{
	struct seen gone = { .count = 0 };
	int fd = rti_links_open();

	ck_assert_int_ge(fd, 0);
	script.answer = changes[_i].answer;
	script.count = changes[_i].count;
	script.repeats = changes[_i].repeats;
	ck_assert_int_eq(rti_links_take_changes(fd, see_gone, &gone), changes[_i].expected);
	ck_assert_uint_eq(gone.count, changes[_i].gone);
	ck_assert_uint_eq(script.receives, changes[_i].receives);
	script.answer = NULL;
	rti_links_close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("links");
	TCase *kernel = suite_case(suite, "kernel"), *scripted = suite_case(suite, "hostile");

	tcase_add_test(kernel, interfaces_are_those_that_the_c_library_knows);
	tcase_add_test(kernel, changes_are_reported_once_with_what_has_gone);
	tcase_add_test(kernel, list_of_many_parts_is_whole);
	tcase_add_test(kernel, changes_that_find_no_room_are_unknown);
	tcase_add_test(scripted, refused_socket_fails);
	tcase_add_loop_test(scripted, list_of_a_hostile_kernel_ends, 0,
	                    sizeof(hostile) / sizeof(hostile[0]));
	tcase_add_loop_test(scripted, changes_of_a_hostile_kernel_end, 0,
	                    sizeof(changes) / sizeof(changes[0]));
	return suite_run(suite);
}
