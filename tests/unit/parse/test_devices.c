/* SPDX-License-Identifier: MIT */
/* Parsers of lists of devices: diskstats, net/dev, mountinfo, zpool list. */
#include "exact.h"

#include <errno.h>
#include <stdio.h>

#include "parse/parse.h"
#include "suite.h"

#define KEPT 8

struct disks {
	struct rti_diskstat disk[KEPT];
	unsigned count, stop_at;
};

static int add_disk(void *arg, const struct rti_diskstat *disk)
{
	struct disks *disks = arg;

	ck_assert_uint_lt(disks->count, KEPT);
	disks->disk[disks->count++] = *disk;
	return disks->count == disks->stop_at ? 77 : 0;
}

static int parse_disks(const char *text, struct disks *disks)
{
	struct exact copy = exact(text);

	return rti_parse_diskstats(copy.data, copy.len, add_disk, disks);
}

/* As many figures as the kernel of that age prints after the name. */
static const char *const full_lines[] = {
	"   8  1 sda1 1 2 3 4 5 6 7 8 9 10 11\n",                         /* 14 fields, 2.6.25 */
	"   8  1 sda1 1 2 3 4 5 6 7 8 9 10 11 12\n",                      /* 15 */
	"   8  1 sda1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n",             /* 18, 4.18 */
	"   8  1 sda1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n",       /* 20, 5.5 */
	"   8  1 sda1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 x", /* of the future */
};

START_TEST(diskstats_takes_full_lines_alike)
{
	struct disks disks = { 0 };

	ck_assert_int_eq(parse_disks(full_lines[_i], &disks), 0);
	ck_assert_uint_eq(disks.count, 1);
	ck_assert_uint_eq(disks.disk[0].major, 8);
	ck_assert_uint_eq(disks.disk[0].minor, 1);
	ck_assert_str_eq(disks.disk[0].name, "sda1");
	ck_assert_uint_eq(disks.disk[0].reads, 1);
	ck_assert_uint_eq(disks.disk[0].read_sectors, 3);
	ck_assert_uint_eq(disks.disk[0].writes, 5);
	ck_assert_uint_eq(disks.disk[0].write_sectors, 7);
	ck_assert_uint_eq(disks.disk[0].in_flight, 9);
	ck_assert_uint_eq(disks.disk[0].busy_ms, 10);
}
END_TEST

START_TEST(diskstats_takes_short_lines)
{
	struct disks disks = { 0 };

	ck_assert_int_eq(parse_disks("8 1 sda1 1 2 3 4\n8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n", &disks),
	                 0);
	ck_assert_uint_eq(disks.count, 2);
	ck_assert_uint_eq(disks.disk[0].reads, 1);
	ck_assert_uint_eq(disks.disk[0].read_sectors, 2);
	ck_assert_uint_eq(disks.disk[0].writes, 3);
	ck_assert_uint_eq(disks.disk[0].write_sectors, 4);
	ck_assert_uint_eq(disks.disk[0].in_flight, 0);
	ck_assert_uint_eq(disks.disk[0].busy_ms, 0);
	ck_assert_uint_eq(disks.disk[1].write_sectors, 7);
}
END_TEST

START_TEST(diskstats_may_be_empty)
{
	struct disks disks = { 0 };

	ck_assert_int_eq(parse_disks("", &disks), 0);
	ck_assert_uint_eq(disks.count, 0);
}
END_TEST

START_TEST(diskstats_stops_when_told)
{
	struct disks disks = { .stop_at = 1 };

	ck_assert_int_eq(parse_disks("8 0 a 1 2 3 4\n8 1 b 1 2 3 4\n", &disks), 77);
	ck_assert_uint_eq(disks.count, 1);
}
END_TEST

static const char *const bad_disks[] = {
	"\n",
	"8",
	"8 1",
	"8 1 sda",
	"8 1 sda 1 2 3\n",
	"8 1 sda 1 2 3 4 5\n",
	"8 1 sda 1 2 3 4 5 6 7 8\n" /* 11 fields */,
	"8 1 sda 1 2 3 4 5 6 7 8 9 10\n",
	"8 1 sda 1 2 3 4 x\n",
	"8 1 sda 1 2 -3 4 5 6 7 8 9 10 11\n",
	"x 1 sda 1 2 3 4\n",
	"4294967296 1 sda 1 2 3 4\n",
	"3 0 8 hda 1 2 3 4 5 6 7 8 9 10 11\n",
	"8 0 sda 1 2 3 4\n\n8 1 sda1 1 2 3 4\n",
};

