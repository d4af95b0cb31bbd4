/* SPDX-License-Identifier: MIT */
/* The network collector: /proc/net/dev and sysfs of fixtures, and the running system. */
#include "collect/collector.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"
#include "sampler.h"
#include "suite.h"

extern const struct rti_sys_collector rti_sys_net;

#define HEADER                                                                                     \
	"Inter-|   Receive                                                |  Transmit\n"           \
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs " \
	"drop fifo colls "                                                                         \
	"carrier compressed\n"

static struct fixture f;
static struct sampler s;

static void set_up(void)
{
	fixture_new(&f);
	sampler_open(&s, &rti_sys_net, f.root);
}

static void tear_down(void)
{
	sampler_close(&s);
	fixture_free(&f);
}

static void make_interface(const char *name, bool has_device)
{
	char path[128];

	snprintf(path, sizeof(path), "sys/class/net/%s/%s", name, has_device ? "device" : "queues");
	fixture_mkdir(&f, path);
}

static const struct rt_network *find_row(const char *name)
{
	size_t count;
	const struct rt_network *row = sampler_rows(&s, &count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(row[i].name, name) == 0)
			return &row[i];
	ck_abort_msg("no row for %s", name);
	return NULL;
}

START_TEST(netdev_with_hardware_and_loopback_yields_all_figures)
{
	const struct rt_network *row;

	make_interface("lo", false);
	make_interface("eth0", true);
	make_interface("wlan0", true);
	fixture_write(&f, "proc/net/dev",
	              HEADER "    lo: 999 99 0 0 0 0 0 0 999 99 0 0 0 0 0 0\n"
	                     "  eth0:1001 12 3 4 55 55 55 55 2002 22 6 7 55 55 55 55\n"
	                     " wlan0: 10 1 1 1 0 0 0 0 20 2 2 2 0 0 0 0\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.valid, RT_HAS_NETWORK);
	ck_assert_uint_eq(s.out.network_interfaces, 2);
	ck_assert_uint_eq(s.out.network_receive_bytes, 1011);
	ck_assert_uint_eq(s.out.network_receive_packets, 13);
	ck_assert_uint_eq(s.out.network_receive_errors, 4);
	ck_assert_uint_eq(s.out.network_receive_drops, 5);
	ck_assert_uint_eq(s.out.network_transmit_bytes, 2022);
	ck_assert_uint_eq(s.out.network_transmit_packets, 24);
	ck_assert_uint_eq(s.out.network_transmit_errors, 8);
	ck_assert_uint_eq(s.out.network_transmit_drops, 9);

	row = find_row("eth0");
	ck_assert_uint_eq(row->size, sizeof(*row));
	ck_assert_uint_eq(row->flags, RT_ITEM_IN_TOTAL);
	ck_assert_uint_eq(row->receive_bytes, 1001);
	ck_assert_uint_eq(row->receive_packets, 12);
	ck_assert_uint_eq(row->receive_errors, 3);
	ck_assert_uint_eq(row->receive_drops, 4);
	ck_assert_uint_eq(row->transmit_bytes, 2002);
	ck_assert_uint_eq(row->transmit_packets, 22);
	ck_assert_uint_eq(row->transmit_errors, 6);
	ck_assert_uint_eq(row->transmit_drops, 7);

	row = find_row("lo");
	ck_assert_uint_eq(row->flags, RT_ITEM_VIRTUAL);
	ck_assert_uint_eq(row->receive_bytes, 999);
}
END_TEST

#define TRAFFIC " 100 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n"

START_TEST(stacked_interfaces_count_each_byte_once)
{
	make_interface("eth0", true);
	make_interface("eth1", true);
	fixture_link(&f, "sys/class/net/eth0/master", "../bond0");
	fixture_link(&f, "sys/class/net/eth1/master", "../bond0");
	make_interface("bond0", false);
	make_interface("bond0.7", false);
	make_interface("br0", false);
	make_interface("veth12", false);
	make_interface("tun0", false);
	fixture_write(&f, "proc/net/dev",
	              HEADER "eth0:" TRAFFIC "eth1:" TRAFFIC "bond0:" TRAFFIC "bond0.7:" TRAFFIC
	                     "br0:" TRAFFIC "veth12:" TRAFFIC "tun0:" TRAFFIC "lo:" TRAFFIC);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.network_interfaces, 2);
	ck_assert_uint_eq(s.out.network_receive_bytes, 200);
	ck_assert_uint_eq(find_row("bond0")->flags, RT_ITEM_VIRTUAL);
	ck_assert_uint_eq(find_row("eth1")->flags, RT_ITEM_IN_TOTAL);
}
END_TEST

