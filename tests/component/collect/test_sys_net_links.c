/* SPDX-License-Identifier: MIT */
/* The network collector beside the kernel's list of interfaces, which is the test's. Interfaces
 * get other names, go, are made again or come back; lists fail; /sys is of another namespace. */
#include "collect/collector.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "os/links.h"
#include "sampler.h"
#include "suite.h"
#include "util/visit.h"

extern const struct rti_sys_collector rti_sys_net;

#define HEADER "Inter-|   Receive  |  Transmit\n face |bytes    packets\n"
#define LINKS_MAX 8
#define SOCKET 77 /* as rti_links_open() returns it here */

/* An interface, and what net/dev shows of it. */
struct interface {
	struct rti_link link;
	uint64_t bytes; /* sent */
};

static struct {
	struct fixture f;
	struct sampler s;
	struct interface here[LINKS_MAX];
	size_t count;
	enum rti_link_changes changes;
	struct rti_link gone[64]; /* what has left */
	size_t gone_count;
	int open_error, list_error;
	void (*in_list)(void); /* called once, as the list is read */
	unsigned opens, lists, closes;
} fix;

int __wrap_rti_links_open(void);
int __wrap_rti_links_open(void)
{
	fix.opens++;
	return fix.open_error < 0 ? fix.open_error : SOCKET;
}

void __wrap_rti_links_close(int fd);
void __wrap_rti_links_close(int fd)
{
	ck_assert_int_eq(fd, SOCKET);
	fix.closes++;
}

enum rti_link_changes
__wrap_rti_links_take_changes(int fd, void (*gone)(void *arg, const struct rti_link *link),
                              void *arg);
enum rti_link_changes
__wrap_rti_links_take_changes(int fd, void (*gone)(void *arg, const struct rti_link *link),
                              void *arg)
{
	enum rti_link_changes changes = fix.changes;

	ck_assert_int_eq(fd, SOCKET);
	for (size_t i = 0; changes != RTI_LINKS_UNKNOWN && i < fix.gone_count; i++)
		gone(arg, &fix.gone[i]);
	fix.gone_count = 0;
	fix.changes = RTI_LINKS_SAME;
	return changes;
}

int __wrap_rti_links_list(int fd, int (*each)(void *arg, const struct rti_link *link), void *arg);
int __wrap_rti_links_list(int fd, int (*each)(void *arg, const struct rti_link *link), void *arg)
{
	void (*in_list)(void) = fix.in_list;
	int err = 0;

	ck_assert_int_eq(fd, SOCKET);
	fix.lists++;
	fix.in_list = NULL;
	if (in_list)
		in_list();
	for (size_t i = 0; i < fix.count && err == 0; i++)
		err = each(arg, &fix.here[i].link);
	return fix.list_error < 0 ? fix.list_error : err;
}

static void set_up(void)
{
	memset(&fix, 0, sizeof(fix));
	fixture_new(&fix.f);
	fixture_mkdir(&fix.f, "sys/class/net");
	sampler_open(&fix.s, &rti_sys_net, fix.f.root);
	/* Not another root: the running system, as far as the collector can see. */
	fix.s.collector->close(fix.s.state, &fix.s.ctx);
	memset(fix.s.state, 0, fix.s.collector->state_size);
	fix.s.procfs.is_foreign = false;
	ck_assert_int_eq(fix.s.collector->open(fix.s.state, &fix.s.ctx), 0);
}

static void tear_down(void)
{
	fix.s.procfs.is_foreign = true;
	sampler_close(&fix.s);
	ck_assert_uint_eq(fix.closes, fix.opens > 0 && fix.open_error == 0);
	fixture_free(&fix.f);
}

static struct interface *find(const char *name)
{
	for (size_t i = 0; i < fix.count; i++)
		if (strcmp(fix.here[i].link.name, name) == 0)
			return &fix.here[i];
	return NULL;
}

static struct interface *make(const char *name, uint32_t index, uint64_t bytes)
{
	struct interface *interface = &fix.here[fix.count++];

	ck_assert_uint_le(fix.count, LINKS_MAX);
	*interface = (struct interface){
		.link = { .index = index, .address_len = 6, .address = { 2, 0, 0, 0xab, 0, 1 } },
		.bytes = bytes,
	};
	strcpy(interface->link.name, name);
	fix.changes = RTI_LINKS_CHANGED;
	return interface;
}