START_TEST(diskstats_refuses)
{
	struct disks disks = { 0 };

	ck_assert_int_eq(parse_disks(bad_disks[_i], &disks), -EBADMSG);
}
END_TEST

struct devs {
	struct rti_netdev dev[KEPT];
	unsigned count, stop_at;
};

static int add_dev(void *arg, const struct rti_netdev *dev)
{
	struct devs *devs = arg;

	ck_assert_uint_lt(devs->count, KEPT);
	devs->dev[devs->count++] = *dev;
	return devs->count == devs->stop_at ? 77 : 0;
}

#define NET_HEADERS                                                                                \
	"Inter-|   Receive                                                |  Transmit\n"           \
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs " \
	"drop fifo colls "                                                                         \
	"carrier compressed\n"

static int parse_devs(const char *text, struct devs *devs)
{
	struct exact copy = exact(text);

	return rti_parse_netdev(copy.data, copy.len, add_dev, devs);
}

static const struct {
	const char *line, *name;
} net_lines[] = {
	{ "  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", "eth0" },
	{ "eth0:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", "eth0" },
	{ "bond0:1: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", "bond0:1" },
	{ "bond0:1:1 2 3 4 5 6 7 8 9 10 11 12\n", "bond0:1" },
	{ "a|b: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n", "a|b" },
	{ "abcdefghijklmnopqrstuvwxyz01234: 1 2 3 4 5 6 7 8 9 10 11 12\n",
	  "abcdefghijklmnopqrstuvwxyz01234" },
	{ "abcdefghijklmnopqrstuvwxyz012345: 1 2 3 4 5 6 7 8 9 10 11 12\n",
	  "abcdefghijklmnopqrstuvwxyz01234" },
	{ "\xc3\xa9th0: 1 2 3 4 5 6 7 8 9 10 11 12\n", "\xc3\xa9th0" },
};

START_TEST(netdev_takes_names_and_figures)
{
	struct devs devs = { 0 };
	char text[512];

	snprintf(text, sizeof(text), "%s%s", NET_HEADERS, net_lines[_i].line);
	ck_assert_int_eq(parse_devs(text, &devs), 0);
	ck_assert_uint_eq(devs.count, 1);
	ck_assert_str_eq(devs.dev[0].name, net_lines[_i].name);
	ck_assert_uint_eq(devs.dev[0].receive_bytes, 1);
	ck_assert_uint_eq(devs.dev[0].receive_packets, 2);
	ck_assert_uint_eq(devs.dev[0].receive_errors, 3);
	ck_assert_uint_eq(devs.dev[0].receive_drops, 4);
	ck_assert_uint_eq(devs.dev[0].transmit_bytes, 9);
	ck_assert_uint_eq(devs.dev[0].transmit_packets, 10);
	ck_assert_uint_eq(devs.dev[0].transmit_errors, 11);
	ck_assert_uint_eq(devs.dev[0].transmit_drops, 12);
}
END_TEST

START_TEST(netdev_takes_headers_alone)
{
	struct devs devs = { 0 };

	ck_assert_int_eq(parse_devs(NET_HEADERS, &devs), 0);
	ck_assert_uint_eq(devs.count, 0);
}
END_TEST

START_TEST(netdev_stops_when_told)
{
	static const char text[] =
	    NET_HEADERS "a: 1 2 3 4 5 6 7 8 9 10 11 12\nb: 1 2 3 4 5 6 7 8 9 10 11 12\n";
	struct devs devs = { .stop_at = 1 };

	ck_assert_int_eq(parse_devs(text, &devs), 77);
	ck_assert_uint_eq(devs.count, 1);
}
END_TEST

