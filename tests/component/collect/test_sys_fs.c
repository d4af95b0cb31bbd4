/* SPDX-License-Identifier: MIT */
#include "collect/collector.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"
#include "sampler.h"
#include "suite.h"
#include "threads.h"

extern const struct rti_sys_collector rti_sys_fs;

#define MS UINT64_C(1000000)
#define FS RT_HAS_FILESYSTEM
#define OPTIONS " rw,relatime shared:1 - "

/* The answers of our own statvfs(3), by path below the fixture's root. */
struct answer {
	const char *path;
	int err;
	uint64_t total, free, available;
	int gate; /* blocks until this has a byte; 0 does not */
	uint32_t major, minor;
};

#define MOST_ANSWERS 16

/* Read by the collector's thread. */
static pthread_mutex_t answers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct answer answers[MOST_ANSWERS];
static unsigned asked;
static const char *root;

static struct fixture f;
static struct sampler s;

static struct answer *find_answer(const char *path)
{
	for (size_t i = 0; i < MOST_ANSWERS && answers[i].path; i++)
		if (strcmp(answers[i].path, path) == 0)
			return &answers[i];
	return NULL;
}

static int fake_space(const char *path, struct rti_space *out)
{
	struct answer answer = { .err = -ENXIO };
	const struct answer *found;
	char byte;

	pthread_mutex_lock(&answers_lock);
	asked++;
	found = strncmp(path, root, strlen(root)) == 0 ? find_answer(path + strlen(root)) : NULL;
	if (found)
		answer = *found;
	pthread_mutex_unlock(&answers_lock);
	if (answer.gate && read(answer.gate, &byte, 1) != 1)
		return -EIO;
	*out = (struct rti_space){ answer.total, answer.free, answer.available, answer.major,
		                   answer.minor };
	return answer.err;
}

static void set_answer(const char *path, int err, uint64_t total, uint64_t free_bytes,
                       uint64_t available)
{
	struct answer *answer;
	size_t i = 0;

	pthread_mutex_lock(&answers_lock);
	answer = find_answer(path);
	while (!answer && answers[i].path)
		i++;
	answer = answer ? answer : &answers[i];
	*answer = (struct answer){ path, err, total, free_bytes, available, answer->gate, 0, 0 };
	pthread_mutex_unlock(&answers_lock);
}

static void set_gate(const char *path, int gate)
{
	pthread_mutex_lock(&answers_lock);
	find_answer(path)->gate = gate;
	pthread_mutex_unlock(&answers_lock);
}

static const struct rti_procfs_ops *fake_ops(void)
{
	static struct rti_procfs_ops ops;

	ops = rti_procfs_linux;
	ops.space = fake_space;
	return &ops;
}

static void open_fake(uint32_t flags)
{
	root = f.root;
	ck_assert_int_eq(sampler_open_with(&s, &rti_sys_fs, f.root, fake_ops(), flags), 0);
}

static void set_up(void)
{
	memset(answers, 0, sizeof(answers));
	asked = 0;
	fixture_new(&f);
}

static void tear_down(void)
{
	sampler_close(&s);
	fixture_free(&f);
}

static const struct rt_filesystem *row_at(size_t at, size_t expected_count)
{
	size_t count;
	const struct rt_filesystem *row = sampler_rows(&s, &count);

	ck_assert_uint_eq(count, expected_count);
	return row + at;
}

static void expect_total(uint64_t total, uint64_t used, uint64_t free_bytes, uint64_t available,
                         uint64_t filesystems)
{
	ck_assert_uint_eq(s.out.filesystem_total_bytes, total);
	ck_assert_uint_eq(s.out.filesystem_used_bytes, used);
	ck_assert_uint_eq(s.out.filesystem_free_bytes, free_bytes);
	ck_assert_uint_eq(s.out.filesystem_available_bytes, available);
	ck_assert_uint_eq(s.out.filesystems, filesystems);
}