/* The interface of the hypervisor counts what passes the virtual function behind it. */
START_TEST(virtual_function_below_its_master_is_not_counted)
{
	make_interface("eth0", true);
	make_interface("enP1s1", true);
	fixture_link(&f, "sys/class/net/enP1s1/master", "../eth0");
	fixture_write(&f, "proc/net/dev", HEADER "eth0:" TRAFFIC "enP1s1:" TRAFFIC);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.network_interfaces, 1);
	ck_assert_uint_eq(s.out.network_receive_bytes, 100);
	ck_assert_uint_eq(find_row("enP1s1")->flags, 0);
}
END_TEST

START_TEST(container_without_hardware_counts_virtual_interfaces)
{
	make_interface("lo", false);
	make_interface("eth0", false);
	make_interface("tun0", false);
	fixture_write(&f, "proc/net/dev", HEADER "lo:" TRAFFIC "eth0:" TRAFFIC "tun0:" TRAFFIC);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.network_interfaces, 2);
	ck_assert_uint_eq(s.out.network_receive_bytes, 200);
	ck_assert_uint_eq(find_row("eth0")->flags, RT_ITEM_VIRTUAL | RT_ITEM_IN_TOTAL);
}
END_TEST

START_TEST(interfaces_without_sysfs_count_all_but_loopback)
{
	fixture_remove(&f, "sys");
	fixture_write(&f, "proc/net/dev", HEADER "lo:" TRAFFIC "eth0:" TRAFFIC);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.network_receive_bytes, 100);
}
END_TEST