static void destroy(const char *name)
{
	struct interface *interface = find(name);

	ck_assert_uint_lt(fix.gone_count, 64);
	fix.gone[fix.gone_count++] = interface->link;
	*interface = fix.here[--fix.count];
	fix.changes = RTI_LINKS_CHANGED;
}

static void rename_to(const char *name, const char *to)
{
	strcpy(find(name)->link.name, to);
	fix.changes = RTI_LINKS_CHANGED;
}

static int sample(void)
{
	char text[2048] = HEADER;
	size_t len = strlen(text);

	for (size_t i = 0; i < fix.count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		                        "%s: 0 0 0 0 0 0 0 0 %" PRIu64 " 0 0 0 0 0 0 0\n",
		                        fix.here[i].link.name, fix.here[i].bytes);
	fixture_write(&fix.f, "proc/thread-self/net/dev", text);
	return sampler_take(&fix.s);
}

enum mark { VALID, PARTIAL, ESTIMATED };

static void expect(enum mark mark, uint64_t bytes)
{
	const uint64_t masks[] = { fix.s.out.valid, fix.s.out.partial, fix.s.out.estimated };

	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(masks[i], i == mark ? RT_HAS_NETWORK : 0);
	ck_assert_uint_eq(fix.s.out.network_transmit_bytes, bytes);
}

static void sample_and_expect(enum mark mark, uint64_t bytes)
{
	ck_assert_int_eq(sample(), mark == VALID ? 0 : -ENODEV);
	expect(mark, bytes);
}

START_TEST(interface_with_another_name_goes_on)
{
	make("v0", 4, 1000);
	sample_and_expect(VALID, 1000);
	rename_to("v0", "w0");
	find("w0")->bytes += 5;
	sample_and_expect(VALID, 1005);
	ck_assert_uint_eq(fix.s.out.network_interfaces, 1);
	find("w0")->bytes += 5;
	sample_and_expect(VALID, 1010);
}
END_TEST

START_TEST(interfaces_that_change_names_go_on)
{
	make("v0", 4, 1000);
	make("w0", 5, 7);
	sample_and_expect(VALID, 1007);
	rename_to("v0", "t");
	rename_to("w0", "v0");
	rename_to("t", "w0");
	find("v0")->bytes += 2;
	sample_and_expect(VALID, 1009);
}
END_TEST

START_TEST(interface_that_goes_takes_its_last_bytes_with_it)
{
	make("v0", 4, 1000);
	make("w0", 5, 7);
	sample_and_expect(VALID, 1007);
	destroy("v0");
	find("w0")->bytes += 2;
	sample_and_expect(PARTIAL, 1009);
	sample_and_expect(VALID, 1009);
}
END_TEST

/* Whether the new one has sent more than the old one, or less. */
START_TEST(interface_made_again_under_its_name_starts_from_what_it_shows)
{
	make("ppp0", 4, UINT64_C(3300000000));
	sample_and_expect(VALID, UINT64_C(3300000000));
	destroy("ppp0");
	make("ppp0", 5, _i ? 50000000 : UINT64_C(9900000000));
	sample_and_expect(PARTIAL, UINT64_C(3300000000));
	find("ppp0")->bytes += 3;
	sample_and_expect(VALID, UINT64_C(3300000003));
}
END_TEST

/* A container had it for a while. */
START_TEST(interface_that_is_given_back_does_not_bring_its_history)
{
	make("eth0", 2, 10);
	make("v0", 4, 1000);
	sample_and_expect(VALID, 1010);
	destroy("v0");
	sample_and_expect(PARTIAL, 1010);
	make("v0", _i ? 4 : 9, UINT64_C(5000000000));
	sample_and_expect(PARTIAL, 1010);
	find("v0")->bytes += 3;
	sample_and_expect(VALID, 1013);
}
END_TEST

/* Between two samples. Its index is as before. */
START_TEST(interface_that_was_away_does_not_bring_its_history)
{
	make("v0", 4, 1000);
	sample_and_expect(VALID, 1000);
	destroy("v0");
	make("v0", 4, UINT64_C(5000000000));
	sample_and_expect(PARTIAL, 1000);
	find("v0")->bytes += 3;
	sample_and_expect(VALID, 1003);
}
END_TEST