START_TEST(golden)
{
	const struct rt_filesystem *row;

	fixture_write(&f, "proc/1/mountinfo",
	              "22 27 0:21 / /proc" OPTIONS "proc proc rw\n"
	              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	              "28 27 8:1 / /boot" OPTIONS "vfat /dev/sda1 rw\n"
	              "29 27 0:30 / /tmp" OPTIONS "tmpfs tmpfs rw\n"
	              "30 27 0:31 / /merged" OPTIONS "overlay overlay rw\n");
	set_answer("/", 0, 1000, 400, 350);
	set_answer("/boot", 0, 100, 90, 90);
	set_answer("/tmp", 0, 7000, 6000, 6000);
	set_answer("/merged", 0, 1000, 400, 350);
	open_fake(0);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.valid, FS);
	ck_assert_uint_eq(s.out.partial, 0);
	expect_total(1100, 610, 490, 440, 2);
	ck_assert_uint_eq(s.out.filesystems_skipped, 0);
	row = row_at(0, 4);
	ck_assert_uint_eq(row->size, sizeof(*row));
	ck_assert_uint_eq(row->flags, RT_ITEM_IN_TOTAL);
	ck_assert_uint_eq(row->major, 8);
	ck_assert_uint_eq(row->minor, 2);
	ck_assert_str_eq(row->type, "ext4");
	ck_assert_str_eq(row->source, "/dev/sda2");
	ck_assert_str_eq(row->mount_point, "/");
	ck_assert_uint_eq(row->total_bytes, 1000);
	ck_assert_uint_eq(row->used_bytes, 600);
	ck_assert_uint_eq(row->free_bytes, 400);
	ck_assert_uint_eq(row->available_bytes, 350);
	ck_assert_str_eq(row_at(2, 4)->type, "tmpfs");
	ck_assert_uint_eq(row_at(2, 4)->flags, 0);
	ck_assert_str_eq(row_at(3, 4)->type, "overlay");
	ck_assert_uint_eq(row_at(3, 4)->flags, 0);
}
END_TEST

START_TEST(escaped_paths)
{
	fixture_write(&f, "proc/1/mountinfo",
	              "27 1 8:2 / /my\\040disk\\134\\012" OPTIONS "ext4 /dev/sda\\0402 rw\n");
	set_answer("/my disk\\\n", 0, 1000, 400, 350);
	open_fake(0);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_str_eq(row_at(0, 1)->mount_point, "/my disk\\\n");
	ck_assert_str_eq(row_at(0, 1)->source, "/dev/sda 2");
	ck_assert_uint_eq(s.out.filesystem_total_bytes, 1000);
}
END_TEST

START_TEST(each_superblock_once)
{
	fixture_write(&f, "proc/1/mountinfo",
	              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	              "28 27 8:2 /srv /bind" OPTIONS "ext4 /dev/sda2 rw\n"
	              "29 27 0:40 /@ /data" OPTIONS "btrfs /dev/sdb rw\n"
	              "30 27 0:41 /@home /data/home" OPTIONS "btrfs /dev/sdb rw\n"
	              "31 27 0:42 /@ /more" OPTIONS "btrfs /dev/sdc rw\n");
	set_answer("/", 0, 1000, 400, 350);
	set_answer("/bind", 0, 1000, 400, 350);
	set_answer("/data", 0, 5000, 2000, 2000);
	set_answer("/data/home", 0, 5000, 2000, 2000);
	set_answer("/more", 0, 30, 20, 10);
	open_fake(0);
	ck_assert_int_eq(sampler_take(&s), 0);
	expect_total(6030, 3610, 2420, 2360, 3);
	ck_assert_str_eq(row_at(1, 3)->mount_point, "/data");
	ck_assert_uint_eq(asked, 3);
}
END_TEST