START_TEST(interface_names_with_colons_parse)
{
	make_interface("eth0", true);
	fixture_write(&f, "proc/net/dev",
	              HEADER "eth0:123:5 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0\n"
	                     "bond0:1: 7 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n"
	                     "  eth0:9 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(find_row("eth0:123")->receive_bytes, 5);
	ck_assert_uint_eq(find_row("bond0:1")->receive_bytes, 7);
	ck_assert_uint_eq(find_row("eth0")->transmit_bytes, 10);
}
END_TEST

static void sample_marked(uint64_t valid, uint64_t bytes)
{
	ck_assert_int_eq(sampler_take(&s), valid ? 0 : -ENODEV);
	ck_assert_uint_eq(s.out.valid, valid);
	ck_assert_uint_eq(s.out.partial, RT_HAS_NETWORK & ~valid);
	ck_assert_uint_eq(s.out.estimated, 0);
	ck_assert_uint_eq(s.out.network_receive_bytes, bytes);
}

static void sample_eth0(uint64_t shown, uint64_t valid, uint64_t bytes)
{
	fixture_printf(&f, "proc/net/dev",
	               HEADER "eth0: %" PRIu64 " 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n", shown);
	sample_marked(valid, bytes);
	ck_assert_uint_eq(find_row("eth0")->receive_bytes, bytes);
}

START_TEST(interface_counter_that_falls_goes_on_from_the_new_value)
{
	make_interface("eth0", true);
	sample_eth0(UINT32_MAX - 99, RT_HAS_NETWORK, UINT32_MAX - UINT64_C(99));
	sample_eth0(200, 0, UINT32_MAX - UINT64_C(99));
	sample_eth0(260, RT_HAS_NETWORK, UINT32_MAX - UINT64_C(39));
	sample_eth0(50, 0, UINT32_MAX - UINT64_C(39));
	sample_eth0(60, RT_HAS_NETWORK, UINT32_MAX - UINT64_C(29));
}
END_TEST

START_TEST(interface_counter_of_a_kernel_of_32_bits_wraps)
{
	s.collector->close(s.state, &s.ctx);
	memset(s.state, 0, s.collector->state_size);
	s.platform.has_32_bit_kernel = true;
	ck_assert_int_eq(s.collector->open(s.state, &s.ctx), 0);
	make_interface("eth0", true);
	sample_eth0(UINT32_MAX - 99, RT_HAS_NETWORK, UINT32_MAX - UINT64_C(99));
	/* 100 up to the wrap, 200 past it */
	sample_eth0(200, RT_HAS_NETWORK, UINT32_MAX + UINT64_C(201));
	sample_eth0(50, 0, UINT32_MAX + UINT64_C(201));
}
END_TEST

#define ETH0 "eth0:" TRAFFIC
#define USB0(bytes) "usb0: " #bytes " 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n"

START_TEST(interface_that_goes_and_returns_marks_both_steps)
{
	make_interface("eth0", true);
	make_interface("usb0", true);
	fixture_write(&f, "proc/net/dev", HEADER ETH0 USB0(100));
	sample_marked(RT_HAS_NETWORK, 200);
	fixture_write(&f, "proc/net/dev", HEADER ETH0);
	sample_marked(0, 200);
	ck_assert_uint_eq(s.out.network_interfaces, 1);
	sample_marked(RT_HAS_NETWORK, 200);
	fixture_write(&f, "proc/net/dev", HEADER ETH0 USB0(130));
	sample_marked(0, 200);
	ck_assert_uint_eq(find_row("usb0")->receive_bytes, 130);
	fixture_write(&f, "proc/net/dev", HEADER ETH0 USB0(131));
	sample_marked(RT_HAS_NETWORK, 201);
}
END_TEST

/* By the name alone, below another root. */
START_TEST(interface_with_another_name_is_another_one)
{
	fixture_write(&f, "proc/net/dev", HEADER ETH0);
	sample_marked(RT_HAS_NETWORK, 100);
	fixture_write(&f, "proc/net/dev", HEADER USB0(130));
	sample_marked(0, 100);
}
END_TEST

/* The total does not fall, even if it then covers fewer interfaces. */
START_TEST(total_after_hardware_appears_does_not_fall)
{
	make_interface("tun0", false);
	fixture_write(&f, "proc/net/dev", HEADER "tun0:" TRAFFIC);
	sample_marked(RT_HAS_NETWORK, 100);

	make_interface("usb0", true);
	fixture_write(&f, "proc/net/dev",
	              HEADER "tun0: 150 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n" USB0(7));
	sample_marked(0, 100);
	ck_assert_uint_eq(s.out.network_interfaces, 1);
	fixture_write(&f, "proc/net/dev",
	              HEADER "tun0: 150 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n" USB0(9));
	sample_marked(RT_HAS_NETWORK, 102);
}
END_TEST

START_TEST(netdev_of_process_1_is_preferred)
{
	make_interface("eth0", true);
	fixture_write(&f, "proc/net/dev", HEADER "eth0:" TRAFFIC);
	fixture_write(&f, "proc/1/net/dev", HEADER "eth0: 7 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.network_receive_bytes, 7);
}
END_TEST

START_TEST(netdev_missing_fails_with_enoent)
{
	size_t count;

	ck_assert_int_eq(sampler_take(&s), -ENOENT);
	ck_assert_uint_eq(s.out.valid, 0);
	ck_assert_ptr_null(sampler_rows(&s, &count));
}
END_TEST

static unsigned opens_of_net;

static int open_without_net(int dirfd, const char *path, int flags)
{
	if (!strstr(path, "net/dev"))
		return rti_procfs_linux.open(dirfd, path, flags);
	opens_of_net++;
	return -ENOENT;
}

/* A kernel without networks. */
START_TEST(netdev_missing_on_this_system_fails_with_enoent)
{
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct sampler own;

	ops.open = open_without_net;
	ops.open_in_root = NULL;
	ck_assert_int_eq(sampler_open_with(&own, &rti_sys_net, NULL, &ops, 0), 0);
	ck_assert_int_eq(sampler_take(&own), -ENOENT);
	ck_assert_uint_eq(own.out.valid | own.out.partial, 0);
	ck_assert_uint_eq(opens_of_net, 2); /* of the thread and, before Linux 3.17, the process */
	sampler_close(&own);
}
END_TEST

START_TEST(netdev_malformed_fails_with_ebadmsg)
{
	fixture_write(&f, "proc/net/dev", HEADER "eth0: 1 2 three\n");
	ck_assert_int_eq(sampler_take(&s), -EBADMSG);
	ck_assert_uint_eq(s.out.valid, 0);
}
END_TEST

static uint64_t read_statistic(const char *name, const char *which)
{
	char path[128];
	uint64_t value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/%s", name, which);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%" SCNu64, &value), 1);
	fclose(file);
	return value;
}

START_TEST(live_interfaces_match_sysfs)
{
	struct sampler live;
	const struct rt_network *row;
	size_t count;

	sampler_open(&live, &rti_sys_net, NULL);
	ck_assert_int_eq(sampler_take(&live), 0);

	row = sampler_rows(&live, &count);
	ck_assert_uint_ge(count, 1);

	for (size_t i = 0; i < count; i++) {
		uint64_t before = read_statistic(row[i].name, "tx_bytes"), after;

		ck_assert_int_eq(sampler_take(&live), 0);
		row = sampler_rows(&live, &count);
		after = read_statistic(row[i].name, "tx_bytes");
		ck_assert_uint_ge(row[i].transmit_bytes, before);
		ck_assert_uint_le(row[i].transmit_bytes, after);
		ck_assert_uint_le(row[i].receive_packets,
		                  read_statistic(row[i].name, "rx_packets"));
	}
	sampler_close(&live);
}
END_TEST