START_TEST(interface_that_came_and_went_marks_the_total_that_it_was_in)
{
	make("v0", 4, 1000);
	sample_and_expect(VALID, 1000);
	make("v1", 5, 0)->bytes += 50;
	destroy("v1");
	sample_and_expect(PARTIAL, 1000);
	make("eth0", 6, 7)->link.is_hardware = true;
	sample_and_expect(PARTIAL, 1000);
	make("v1", 7, 0);
	destroy("v1");
	sample_and_expect(VALID, 1000);
	make("eth1", 8, 0)->link.is_hardware = true;
	destroy("eth1");
	sample_and_expect(PARTIAL, 1000);
	sample_and_expect(VALID, 1000);
}
END_TEST

/* It may have been away. */
START_TEST(changes_that_are_lost_yield_estimates)
{
	make("v0", 4, 1000);
	sample_and_expect(VALID, 1000);
	find("v0")->bytes += 3;
	fix.changes = RTI_LINKS_UNKNOWN;
	ck_assert_int_eq(sample(), -ENOBUFS);
	expect(ESTIMATED, 1003);
	sample_and_expect(VALID, 1003);
}
END_TEST

START_TEST(counter_that_a_driver_corrects_is_not_counted_again)
{
	make("eth0", 2, UINT64_C(10000000000));
	sample_and_expect(VALID, UINT64_C(10000000000));
	find("eth0")->bytes -= 3000;
	sample_and_expect(PARTIAL, UINT64_C(10000000000));
	find("eth0")->bytes += 5000;
	sample_and_expect(VALID, UINT64_C(10000002000));
	find("eth0")->bytes /= 2; /* e.g. with fewer queues */
	sample_and_expect(PARTIAL, UINT64_C(10000002000));
	find("eth0")->bytes += 7;
	sample_and_expect(VALID, UINT64_C(10000002007));
}
END_TEST

START_TEST(interface_outside_the_total_marks_nothing)
{
	make("lo", 1, 99);
	make("v0", 4, 1000);
	sample_and_expect(VALID, 1000);
	destroy("lo");
	make("lo", 7, 5);
	sample_and_expect(VALID, 1000);
	destroy("lo");
	sample_and_expect(VALID, 1000);
}
END_TEST

START_TEST(list_is_read_after_changes_alone)
{
	make("v0", 4, 1000);
	for (int i = 0; i < 3; i++)
		sample_and_expect(VALID, 1000);
	ck_assert_uint_eq(fix.lists, 1);
	fix.changes = RTI_LINKS_CHANGED; /* e.g. it is down */
	sample_and_expect(VALID, 1000);
	sample_and_expect(VALID, 1000);
	ck_assert_uint_eq(fix.lists, 2);
	ck_assert_uint_eq(fix.opens, 1);
}
END_TEST

static void swap_names(void)
{
	rename_to("v0", "t");
	rename_to("w0", "v0");
	rename_to("t", "w0");
}

/* The file was read before, and its lines are taken for those of the other interface. */
START_TEST(list_that_changes_after_the_file_yields_estimates)
{
	make("v0", 4, 1000);
	make("w0", 5, 7);
	sample_and_expect(VALID, 1007);
	fix.changes = RTI_LINKS_CHANGED;
	fix.in_list = swap_names;
	ck_assert_int_eq(sample(), -EAGAIN);
	ck_assert_uint_eq(fix.s.out.estimated, RT_HAS_NETWORK);
	ck_assert_uint_eq(fix.s.out.valid | fix.s.out.partial, 0);
	ck_assert_int_eq(sample(), -ENODEV); /* one falls back to what it was */
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(fix.lists, 3);
}
END_TEST

static const int list_errors[] = { -EBADMSG, -EAGAIN, -ETIMEDOUT, -EPERM, -EMSGSIZE, -ENOMEM };

START_TEST(list_that_fails_yields_estimates_and_is_read_again)
{
	make("v0", 4, 1000);
	fix.list_error = list_errors[_i];
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(sample(), list_errors[_i]);
		expect(ESTIMATED, 1000);
	}
	fix.list_error = 0;
	sample_and_expect(PARTIAL, 1000); /* by its index, it is another one */
	find("v0")->bytes += 4;
	sample_and_expect(VALID, 1004);
}
END_TEST

/* A filter of system calls. Interfaces are known by name, and /sys is believed. */
START_TEST(list_that_is_refused_yields_estimates_by_name)
{
	fix.open_error = -EAFNOSUPPORT;
	fixture_mkdir(&fix.f, "sys/class/net/eth0/device");
	make("eth0", 2, 1000);
	make("v0", 4, 500);
	for (uint64_t i = 0; i < 2; i++) {
		find("eth0")->bytes = 1000 + i;
		ck_assert_int_eq(sample(), -EAFNOSUPPORT);
		expect(ESTIMATED, 1000 + i);
		ck_assert_uint_eq(fix.s.out.network_interfaces, 1);
	}
}
END_TEST