/* The path of the second leads to the third, which was mounted later on a directory above it. */
START_TEST(hidden_below_a_later_mount)
{
	fixture_write(&f, "proc/1/mountinfo",
	              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	              "28 27 8:3 / /m/b" OPTIONS "ext4 /dev/sda3 rw\n"
	              "29 27 8:4 / /m" OPTIONS "ext4 /dev/sda4 rw\n");
	set_answer("/", 0, 1000, 400, 350);
	set_answer("/m/b", 0, 70, 60, 50);
	set_answer("/m", 0, 70, 60, 50);
	find_answer("/m/b")->major = 8;
	find_answer("/m/b")->minor = 4;
	open_fake(0);
	ck_assert_int_eq(sampler_take(&s), 0);
	expect_total(1070, 610, 460, 400, 2);
	ck_assert_str_eq(row_at(1, 2)->mount_point, "/m");
}
END_TEST

/* Used by each data set: 100, 250, 40; what is free in "tank", 900, is free for both of its own. */
START_TEST(zfs_pools)
{
	fixture_write(&f, "proc/1/mountinfo",
	              "27 1 0:30 / /" OPTIONS "zfs tank/root rw\n"
	              "28 27 0:31 / /home" OPTIONS "zfs tank/home rw\n"
	              "29 27 0:32 / /other" OPTIONS "zfs tanker rw\n");
	set_answer("/", 0, 1000, 900, 900);
	set_answer("/home", 0, 1150, 900, 900);
	set_answer("/other", 0, 60, 20, 20);
	open_fake(0);
	ck_assert_int_eq(sampler_take(&s), 0);
	expect_total(1310, 390, 920, 920, 3);
	ck_assert_uint_eq(row_at(1, 3)->flags, RT_ITEM_IN_TOTAL);
	ck_assert_uint_eq(row_at(1, 3)->total_bytes, 1150);
}
END_TEST

START_TEST(memory_and_loop_are_no_storage)
{
	fixture_write(&f, "proc/1/mountinfo",
	              "27 1 7:0 / /snap" OPTIONS "squashfs /dev/loop0 ro\n"
	              "28 1 7:1 / /image" OPTIONS "ext4 /dev/loop1 rw\n"
	              "29 1 1:0 / /ram" OPTIONS "ext2 /dev/ram0 rw\n"
	              "30 1 252:0 / /zram" OPTIONS "ext4 /dev/zram0 rw\n"
	              "31 1 253:3 / /lv" OPTIONS "xfs /dev/mapper/vg-lv rw\n");
	set_answer("/snap", 0, 500, 0, 0);
	set_answer("/image", 0, 600, 1, 1);
	set_answer("/ram", 0, 700, 1, 1);
	set_answer("/zram", 0, 800, 1, 1);
	set_answer("/lv", 0, 10, 4, 3);
	open_fake(0);
	ck_assert_int_eq(sampler_take(&s), 0);
	expect_total(10, 6, 4, 3, 1);
	row_at(0, 5);
}
END_TEST

START_TEST(hidden_by_a_later_mount)
{
	fixture_write(&f, "proc/1/mountinfo",
	              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	              "28 27 8:3 / /mnt" OPTIONS "ext4 /dev/sda3 rw\n"
	              "29 28 8:4 / /mnt" OPTIONS "ext4 /dev/sda4 rw\n"
	              "30 27 8:5 / /a" OPTIONS "ext4 /dev/sda5 rw\n"
	              "31 27 8:5 / /b" OPTIONS "ext4 /dev/sda5 rw\n"
	              "32 30 0:50 / /a" OPTIONS "tmpfs none rw\n");
	set_answer("/", 0, 1000, 400, 350);
	set_answer("/mnt", 0, 70, 60, 50);
	set_answer("/a", 0, 9, 8, 7);
	set_answer("/b", 0, 300, 200, 100);
	open_fake(0);
	ck_assert_int_eq(sampler_take(&s), 0);
	expect_total(1370, 710, 660, 500, 3);
	ck_assert_uint_eq(row_at(1, 4)->minor, 4);
	ck_assert_str_eq(row_at(2, 4)->mount_point, "/b");
	ck_assert_str_eq(row_at(3, 4)->type, "tmpfs");
}
END_TEST

