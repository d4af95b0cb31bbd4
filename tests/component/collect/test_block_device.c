/* SPDX-License-Identifier: MIT */
/* What sysfs says of block devices: a fixture, and the running system. */
#include "collect/block_device.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "faults.h"
#include "fixture.h"
#include "suite.h"

static struct fixture f;
static struct rti_procfs procfs;

static void set_up(void)
{
	fixture_new(&f);
	ck_assert_int_eq(rti_procfs_open(&procfs, f.root, &faults_ops), 0);
}

static void tear_down(void)
{
	rti_procfs_close(&procfs);
	fixture_free(&f);
}

static void make_device(const char *name, const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), "sys/class/block/%s/%s", name, file);
	fixture_write(&f, path, "1\n");
}

START_TEST(devices_of_all_kinds_are_classified_by_sysfs)
{
	static const char *const partitions[] = { "sda1",      "sdaa1", "nvme0n1p1", "nvme0n10p12",
		                                  "mmcblk0p1", "md0p1", "nbd0p1",    "loop0p1" };
	static const char *const disks[] = { "sda",     "sdaa",     "nvme0n1", "nvme0n10",
		                             "mmcblk0", "mmcblk10", "md0",     "dm-1",
		                             "xvda1",   "vda1",     "loop0",   "zram0" };

	for (size_t i = 0; i < sizeof(partitions) / sizeof(partitions[0]); i++) {
		make_device(partitions[i], "partition");
		ck_assert_int_eq(rti_block_device_is_partition(&procfs, partitions[i]), 1);
	}
	for (size_t i = 0; i < sizeof(disks) / sizeof(disks[0]); i++) {
		make_device(disks[i], "size");
		ck_assert_int_eq(rti_block_device_is_partition(&procfs, disks[i]), 0);
	}
}
END_TEST

/* A Xen machine may have the partition xvda1 as a disk of its own: the name does not show it. */
START_TEST(device_of_same_name_is_what_sysfs_says)
{
	make_device("vda1", "partition");
	ck_assert_int_eq(rti_block_device_is_partition(&procfs, "vda1"), 1);
	fixture_remove(&f, "sys/class/block/vda1/partition");
	ck_assert_int_eq(rti_block_device_is_partition(&procfs, "vda1"), 0);
}
END_TEST

START_TEST(device_that_does_not_exist_is_enodev)
{
	make_device("sda", "size");
	ck_assert_int_eq(rti_block_device_is_partition(&procfs, "sda1"), -ENODEV);
	ck_assert_int_eq(rti_block_device_is_partition(&procfs, "sd"), -ENODEV);
}
END_TEST

START_TEST(missing_or_refused_sysfs_is_no_answer)
{
	ck_assert_int_eq(rti_block_device_is_partition(&procfs, "sda1"), -ENOENT);
	rti_procfs_close(&procfs);
	fixture_remove(&f, "sys");
	ck_assert_int_eq(rti_procfs_open(&procfs, f.root, &faults_ops), 0);
	ck_assert_int_eq(rti_block_device_is_partition(&procfs, "sda1"), -ENOENT);
}
END_TEST

static int refuse_partition(int dirfd, const char *path)
{
	return strstr(path, "/partition") ? -EACCES : rti_procfs_linux.access(dirfd, path);
}

START_TEST(device_that_sysfs_refuses_is_no_answer)
{
	struct rti_procfs_ops ops = faults_ops;

	ops.access = refuse_partition;
	make_device("sda", "size");
	procfs.ops = &ops;
	ck_assert_int_eq(rti_block_device_is_partition(&procfs, "sda"), -EACCES);
	procfs.ops = &faults_ops;
}
END_TEST

/* /sys/block lists all block devices except partitions. */
START_TEST(live_devices_agree_with_sys_block)
{
	DIR *all = opendir("/sys/class/block");
	unsigned seen = 0;

	if (!all) {
		suite_skip_test("no /sys/class/block here");
		return;
	}
	for (struct dirent *entry = readdir(all); entry; entry = readdir(all)) {
		char path[300];
		FILE *whole;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/block/%s/size", entry->d_name);
		whole = fopen(path, "re");
		ck_assert_int_eq(rt_is_partition(entry->d_name), whole ? 0 : 1);
		if (whole)
			fclose(whole);
		seen++;
	}
	closedir(all);
	if (seen > 0)
		ck_assert_int_eq(rt_is_partition("no-such-device"), -ENODEV);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("block_device");
	TCase *fixture = suite_case(suite, "fixture"), *live = suite_case(suite, "live");

	tcase_add_checked_fixture(fixture, set_up, tear_down);
	tcase_add_test(fixture, devices_of_all_kinds_are_classified_by_sysfs);
	tcase_add_test(fixture, device_of_same_name_is_what_sysfs_says);
	tcase_add_test(fixture, device_that_does_not_exist_is_enodev);
	tcase_add_test(fixture, missing_or_refused_sysfs_is_no_answer);
	tcase_add_test(fixture, device_that_sysfs_refuses_is_no_answer);
	tcase_add_test(live, live_devices_agree_with_sys_block);
	return suite_run(suite);
}