static const char *const bad_nets[] = {
	"",
	"Inter-|\n",
	"\n\n",
	"eth0: 1 2 3 4 5 6 7 8 9 10 11 12\nlo: 1 2 3 4 5 6 7 8 9 10 11 12\n",
	NET_HEADERS "\n",
	NET_HEADERS "eth0\n",
	NET_HEADERS ": 1 2 3 4 5 6 7 8 9 10 11 12\n",
	NET_HEADERS "eth0:\n",
	NET_HEADERS "eth0: 1 2 3 4 5 6 7 8 9 10 11\n",
	NET_HEADERS "eth0: 1 2 3 -4 5 6 7 8 9 10 11 12\n",
	NET_HEADERS "eth0: No statistics available.\n",
};

START_TEST(netdev_refuses)
{
	struct devs devs = { 0 };

	ck_assert_int_eq(parse_devs(bad_nets[_i], &devs), -EBADMSG);
}
END_TEST

struct mounts {
	struct rti_mount mount[KEPT];
	unsigned count, stop_at;
};

static int add_mount(void *arg, const struct rti_mount *mount)
{
	struct mounts *mounts = arg;

	ck_assert_uint_lt(mounts->count, KEPT);
	mounts->mount[mounts->count++] = *mount;
	return mounts->count == mounts->stop_at ? 77 : 0;
}

static int parse_mounts(const char *text, struct mounts *mounts)
{
	struct exact copy = exact(text);

	return rti_parse_mountinfo(copy.data, copy.len, add_mount, mounts);
}

static const struct {
	const char *line, *mount_point, *type, *source;
} mount_lines[] = {
	{ "27 1 254:7 / / rw,relatime - ext4 /dev/vda rw,discard\n", "/", "ext4", "/dev/vda" },
	{ "36 35 254:7 /a /mnt rw shared:1 - ext3 /dev/root rw", "/mnt", "ext3", "/dev/root" },
	{ "36 35 254:7 /a /mnt rw shared:1 master:2 propagate_from:3 unbindable - nfs h:/x rw",
	  "/mnt", "nfs", "h:/x" },
	{ "36 35 254:7 / /a\\040b\\134c\\012d\\011e rw - ext4 /dev/x\\040y rw\n", "/a b\\c\nd\te",
	  "ext4", "/dev/x y" },
	{ "36 35 254:7 / /a\\9\\04 rw - fuse.sshfs x\\ rw\n", "/a\\9\\04", "fuse.sshfs", "x\\" },
	{ "36 35 254:7 / - rw - tmpfs - rw\n", "-", "tmpfs", "-" },
	{ "36 35 254:7 - /m rw -x - tmpfs none rw\n", "/m", "tmpfs", "none" },
	/* mounted with an empty source */
	{ "36 35 254:7 / /m rw - tmpfs  rw\n", "/m", "tmpfs", "" },
	{ "36 35 254:7 mnt:[4026531840] /run/ns rw - nsfs nsfs rw\n", "/run/ns", "nsfs", "nsfs" },
	{ "36 35 254:7 / /m//deleted rw - ext4 /dev/x", "/m//deleted", "ext4", "/dev/x" },
};

START_TEST(mountinfo_takes_lines)
{
	struct mounts mounts = { 0 };

	ck_assert_int_eq(parse_mounts(mount_lines[_i].line, &mounts), 0);
	ck_assert_uint_eq(mounts.count, 1);
	ck_assert_uint_eq(mounts.mount[0].major, 254);
	ck_assert_uint_eq(mounts.mount[0].minor, 7);
	ck_assert_str_eq(mounts.mount[0].mount_point, mount_lines[_i].mount_point);
	ck_assert_str_eq(mounts.mount[0].type, mount_lines[_i].type);
	ck_assert_str_eq(mounts.mount[0].source, mount_lines[_i].source);
	ck_assert(!mounts.mount[0].is_cut);
}
END_TEST

/* Length of a mount point that is decoded from escapes, and whether it should fit. */
static const struct {
	unsigned letters, escapes;
	int is_cut;
} long_mounts[] = {
	{ 4094, 0, 0 }, { 4095, 0, 1 }, { 2000, 2094, 0 }, { 2000, 2095, 1 }, { 100, 9000, 1 }
};