START_TEST(without_blocks)
{
	fixture_write(&f, "proc/1/mountinfo",
	              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	              "28 27 0:50 / /odd" OPTIONS "oddfs none rw\n"
	              "29 27 0:51 / /sys" OPTIONS "sysfs none rw\n");
	set_answer("/", 0, 1000, 400, 350);
	set_answer("/odd", 0, 0, 0, 0);
	set_answer("/sys", 0, 5, 5, 5);
	open_fake(0);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_str_eq(row_at(0, 1)->mount_point, "/");
	ck_assert_uint_eq(asked, 2);
}
END_TEST

#define REMOTE                                                                                     \
	"27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n28 27 0:50 / /net" OPTIONS                      \
	"nfs4 server:/export rw\n"                                                                 \
	"29 27 0:51 / /auto" OPTIONS "autofs systemd-1 rw\n30 27 0:52 / /fuse" OPTIONS             \
	"fuse.sshfs me@host: rw\n"

START_TEST(remote_ones_are_not_touched)
{
	fixture_write(&f, "proc/1/mountinfo", REMOTE);
	set_answer("/", 0, 1000, 400, 350);
	open_fake(0);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(asked, 1);
	row_at(0, 1);
}
END_TEST

START_TEST(remote_ones_when_asked_for)
{
	fixture_write(&f, "proc/1/mountinfo", REMOTE);
	set_answer("/", 0, 1000, 400, 350);
	set_answer("/net", 0, 77, 7, 6);
	set_answer("/fuse", 0, 88, 8, 8);
	open_fake(RT_OPT_NETWORK_FILESYSTEMS);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(asked, 3);
	expect_total(1000, 600, 400, 350, 1);
	ck_assert_uint_eq(row_at(1, 3)->flags, RT_ITEM_NETWORK);
	ck_assert_uint_eq(row_at(1, 3)->used_bytes, 70);
}
END_TEST

START_TEST(figures_are_of_this_sample)
{
	fixture_write(&f, "proc/1/mountinfo", "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n");
	open_fake(0);
	for (uint64_t i = 1; i <= 200; i++) {
		set_answer("/", 0, 1000 + i, i, i);
		ck_assert_int_eq(sampler_take(&s), 0);
		ck_assert_uint_eq(s.out.filesystem_total_bytes, 1000 + i);
		ck_assert_uint_eq(s.out.filesystem_free_bytes, i);
	}
}
END_TEST

START_TEST(mounts_come_and_go)
{
	open_fake(0);
	set_answer("/", 0, 1000, 400, 350);
	set_answer("/usb", 0, 50, 40, 30);
	for (int i = 0; i < 3; i++) {
		fixture_write(&f, "proc/1/mountinfo", "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n");
		ck_assert_int_eq(sampler_take(&s), 0);
		expect_total(1000, 600, 400, 350, 1);
		fixture_write(&f, "proc/1/mountinfo",
		              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
		              "28 1 8:17 / /usb" OPTIONS "vfat /dev/sdb1 rw\n");
		ck_assert_int_eq(sampler_take(&s), 0);
		expect_total(1050, 610, 440, 380, 2);
	}
}
END_TEST

START_TEST(refused)
{
	fixture_write(&f, "proc/1/mountinfo",
	              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	              "28 1 8:17 / /secret" OPTIONS "ext4 /dev/sdb1 rw\n"
	              "29 1 0:60 / /run/private" OPTIONS "tmpfs tmpfs rw\n");
	set_answer("/", 0, 1000, 400, 350);
	set_answer("/secret", 0, 50, 40, 30);
	set_answer("/run/private", -EACCES, 0, 0, 0);
	open_fake(0);
	/* of no matter to the total */
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.valid, FS);
	row_at(0, 2);
	/* missing in it */
	set_answer("/secret", -EACCES, 0, 0, 0);
	ck_assert_int_eq(sampler_take(&s), -EACCES);
	ck_assert_uint_eq(s.out.valid, 0);
	ck_assert_uint_eq(s.out.partial, FS);
	expect_total(1000, 600, 400, 350, 1);
	row_at(0, 1);
}
END_TEST