static void write_sysfs(const char *name, const char *index, const char *address)
{
	char path[128];

	snprintf(path, sizeof(path), "sys/class/net/%s/device", name);
	fixture_mkdir(&fix.f, path);
	snprintf(path, sizeof(path), "sys/class/net/%s/ifindex", name);
	fixture_write(&fix.f, path, index);
	snprintf(path, sizeof(path), "sys/class/net/%s/address", name);
	fixture_write(&fix.f, path, address);
}

static const struct {
	const char *index, *address;
	bool is_believed;
} sysfs[] = {
	{ "2\n", "02:00:00:ab:00:01\n", true },  { "3\n", "02:00:00:ab:00:01\n", false },
	{ "2\n", "02:00:00:ab:00:02\n", false }, { "2\n", "02:00:00:ab:00:01:00\n", false },
	{ "2\n", "02:00:00:ab:00\n", false },    { "2\n", "\n", false },
	{ "\n", "02:00:00:ab:00:01\n", false },  { "22\n", "02:00:00:ab:00:01\n", false },
};

/* The list says that there is no hardware, /sys that it is. */
START_TEST(sysfs_is_believed_where_index_and_address_are_those_listed)
{
	write_sysfs("eth0", sysfs[_i].index, sysfs[_i].address);
	make("eth0", 2, 1000);
	make("v0", 4, 500);
	sample_and_expect(VALID, sysfs[_i].is_believed ? 1000 : 1500);
	ck_assert_uint_eq(fix.s.out.network_interfaces, sysfs[_i].is_believed ? 1 : 2);
}
END_TEST

START_TEST(interface_without_address_is_believed_with_an_empty_one)
{
	write_sysfs("tun0", "2\n", "\n");
	make("tun0", 2, 1000)->link.address_len = 0;
	make("v0", 4, 500);
	sample_and_expect(VALID, 1000);
}
END_TEST

START_TEST(hardware_without_sysfs_is_as_listed)
{
	size_t count;
	const struct rt_network *row;

	make("v0", 4, 500);
	make("eth0", 2, 1000)->link.is_hardware = true;
	make("enP1s1", 3, 300)->link.is_hardware = true;
	find("enP1s1")->link.master = 2;
	make("eth1", 6, 20)->link.is_hardware = true;
	find("eth1")->link.master = 7;
	make("bond0", 7, 20);
	sample_and_expect(VALID, 1020);
	row = sampler_rows(&fix.s, &count);
	ck_assert_uint_eq(count, 5);
	ck_assert_uint_eq(row[0].flags, RT_ITEM_VIRTUAL);
	ck_assert_uint_eq(row[1].flags, RT_ITEM_IN_TOTAL);
	ck_assert_uint_eq(row[2].flags, 0);
	ck_assert_uint_eq(row[3].flags, RT_ITEM_IN_TOTAL);
}
END_TEST

/* --- Histories of chance: what was sent, and what the total says of it. --- */

static const char *const names[] = { "v0", "v1", "w0", "w1", "ppp0" };

static struct {
	uint64_t random;
	uint64_t sent, sent_late; /* in this step, and after its file was read */
	uint32_t last_index;
	struct interface elsewhere;
} world;

static uint64_t choose(uint64_t below)
{
	world.random ^= world.random << 13;
	world.random ^= world.random >> 7;
	world.random ^= world.random << 17;
	return world.random % below;
}

static void send_some(void)
{
	uint64_t bytes = choose(2) ? choose(1000) : choose(UINT64_C(6000000000));
	struct interface *interface = &fix.here[choose(fix.count ? fix.count : 1)];

	if (!fix.count)
		return;
	interface->bytes += bytes;
	world.sent += bytes;
}

static void do_something(void)
{
	const char *name = names[choose(5)];
	struct interface *found = find(name);

	switch (choose(9)) {
	case 0: /* made, or removed */
		if (found)
			destroy(name);
		else
			make(name, ++world.last_index, 0);
		break;
	case 1: /* made again */
		if (!found)
			break;
		destroy(name);
		make(name, ++world.last_index, 0);
		break;
	case 2:
		if (found && !find("t"))
			rename_to(name, "t");
		else if (find("t") && !found)
			rename_to("t", name);
		break;
	case 3: /* lent, or given back with what it has sent elsewhere */
		if (found && !world.elsewhere.link.index) {
			world.elsewhere = *found;
			destroy(name);
		} else if (!found && world.elsewhere.link.index) {
			make(name, world.elsewhere.link.index,
			     world.elsewhere.bytes + choose(UINT64_C(9000000000)));
			world.elsewhere.link.index = 0;
		}
		break;
	default:
		send_some();
	}
}