START_TEST(mountinfo_cuts_long_mount_points)
{
	struct mounts mounts = { 0 };
	size_t size = 65536, len;
	char *text = malloc(size);

	len = (size_t)snprintf(text, size, "1 2 3:4 / /");
	for (unsigned i = 0; i < long_mounts[_i].letters; i++)
		len += (size_t)snprintf(text + len, size - len, "m");
	for (unsigned i = 0; i < long_mounts[_i].escapes; i++)
		len += (size_t)snprintf(text + len, size - len, "\\040");
	snprintf(text + len, size - len, " rw - ext4 x rw\n");
	ck_assert_int_eq(parse_mounts(text, &mounts), 0);
	ck_assert_int_eq(mounts.mount[0].is_cut, long_mounts[_i].is_cut);
	ck_assert_uint_eq(strlen(mounts.mount[0].mount_point), 4095);
	ck_assert_str_eq(mounts.mount[0].source, "x");
	free(text);
}
END_TEST

START_TEST(mountinfo_may_be_empty)
{
	struct mounts mounts = { 0 };

	ck_assert_int_eq(parse_mounts("", &mounts), 0);
	ck_assert_uint_eq(mounts.count, 0);
}
END_TEST

START_TEST(mountinfo_stops_when_told)
{
	struct mounts mounts = { .stop_at = 1 };

	ck_assert_int_eq(
	    parse_mounts("1 2 3:4 / /a rw - t s rw\n1 2 3:4 / /b rw - t s rw\n", &mounts), 77);
	ck_assert_uint_eq(mounts.count, 1);
}
END_TEST

static const char *const bad_mounts[] = {
	"\n",
	"1",
	"1 2 3",
	"1 2 3:",
	"1 2 x:4 / /m rw - ext4 s rw",
	"1 2 3:4 /",
	"1 2 3:4 / /m",
	"1 2 3:4 / /m rw",
	"1 2 3:4 / /m rw shared:1 ext4 s rw\n",
	"1 2 3:4 / /m rw -",
	"1 2 3:4 / /m rw - ext4",
	"1 2 3;4 / /m rw - ext4 s rw",
	"1 2 3:99999999999 / /m rw - ext4 s rw",
	"1 2 -3:4 / /m rw - ext4 s rw",
};

START_TEST(mountinfo_refuses)
{
	struct mounts mounts = { 0 };

	ck_assert_int_eq(parse_mounts(bad_mounts[_i], &mounts), -EBADMSG);
}
END_TEST

struct pools {
	struct rti_zpool_line pool[KEPT];
	unsigned count, stop_at;
};

static int add_pool(void *arg, const struct rti_zpool_line *pool)
{
	struct pools *pools = arg;

	ck_assert_uint_lt(pools->count, KEPT);
	pools->pool[pools->count++] = *pool;
	return pools->count == pools->stop_at ? 77 : 0;
}

static int parse_pools(const char *text, struct pools *pools)
{
	struct exact copy = exact(text);

	return rti_parse_zpool_list(copy.data, copy.len, add_pool, pools);
}

START_TEST(zpool_takes_pools)
{
	struct pools pools = { 0 };

	ck_assert_int_eq(
	    parse_pools("tank\t3985729650688\t1023\t3985729649665\nmy big pool\t10\t4\t6", &pools),
	    0);
	ck_assert_uint_eq(pools.count, 2);
	ck_assert_str_eq(pools.pool[0].name, "tank");
	ck_assert(pools.pool[0].has_figures);
	ck_assert_uint_eq(pools.pool[0].size, UINT64_C(3985729650688));
	ck_assert_uint_eq(pools.pool[0].allocated, 1023);
	ck_assert_uint_eq(pools.pool[0].free, UINT64_C(3985729649665));
	ck_assert_str_eq(pools.pool[1].name, "my big pool");
	ck_assert_uint_eq(pools.pool[1].free, 6);
}
END_TEST

START_TEST(zpool_tells_unknown_from_zero)
{
	struct pools pools = { 0 };

	ck_assert_int_eq(parse_pools("a\t-\t-\t-\nb\t10\t-\t6\nc\t0\t0\t0\n", &pools), 0);
	ck_assert_uint_eq(pools.count, 3);
	ck_assert(!pools.pool[0].has_figures);
	ck_assert(!pools.pool[1].has_figures);
	ck_assert(pools.pool[2].has_figures);
}
END_TEST