START_TEST(own_mountinfo_where_process_1_has_none)
{
	fixture_write(&f, "proc/self/mountinfo", "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n");
	set_answer("/", 0, 1000, 400, 350);
	open_fake(0);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.filesystem_total_bytes, 1000);
}
END_TEST

START_TEST(missing_and_garbage)
{
	size_t count;

	set_answer("/", 0, 1000, 400, 350);
	open_fake(0);
	ck_assert_int_eq(sampler_take(&s), -ENOENT);
	ck_assert_uint_eq(s.out.valid | s.out.partial, 0);
	fixture_write(&f, "proc/1/mountinfo", "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\nwhat\n");
	ck_assert_int_eq(sampler_take(&s), -EBADMSG);
	ck_assert_ptr_null(sampler_rows(&s, &count));
	fixture_write(&f, "proc/1/mountinfo", "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	fixture_write(&f, "proc/1/mountinfo", "what\n");
	ck_assert_int_eq(sampler_take(&s), -EBADMSG);
	ck_assert_uint_eq(s.out.valid | s.out.partial, 0);
	fixture_write(&f, "proc/1/mountinfo", "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.filesystem_total_bytes, 1000);
}
END_TEST

/* Hanging mounts. */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec;
}

#define THREE                                                                                      \
	"27 1 8:2 / /first" OPTIONS "ext4 /dev/sda2 rw\n28 1 8:3 / /dead" OPTIONS                  \
	"ext4 /dev/sda3 rw\n"                                                                      \
	"29 1 8:4 / /last" OPTIONS "ext4 /dev/sda4 rw\n"

static int gate[2];

static void make_three(const char *mountinfo)
{
	fixture_write(&f, "proc/1/mountinfo", mountinfo);
	set_answer("/first", 0, 1000, 400, 350);
	set_answer("/dead", 0, 300, 200, 100);
	set_answer("/last", 0, 50, 40, 30);
	ck_assert_int_eq(pipe(gate), 0);
}

static void take_until_whole(void)
{
	for (int i = 0; i < 500 && sampler_take(&s) < 0; i++)
		usleep(10000);
	ck_assert_uint_eq(s.out.valid, FS);
}

START_TEST(dead_from_the_start)
{
	const struct rt_filesystem *row;
	uint64_t start = now_ns();
	int before = threads_count_first();

	make_three(THREE);
	set_gate("/dead", gate[0]);
	open_fake(0);
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(sampler_take(&s), -ETIMEDOUT);
		ck_assert_uint_eq(s.out.valid, 0);
		ck_assert_uint_eq(s.out.partial, FS);
		ck_assert_uint_eq(s.out.filesystems_skipped, 1);
		expect_total(1050, 610, 440, 380, 2);
		row = row_at(1, 3);
		ck_assert_uint_eq(row->flags, RT_ITEM_STALLED);
		ck_assert_uint_eq(row->total_bytes, 0);
	}
	/* once 25 ms, then none: 20 samples that waited would take half a second at the least */
	ck_assert_uint_lt(now_ns() - start, 400 * MS);
	ck_assert_int_le(threads_count(), before + 2);
	set_gate("/dead", 0);
	ck_assert_int_eq(write(gate[1], "x", 1), 1);
	take_until_whole();
	expect_total(1350, 710, 640, 480, 3);
	ck_assert_uint_eq(s.out.filesystems_skipped, 0);
	ck_assert_uint_eq(row_at(1, 3)->flags, RT_ITEM_IN_TOTAL);
}
END_TEST