static uint64_t read_loopback_bytes(struct sampler *live)
{
	const struct rt_network *row;
	size_t count;

	ck_assert_int_eq(sampler_take(live), 0);
	row = sampler_rows(live, &count);
	for (size_t i = 0; i < count; i++)
		if (strcmp(row[i].name, "lo") == 0)
			return row[i].transmit_bytes;
	return 0;
}

START_TEST(live_loopback_grows_with_traffic)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_port = htons(9),
		                  .sin_addr.s_addr = htonl(0x7f000001) };
	static const char data[1000];
	struct sampler live;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t before, sent = 0;

	ck_assert_int_ge(fd, 0);
	sampler_open(&live, &rti_sys_net, NULL);
	before = read_loopback_bytes(&live);
	for (int i = 0; i < 100; i++)
		sent += sendto(fd, data, sizeof(data), 0, (void *)&to, sizeof(to)) ==
		        (ssize_t)sizeof(data);
	if (sent > 0) /* the loopback of a new network namespace is down */
		ck_assert_uint_ge(read_loopback_bytes(&live) - before, sent / 2 * sizeof(data));

	close(fd);
	sampler_close(&live);
}
END_TEST

/* Copies the name of an interface that /sys knows as hardware. */
static bool find_hardware(char *name, size_t size)
{
	DIR *dir = opendir("/sys/class/net");
	bool is_found = false;

	for (struct dirent *entry = dir ? readdir(dir) : NULL; entry && !is_found;
	     entry = readdir(dir)) {
		char path[300];

		snprintf(path, sizeof(path), "/sys/class/net/%s/device", entry->d_name);
		is_found = entry->d_name[0] != '.' && access(path, F_OK) == 0;
		if (is_found)
			snprintf(name, size, "%.15s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	return is_found;
}

/* As `nsenter -n` does: a virtual interface has the name of hardware of the host. */
START_TEST(live_namespace_with_the_sysfs_of_another_counts_all_but_loopback)
{
	struct sampler live;
	const struct rt_network *row;
	char name[32], line[128];
	size_t count;

	if (!find_hardware(name, sizeof(name)))
		suite_skip_test("no interface here is hardware");
	if (unshare(CLONE_NEWNET) < 0)
		suite_skip_test("no network namespace can be made here");
	snprintf(line, sizeof(line), "ip link add %s type veth peer name far0 >/dev/null 2>&1",
	         name);
	if (system(line) != 0)
		suite_skip_test("no pair of interfaces can be made here");
	sampler_open(&live, &rti_sys_net, NULL);
	ck_assert_int_eq(sampler_take(&live), 0);
	ck_assert_uint_eq(live.out.valid, RT_HAS_NETWORK);
	row = sampler_rows(&live, &count);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(row[i].flags,
		                  RT_ITEM_VIRTUAL |
		                      (strcmp(row[i].name, "lo") ? RT_ITEM_IN_TOTAL : 0));
	ck_assert_uint_ge(count, 3);
	sampler_close(&live);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_net");
	TCase *fixtures = suite_case(suite, "fixtures"), *live = suite_case(suite, "live");

	tcase_add_checked_fixture(fixtures, set_up, tear_down);
	tcase_add_test(fixtures, netdev_with_hardware_and_loopback_yields_all_figures);
	tcase_add_test(fixtures, stacked_interfaces_count_each_byte_once);
	tcase_add_test(fixtures, virtual_function_below_its_master_is_not_counted);
	tcase_add_test(fixtures, container_without_hardware_counts_virtual_interfaces);
	tcase_add_test(fixtures, interfaces_without_sysfs_count_all_but_loopback);
	tcase_add_test(fixtures, interface_names_with_colons_parse);
	tcase_add_test(fixtures, interface_counter_that_falls_goes_on_from_the_new_value);
	tcase_add_test(fixtures, interface_counter_of_a_kernel_of_32_bits_wraps);
	tcase_add_test(fixtures, interface_that_goes_and_returns_marks_both_steps);
	tcase_add_test(fixtures, interface_with_another_name_is_another_one);
	tcase_add_test(fixtures, total_after_hardware_appears_does_not_fall);
	tcase_add_test(fixtures, netdev_of_process_1_is_preferred);
	tcase_add_test(fixtures, netdev_missing_fails_with_enoent);
	tcase_add_test(fixtures, netdev_missing_on_this_system_fails_with_enoent);
	tcase_add_test(fixtures, netdev_malformed_fails_with_ebadmsg);
	tcase_add_test(live, live_interfaces_match_sysfs);
	tcase_add_test(live, live_loopback_grows_with_traffic);
	tcase_add_test(live, live_namespace_with_the_sysfs_of_another_counts_all_but_loopback);
	return suite_run(suite);
}