/* What falls and is above what it was by the next sample shows less than was sent. */
static void correct(struct interface *interface)
{
	interface->bytes -= interface->bytes / (choose(2) ? 200 : 3);
}

static void do_something_late(void)
{
	uint64_t before = world.sent;

	do_something();
	world.sent_late = world.sent - before;
	world.sent = before;
}

START_TEST(histories_are_exact_or_marked)
{
	uint64_t total = 0;
	unsigned exact = 0, lower = 0;
	bool was_valid = false, was_estimated = false;

	world.random = 88172645463325252 + (uint64_t)_i * 7919;
	for (int step = 0; step < 300; step++) {
		uint64_t reported;

		world.sent = world.sent_late;
		world.sent_late = 0;
		for (uint64_t i = choose(4); i > 0; i--)
			do_something();
		if (world.sent == 0 && fix.count > 0 && choose(10) == 0)
			correct(&fix.here[choose(fix.count)]);
		if (choose(40) == 0)
			fix.in_list = do_something_late;
		sample();
		fix.in_list = NULL;
		reported = fix.s.out.network_transmit_bytes - total;
		total = fix.s.out.network_transmit_bytes;
		if (step > 0 && was_valid && fix.s.out.valid) {
			ck_assert_uint_eq(reported, world.sent);
			exact += reported > 0;
		} else if (step > 0 && !was_estimated && !fix.s.out.estimated) {
			ck_assert_uint_le(reported, world.sent);
			lower += reported < world.sent;
		}
		was_valid = fix.s.out.valid;
		was_estimated = fix.s.out.estimated;
	}
	ck_assert_uint_gt(exact, 20);
	ck_assert_uint_gt(lower, 5);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_net_links");
	TCase *changes = suite_case(suite, "changes"), *lists = suite_case(suite, "lists");
	TCase *kinds = suite_case(suite, "kinds"), *histories = suite_case(suite, "histories");

	tcase_add_checked_fixture(changes, set_up, tear_down);
	tcase_add_test(changes, interface_with_another_name_goes_on);
	tcase_add_test(changes, interfaces_that_change_names_go_on);
	tcase_add_test(changes, interface_that_goes_takes_its_last_bytes_with_it);
	tcase_add_loop_test(changes, interface_made_again_under_its_name_starts_from_what_it_shows,
	                    0, 2);
	tcase_add_loop_test(changes, interface_that_is_given_back_does_not_bring_its_history, 0, 2);
	tcase_add_test(changes, interface_that_was_away_does_not_bring_its_history);
	tcase_add_test(changes, interface_that_came_and_went_marks_the_total_that_it_was_in);
	tcase_add_test(changes, changes_that_are_lost_yield_estimates);
	tcase_add_test(changes, counter_that_a_driver_corrects_is_not_counted_again);
	tcase_add_test(changes, interface_outside_the_total_marks_nothing);
	tcase_add_checked_fixture(lists, set_up, tear_down);
	tcase_add_test(lists, list_is_read_after_changes_alone);
	tcase_add_test(lists, list_that_changes_after_the_file_yields_estimates);
	tcase_add_loop_test(lists, list_that_fails_yields_estimates_and_is_read_again, 0,
	                    sizeof(list_errors) / sizeof(list_errors[0]));
	tcase_add_test(lists, list_that_is_refused_yields_estimates_by_name);
	tcase_add_checked_fixture(kinds, set_up, tear_down);
	tcase_add_loop_test(kinds, sysfs_is_believed_where_index_and_address_are_those_listed, 0,
	                    sizeof(sysfs) / sizeof(sysfs[0]));
	tcase_add_test(kinds, interface_without_address_is_believed_with_an_empty_one);
	tcase_add_test(kinds, hardware_without_sysfs_is_as_listed);
	tcase_add_checked_fixture(histories, set_up, tear_down);
	tcase_add_loop_test(histories, histories_are_exact_or_marked, 0, (int)suite_share(50));
	return suite_run(suite);
}