START_TEST(dead_later_on)
{
	const struct rt_filesystem *row;

	make_three(THREE);
	open_fake(0);
	ck_assert_int_eq(sampler_take(&s), 0);
	set_gate("/dead", gate[0]);
	for (int i = 0; i < 3; i++) {
		set_answer("/last", 0, 50, 40 - (uint64_t)i, 30);
		ck_assert_int_eq(sampler_take(&s), -ETIMEDOUT);
		row = row_at(1, 3);
		ck_assert_uint_eq(row->flags, RT_ITEM_STALLED);
		ck_assert_uint_eq(row->total_bytes, 300); /* its last ones */
		ck_assert_uint_eq(s.out.filesystem_free_bytes, 440 - (uint64_t)i);
	}
	ck_assert_int_eq(write(gate[1], "x", 1), 1);
	set_gate("/dead", 0);
	take_until_whole();
}
END_TEST

START_TEST(dead_network_spoils_no_total)
{
	make_three("27 1 8:2 / /first" OPTIONS "ext4 /dev/sda2 rw\n28 1 0:70 / /dead" OPTIONS
	           "nfs4 server:/x rw\n");
	set_gate("/dead", gate[0]);
	open_fake(RT_OPT_NETWORK_FILESYSTEMS);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.valid, FS);
	ck_assert_uint_eq(s.out.filesystems_skipped, 1);
	expect_total(1000, 600, 400, 350, 1);
	ck_assert_uint_eq(row_at(1, 2)->flags, RT_ITEM_NETWORK | RT_ITEM_STALLED);
	ck_assert_int_eq(write(gate[1], "x", 1), 1);
}
END_TEST

#define MANY_DEAD 10

/* However many are dead, the others are asked within a few samples, and the dead never again. */
START_TEST(many_dead)
{
	char mountinfo[2048];
	static char paths[MANY_DEAD][24];
	size_t len = 0;
	int before = threads_count_first();

	make_three("");
	for (int i = 0; i < MANY_DEAD; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/dead%d", i);
		set_answer(paths[i], 0, 1, 1, 1);
		set_gate(paths[i], gate[0]);
		len +=
		    (size_t)sprintf(mountinfo + len, "%d 1 9:%d / %s" OPTIONS "ext4 /dev/x%d rw\n",
		                    100 + i, i, paths[i], i);
	}
	sprintf(mountinfo + len, "29 1 8:4 / /last" OPTIONS "ext4 /dev/sda4 rw\n");
	fixture_write(&f, "proc/1/mountinfo", mountinfo);
	open_fake(0);
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(sampler_take(&s), -ETIMEDOUT);
	ck_assert_uint_eq(s.out.filesystems_skipped, MANY_DEAD);
	expect_total(50, 10, 40, 30, 1);
	ck_assert_int_le(threads_count(), before + MANY_DEAD + 1);
	for (int i = 0; i < MANY_DEAD; i++) {
		set_gate(paths[i], 0);
		ck_assert_int_eq(write(gate[1], "x", 1), 1);
	}
	take_until_whole();
	threads_await(before + 1);
}
END_TEST

START_TEST(closing_with_a_dead_one)
{
	uint64_t start;
	int before = threads_count_first();

	make_three(THREE);
	set_gate("/dead", gate[0]);
	open_fake(0);
	ck_assert_int_eq(sampler_take(&s), -ETIMEDOUT);
	start = now_ns();
	sampler_close(&s);
	ck_assert_uint_lt(now_ns() - start, 1000 * MS);
	ck_assert_int_eq(threads_count(), before + 1);
	ck_assert_int_eq(write(gate[1], "x", 1), 1);
	threads_await(before);
	set_gate("/dead", 0);
	open_fake(0);
}
END_TEST