START_TEST(zpool_may_have_none)
{
	struct pools pools = { 0 };

	ck_assert_int_eq(parse_pools("", &pools), 0);
	ck_assert_uint_eq(pools.count, 0);
}
END_TEST

START_TEST(zpool_stops_when_told)
{
	struct pools pools = { .stop_at = 1 };

	ck_assert_int_eq(parse_pools("a\t1\t1\t0\nb\t1\t1\t0\n", &pools), 77);
	ck_assert_uint_eq(pools.count, 1);
}
END_TEST

static const char *const bad_pools[] = {
	"\n",
	"tank",
	"tank\t1\t2\n",
	"tank 1 2 3\n",
	"\t1\t2\t3\n",
	"tank\t1K\t2\t3\n",
	"tank\t1\t2\t-3\n",
	"no pools available\n",
	"tank\t1\t2\t3x\n",
	"tank\t--\t2\t3\n",
};

START_TEST(zpool_refuses)
{
	struct pools pools = { 0 };

	ck_assert_int_eq(parse_pools(bad_pools[_i], &pools), -EBADMSG);
}
END_TEST

START_TEST(nul_bytes_are_refused)
{
	char bytes[256] = { 0 };
	struct exact zeros, lines;

	zeros = exact_bytes(bytes, sizeof(bytes));
	for (size_t i = 63; i < sizeof(bytes); i += 64)
		bytes[i] = '\n';
	lines = exact_bytes(bytes, sizeof(bytes));
	ck_assert_int_eq(rti_parse_diskstats(zeros.data, zeros.len, add_disk, NULL), -EBADMSG);
	ck_assert_int_eq(rti_parse_diskstats(lines.data, lines.len, add_disk, NULL), -EBADMSG);
	ck_assert_int_eq(rti_parse_netdev(lines.data, lines.len, add_dev, NULL), -EBADMSG);
	ck_assert_int_eq(rti_parse_mountinfo(lines.data, lines.len, add_mount, NULL), -EBADMSG);
	ck_assert_int_eq(rti_parse_zpool_list(lines.data, lines.len, add_pool, NULL), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_devices");
	TCase *disk = suite_case(suite, "diskstats"), *net = suite_case(suite, "netdev");
	TCase *mount = suite_case(suite, "mountinfo"), *zpool = suite_case(suite, "zpool_list");

	tcase_add_loop_test(disk, diskstats_takes_full_lines_alike, 0,
	                    sizeof(full_lines) / sizeof(full_lines[0]));
	tcase_add_test(disk, diskstats_takes_short_lines);
	tcase_add_test(disk, diskstats_may_be_empty);
	tcase_add_test(disk, diskstats_stops_when_told);
	tcase_add_loop_test(disk, diskstats_refuses, 0, sizeof(bad_disks) / sizeof(bad_disks[0]));
	tcase_add_test(disk, nul_bytes_are_refused);
	tcase_add_loop_test(net, netdev_takes_names_and_figures, 0,
	                    sizeof(net_lines) / sizeof(net_lines[0]));
	tcase_add_test(net, netdev_takes_headers_alone);
	tcase_add_test(net, netdev_stops_when_told);
	tcase_add_loop_test(net, netdev_refuses, 0, sizeof(bad_nets) / sizeof(bad_nets[0]));
	tcase_add_loop_test(mount, mountinfo_takes_lines, 0,
	                    sizeof(mount_lines) / sizeof(mount_lines[0]));
	tcase_add_loop_test(mount, mountinfo_cuts_long_mount_points, 0,
	                    sizeof(long_mounts) / sizeof(long_mounts[0]));
	tcase_add_test(mount, mountinfo_may_be_empty);
	tcase_add_test(mount, mountinfo_stops_when_told);
	tcase_add_loop_test(mount, mountinfo_refuses, 0,
	                    sizeof(bad_mounts) / sizeof(bad_mounts[0]));
	tcase_add_test(zpool, zpool_takes_pools);
	tcase_add_test(zpool, zpool_tells_unknown_from_zero);
	tcase_add_test(zpool, zpool_may_have_none);
	tcase_add_test(zpool, zpool_stops_when_told);
	tcase_add_loop_test(zpool, zpool_refuses, 0, sizeof(bad_pools) / sizeof(bad_pools[0]));
	return suite_run(suite);
}