START_TEST(unmounted_while_dead)
{
	make_three(THREE);
	set_gate("/dead", gate[0]);
	open_fake(0);
	ck_assert_int_eq(sampler_take(&s), -ETIMEDOUT);
	fixture_write(&f, "proc/1/mountinfo", "27 1 8:2 / /first" OPTIONS "ext4 /dev/sda2 rw\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	expect_total(1000, 600, 400, 350, 1);
	ck_assert_uint_eq(s.out.filesystems_skipped, 0);
	ck_assert_int_eq(write(gate[1], "x", 1), 1);
}
END_TEST

/* What changes elsewhere is no reason to ask it again, or to forget what it said. */
START_TEST(other_mounts_change_while_dead)
{
	const struct rt_filesystem *row;
	unsigned asked_before;

	make_three(THREE);
	open_fake(0);
	ck_assert_int_eq(sampler_take(&s), 0);
	set_gate("/dead", gate[0]);
	ck_assert_int_eq(sampler_take(&s), -ETIMEDOUT);
	asked_before = asked;
	fixture_write(&f, "proc/1/mountinfo",
	              "28 1 8:3 / /dead" OPTIONS "ext4 /dev/sda3 rw\n"
	              "29 1 8:4 / /last" OPTIONS "ext4 /dev/sda4 rw\n");
	ck_assert_int_eq(sampler_take(&s), -ETIMEDOUT);
	ck_assert_uint_eq(asked, asked_before + 1);
	row = row_at(0, 2);
	ck_assert_uint_eq(row->flags, RT_ITEM_STALLED);
	ck_assert_uint_eq(row->total_bytes, 300);
	set_gate("/dead", 0);
	ck_assert_int_eq(write(gate[1], "x", 1), 1);
	take_until_whole();
	expect_total(350, 110, 240, 130, 2);
}
END_TEST

static int sample_in_child(void)
{
	for (int i = 0; i < 3; i++) {
		s.out = (struct rt_metrics){ 0 };
		if (rti_sys_fs.collect(s.state, &s.ctx, &s.out) != 0 ||
		    s.out.filesystem_total_bytes != 1350)
			return 1;
	}
	rti_sys_fs.close(s.state, &s.ctx);
	return 0;
}

START_TEST(after_fork)
{
	int status;
	pid_t pid;

	make_three(THREE);
	open_fake(0);
	ck_assert_int_eq(sampler_take(&s), 0);
	set_gate("/dead", gate[0]);
	ck_assert_int_eq(sampler_take(&s), -ETIMEDOUT);
	set_gate("/dead", 0);
	pid = fork();
	if (pid == 0)
		_exit(sample_in_child());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(write(gate[1], "x", 1), 1);
	take_until_whole();
	expect_total(1350, 710, 640, 480, 3);
}
END_TEST

/* This machine. */

static const struct rt_filesystem *row_of(const struct sampler *live, const char *path)
{
	size_t count;
	const struct rt_filesystem *row = sampler_rows(live, &count);
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	for (size_t i = 0; i < count; i++)
		if (makedev(row[i].major, row[i].minor) == st.st_dev)
			return &row[i];
	return NULL;
}

struct range {
	uint64_t least, most;
};

static void stretch(struct range *range, uint64_t bytes)
{
	if (bytes < range->least)
		range->least = bytes;
	if (bytes > range->most)
		range->most = bytes;
}

static int is_within(const struct range *range, uint64_t bytes)
{
	return range->least <= bytes && bytes <= range->most;
}

/* Others write meanwhile: what was free is one of the things that it has been. */
START_TEST(live_root_as_statvfs_has_it)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct range bytes_free = { UINT64_MAX, 0 }, available = { UINT64_MAX, 0 };
	const struct rt_filesystem *row = NULL;
	struct statvfs space;
	struct sampler live;
	int agreed = 0;

	sampler_open(&live, &rti_sys_fs, NULL);
	for (int i = 0; i < 2000 && !agreed; i++) {
		ck_assert_int_eq(statvfs("/", &space), 0);
		stretch(&bytes_free, (uint64_t)space.f_bfree * space.f_frsize);
		stretch(&available, (uint64_t)space.f_bavail * space.f_frsize);
		ck_assert_int_le(sampler_take(&live), 0);
		row = row_of(&live, "/");
		if (!row)
			break; /* such as btrfs, whose files have device numbers of their own */
		ck_assert_uint_eq(row->total_bytes, (uint64_t)space.f_blocks * space.f_frsize);
		agreed = is_within(&bytes_free, row->free_bytes) &&
		         is_within(&available, row->available_bytes);
		nanosleep(&nap, NULL);
	}
	ck_assert(agreed || !row);
	sampler_close(&live);
}
END_TEST

START_TEST(live_no_device_twice)
{
	const struct rt_filesystem *row;
	struct sampler live;
	size_t count;

	sampler_open(&live, &rti_sys_fs, NULL);
	sampler_take(&live);
	row = sampler_rows(&live, &count);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_gt(row[i].total_bytes, 0);
		for (size_t j = 0; j < i; j++)
			ck_assert(row[i].major != row[j].major || row[i].minor != row[j].minor);
	}
	sampler_close(&live);
}
END_TEST

/* A mount of our own in a mount namespace of our own: seen when it comes and when it goes. */
static int mount_in_namespace(const char *where)
{
	const struct rt_filesystem *row;
	struct sampler live;

	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0)
		return 77;
	sampler_open(&live, &rti_sys_fs, NULL);
	sampler_take(&live);
	sampler_take(&live);
	if (mount("ours", where, "tmpfs", 0, "size=1M") < 0)
		return 77;
	sampler_take(&live);
	row = row_of(&live, where);
	if (!row || row->total_bytes != 1 << 20 || strcmp(row->source, "ours") != 0 ||
	    strcmp(row->mount_point, where) != 0)
		return 1;
	if (umount(where) < 0)
		return 2;
	sampler_take(&live);
	row = row_of(&live, where);
	if (row && strcmp(row->source, "ours") == 0)
		return 3;
	sampler_close(&live);
	return 0;
}

START_TEST(live_mounts_are_noticed)
{
	struct fixture place;
	int status;
	pid_t pid;

	fixture_new(&place);
	pid = fork();
	if (pid == 0)
		_exit(mount_in_namespace(place.root));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	fixture_free(&place);
	ck_assert(WIFEXITED(status));
	ck_assert(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77); /* 77: not allowed here */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_fs");
	TCase *choice = suite_case(suite, "choice"), *changes = suite_case(suite, "changes");
	TCase *hang = suite_case(suite, "hang"), *live = suite_case(suite, "live");

	tcase_add_checked_fixture(choice, set_up, tear_down);
	tcase_add_test(choice, golden);
	tcase_add_test(choice, escaped_paths);
	tcase_add_test(choice, each_superblock_once);
	tcase_add_test(choice, hidden_below_a_later_mount);
	tcase_add_test(choice, zfs_pools);
	tcase_add_test(choice, memory_and_loop_are_no_storage);
	tcase_add_test(choice, hidden_by_a_later_mount);
	tcase_add_test(choice, without_blocks);
	tcase_add_test(choice, remote_ones_are_not_touched);
	tcase_add_test(choice, remote_ones_when_asked_for);
	tcase_add_checked_fixture(changes, set_up, tear_down);
	tcase_add_test(changes, figures_are_of_this_sample);
	tcase_add_test(changes, mounts_come_and_go);
	tcase_add_test(changes, refused);
	tcase_add_test(changes, own_mountinfo_where_process_1_has_none);
	tcase_add_test(changes, missing_and_garbage);
	tcase_add_checked_fixture(hang, set_up, tear_down);
	tcase_add_test(hang, dead_from_the_start);
	tcase_add_test(hang, dead_later_on);
	tcase_add_test(hang, dead_network_spoils_no_total);
	tcase_add_test(hang, many_dead);
	tcase_add_test(hang, closing_with_a_dead_one);
	tcase_add_test(hang, unmounted_while_dead);
	tcase_add_test(hang, other_mounts_change_while_dead);
	if (!IS_THREAD_SANITIZED)
		tcase_add_test(hang, after_fork);
	tcase_add_test(live, live_root_as_statvfs_has_it);
	tcase_add_test(live, live_no_device_twice);
	tcase_add_test(live, live_mounts_are_noticed);
	return suite_run(suite);
}
