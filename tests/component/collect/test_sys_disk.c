/* SPDX-License-Identifier: MIT */
/* The disk collector: /proc/diskstats and sysfs of fixtures, and the running system. */
#include "collect/collector.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "sampler.h"
#include "suite.h"

extern const struct rti_sys_collector rti_sys_disk;

static struct fixture f;
static struct sampler s;

static void set_up(void)
{
	fixture_new(&f);
	sampler_open(&s, &rti_sys_disk, f.root);
}

static void tear_down(void)
{
	sampler_close(&s);
	fixture_free(&f);
}

static void make_dir(const char *name, const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), "sys/class/block/%s/%s", name, file);
	fixture_mkdir(&f, path);
}

static void make_disk(const char *name)
{
	make_dir(name, "device");
	make_dir(name, "slaves");
}

static void make_partition(const char *name)
{
	make_dir(name, "partition");
}

/* Built on another device, or on none if slave is NULL. */
static void make_virtual(const char *name, const char *slave)
{
	char path[128];

	make_dir(name, "slaves");
	if (!slave)
		return;
	snprintf(path, sizeof(path), "sys/class/block/%s/slaves/%s", name, slave);
	fixture_link(&f, path, "../..");
}

static const struct rt_disk *find_row(const char *name)
{
	size_t count;
	const struct rt_disk *row = sampler_rows(&s, &count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(row[i].name, name) == 0)
			return &row[i];
	ck_abort_msg("no row for %s", name);
	return NULL;
}

static void expect_flags(const char *name, uint32_t flags)
{
	ck_assert_msg(find_row(name)->flags == flags, "%s has flags %u and not %u", name,
	              find_row(name)->flags, flags);
}

/* One line of each length that kernels have written. */
START_TEST(diskstats_with_lines_of_all_lengths_yields_all_figures)
{
	const struct rt_disk *row;
	size_t count;

	make_disk("sda");
	make_partition("sda1");
	make_disk("nvme0n10");
	make_partition("nvme0n10p1");
	fixture_write(&f, "proc/diskstats",
	              "   8       0 sda 100 1 2000 3 40 5 600 7 8 9000 10\n"
	              "   8       1 sda1 90 1900 35 500\n"
	              " 259       0 nvme0n10 11 0 22 0 33 0 44 0 1 55 0 0 0 0 0 66 77\n"
	              " 259       1 nvme0n10p1 1 0 2 0 3 0 4 0 0 5 0 0 0 0 0\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.valid, RT_HAS_DISK);
	ck_assert_uint_eq(s.out.disks, 2);
	ck_assert_uint_eq(s.out.disk_read_bytes, 2022 * 512);
	ck_assert_uint_eq(s.out.disk_write_bytes, 644 * 512);
	ck_assert_uint_eq(s.out.disk_reads, 111);
	ck_assert_uint_eq(s.out.disk_writes, 73);
	ck_assert_uint_eq(s.out.disk_busy_ns, UINT64_C(9055000000));

	sampler_rows(&s, &count);
	ck_assert_uint_eq(count, 4);

	row = find_row("sda");
	ck_assert_uint_eq(row->size, sizeof(*row));
	ck_assert_uint_eq(row->flags, RT_ITEM_IN_TOTAL);
	ck_assert_uint_eq(row->major, 8);
	ck_assert_uint_eq(row->minor, 0);
	ck_assert_uint_eq(row->read_bytes, 2000 * 512);
	ck_assert_uint_eq(row->write_bytes, 600 * 512);
	ck_assert_uint_eq(row->reads, 100);
	ck_assert_uint_eq(row->writes, 40);
	ck_assert_uint_eq(row->busy_ns, UINT64_C(9000000000));
	ck_assert_uint_eq(row->in_flight, 8);

	row = find_row("sda1");
	ck_assert_uint_eq(row->flags, RT_ITEM_PARTITION);
	ck_assert_uint_eq(row->reads, 90);
	ck_assert_uint_eq(row->read_bytes, 1900 * 512);
	ck_assert_uint_eq(row->writes, 35);
	ck_assert_uint_eq(row->write_bytes, 500 * 512);
	ck_assert_uint_eq(find_row("nvme0n10")->in_flight, 1);
}
END_TEST

/* The kernel counts sectors of 512 bytes, whatever sector size the disk reports. */
START_TEST(disk_with_4k_sectors_counts_units_of_512_bytes)
{
	make_disk("sda");
	fixture_write(&f, "sys/class/block/sda/queue/hw_sector_size", "4096\n");
	fixture_write(&f, "sys/class/block/sda/queue/logical_block_size", "4096\n");
	fixture_write(&f, "proc/diskstats", "8 0 sda 1 0 8 0 1 0 16 0 0 0 0\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.disk_read_bytes, 4096);
	ck_assert_uint_eq(s.out.disk_write_bytes, 8192);
}
END_TEST

#define FIGURES " 1 0 10 0 1 0 20 0 0 0 0\n"

START_TEST(stacked_devices_count_each_byte_once)
{
	make_disk("vda");
	make_partition("vda1");
	make_disk("sdb");
	make_disk("cciss!c0d0");
	make_virtual("dm-0", "vda1");
	make_virtual("md127", "sdb");
	make_partition("md127p1");
	make_virtual("loop0", NULL);
	make_virtual("ram0", NULL);
	make_virtual("zram0", NULL);
	make_virtual("nbd0", NULL);
	make_virtual("odd!d0", "sdb"); /* by its name alone it would be a real disk */
	make_disk("bcache0");
	fixture_link(&f, "sys/class/block/bcache0/slaves/sdb", "../..");
	fixture_write(&f, "proc/diskstats",
	              "254 0 vda" FIGURES "254 1 vda1" FIGURES "8 16 sdb" FIGURES
	              "104 0 cciss/c0d0" FIGURES "253 0 dm-0" FIGURES "9 127 md127" FIGURES
	              "259 0 md127p1" FIGURES "7 0 loop0" FIGURES "1 0 ram0" FIGURES
	              "252 0 zram0" FIGURES "43 0 nbd0" FIGURES "251 0 bcache0" FIGURES
	              "240 0 odd/d0" FIGURES);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.disks, 3);
	ck_assert_uint_eq(s.out.disk_read_bytes, 3 * 5120);
	expect_flags("vda", RT_ITEM_IN_TOTAL);
	expect_flags("vda1", RT_ITEM_PARTITION);
	expect_flags("sdb", RT_ITEM_IN_TOTAL);
	expect_flags("cciss/c0d0", RT_ITEM_IN_TOTAL);
	expect_flags("odd/d0", RT_ITEM_VIRTUAL);
	expect_flags("dm-0", RT_ITEM_VIRTUAL);
	expect_flags("md127", RT_ITEM_VIRTUAL);
	expect_flags("md127p1", RT_ITEM_PARTITION);
	expect_flags("loop0", RT_ITEM_VIRTUAL);
	expect_flags("ram0", RT_ITEM_VIRTUAL);
	expect_flags("zram0", RT_ITEM_VIRTUAL);
	expect_flags("nbd0", RT_ITEM_VIRTUAL);
	expect_flags("bcache0", 0);
}
END_TEST

START_TEST(system_without_real_disk_counts_its_base_device)
{
	make_virtual("nbd0", NULL);
	make_partition("nbd0p1");
	make_virtual("dm-0", "nbd0");
	make_virtual("loop0", NULL);
	make_virtual("zram0", NULL);
	fixture_write(&f, "proc/diskstats",
	              "43 0 nbd0" FIGURES "43 1 nbd0p1" FIGURES "253 0 dm-0" FIGURES
	              "7 0 loop0" FIGURES "252 0 zram0" FIGURES);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.disks, 1);
	ck_assert_uint_eq(s.out.disk_read_bytes, 5120);
	expect_flags("nbd0", RT_ITEM_VIRTUAL | RT_ITEM_IN_TOTAL);
}
END_TEST

START_TEST(devices_without_sysfs_are_classified_by_name)
{
	fixture_remove(&f, "sys");
	fixture_write(&f, "proc/diskstats",
	              "8 0 sda" FIGURES "8 1 sda1" FIGURES "8 416 sdaa" FIGURES
	              "8 417 sdaa1" FIGURES "259 0 nvme0n1" FIGURES "259 1 nvme0n1p1" FIGURES
	              "259 2 nvme0n10" FIGURES "202 1 xvda1" FIGURES "179 0 mmcblk1" FIGURES
	              "179 1 mmcblk1p2" FIGURES "179 8 mmcblk10" FIGURES "7 0 loop0" FIGURES
	              "9 0 md0" FIGURES "259 3 md0p1" FIGURES "253 0 dm-0" FIGURES "9 1 md-" FIGURES
	              "259 4 md-1" FIGURES);
	ck_assert_int_eq(sampler_take(&s), 0);
	expect_flags("sda", RT_ITEM_IN_TOTAL);
	expect_flags("sda1", RT_ITEM_PARTITION);
	expect_flags("sdaa", RT_ITEM_IN_TOTAL);
	expect_flags("sdaa1", RT_ITEM_PARTITION);
	expect_flags("nvme0n1", RT_ITEM_IN_TOTAL);
	expect_flags("nvme0n1p1", RT_ITEM_PARTITION);
	expect_flags("nvme0n10", RT_ITEM_IN_TOTAL);
	expect_flags("xvda1", RT_ITEM_IN_TOTAL);
	expect_flags("mmcblk1", RT_ITEM_IN_TOTAL);
	expect_flags("mmcblk1p2", RT_ITEM_PARTITION);
	expect_flags("mmcblk10", RT_ITEM_IN_TOTAL);
	expect_flags("loop0", RT_ITEM_VIRTUAL);
	expect_flags("md0", RT_ITEM_VIRTUAL);
	expect_flags("md0p1", RT_ITEM_PARTITION);
	expect_flags("dm-0", RT_ITEM_VIRTUAL);
	expect_flags("md-", RT_ITEM_VIRTUAL);
	expect_flags("md-1", RT_ITEM_PARTITION);
	ck_assert_uint_eq(s.out.disks, 7);
	ck_assert_uint_eq(s.out.disk_write_bytes, UINT64_C(7) * 20 * 512);
}
END_TEST

/* The paths always have counters. The multipath device has them only on newer kernels. */
START_TEST(nvme_multipath_device_counts_its_paths_only)
{
	make_dir("nvme0n1", "slaves");
	fixture_link(&f, "sys/class/block/nvme0n1/device", "../../nvme-subsys0");
	fixture_mkdir(&f, "sys/class/nvme-subsys0");
	make_disk("nvme0c0n1");
	make_disk("nvme0c1n1");
	fixture_write(&f, "proc/diskstats",
	              "259 0 nvme0n1 2 0 30 0 0 0 0 0 0 0 0\n"
	              "259 1 nvme0c0n1 1 0 10 0 0 0 0 0 0 0 0\n"
	              "259 2 nvme0c1n1 1 0 20 0 0 0 0 0 0 0 0\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.disk_read_bytes, 30 * 512);
	ck_assert_uint_eq(s.out.disks, 2);
	expect_flags("nvme0n1", 0);
}
END_TEST

/* Names that are nearly those of a path. */
static const char *const near_paths[] = { "nvme",     "nvmex",     "nvme0",    "nvme0n2",
	                                  "nvme0c",   "nvme0cx",   "nvme0c1",  "nvme0c1p",
	                                  "nvme0c1n", "nvme0c1nx", "nvmec1n2", "nvme0cn2",
	                                  "0c1n2" };

START_TEST(nvme_device_that_is_no_path_does_not_replace_the_multipath_device)
{
	make_dir("nvme0n1", "slaves");
	fixture_mkdir(&f, "sys/class/nvme-subsys0");
	fixture_link(&f, "sys/class/block/nvme0n1/device", "../../nvme-subsys0");
	make_disk(near_paths[_i]);
	fixture_printf(&f, "proc/diskstats",
	               "259 0 nvme0n1 2 0 30 0 0 0 0 0 0 0 0\n"
	               "259 1 %s 1 0 10 0 0 0 0 0 0 0 0\n",
	               near_paths[_i]);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.disk_read_bytes, 40 * 512);
	expect_flags("nvme0n1", RT_ITEM_IN_TOTAL);
}
END_TEST

START_TEST(nvme_multipath_device_without_listed_paths_counts_itself)
{
	make_dir("nvme0n1", "slaves");
	fixture_mkdir(&f, "sys/class/nvme-subsys0");
	fixture_link(&f, "sys/class/block/nvme0n1/device", "../../nvme-subsys0");
	fixture_write(&f, "proc/diskstats", "259 0 nvme0n1 2 0 30 0 0 0 0 0 0 0 0\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.disk_read_bytes, 30 * 512);
	expect_flags("nvme0n1", RT_ITEM_IN_TOTAL);
}
END_TEST

/* Counted here, since the call has no argument for it. */
static unsigned lookups;

static int count_access(int dirfd, const char *path)
{
	lookups++;
	return rti_procfs_linux.access(dirfd, path);
}

START_TEST(sysfs_is_read_for_new_devices_only)
{
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct sampler counted;
	unsigned first;

	make_disk("sda");
	make_disk("sdb");
	fixture_write(&f, "proc/diskstats", "8 0 sda" FIGURES);
	ops.access = count_access;
	ops.open_in_root = NULL;
	lookups = 0;
	ck_assert_int_eq(sampler_open_with(&counted, &rti_sys_disk, f.root, &ops, 0), 0);
	ck_assert_int_eq(sampler_take(&counted), 0);

	first = lookups;
	ck_assert_uint_gt(first, 0);
	ck_assert_int_eq(sampler_take(&counted), 0);
	ck_assert_uint_eq(lookups, first);

	fixture_write(&f, "proc/diskstats", "8 0 sda" FIGURES "8 16 sdb" FIGURES);
	ck_assert_int_eq(sampler_take(&counted), -ENODEV);
	ck_assert_uint_gt(lookups, first);
	ck_assert_uint_eq(counted.out.disks, 2);
	sampler_close(&counted);
}
END_TEST

static int fail_access(int dirfd, const char *path)
{
	(void)dirfd;
	(void)path;
	return -EBUSY;
}

START_TEST(sysfs_that_fails_with_ebusy_falls_back_to_names)
{
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct sampler busy;

	fixture_write(&f, "proc/diskstats", "8 0 sda" FIGURES "8 1 sda1" FIGURES);
	ops.access = fail_access;
	ck_assert_int_eq(sampler_open_with(&busy, &rti_sys_disk, f.root, &ops, 0), 0);
	ck_assert_int_eq(sampler_take(&busy), 0);
	ck_assert_uint_eq(busy.out.disks, 1);
	ck_assert_uint_eq(busy.out.disk_read_bytes, 5120);
	sampler_close(&busy);
}
END_TEST

START_TEST(diskstats_of_nul_bytes_fails_and_recovers)
{
	static const char nothing[4096];
	size_t count;

	make_disk("sda");
	fixture_write_bytes(&f, "proc/diskstats", nothing, sizeof(nothing));
	ck_assert_int_eq(sampler_take(&s), -EBADMSG);
	ck_assert_uint_eq(s.out.valid, 0);
	ck_assert_ptr_null(sampler_rows(&s, &count));

	fixture_write(&f, "proc/diskstats", "8 0 sda" FIGURES);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.disk_read_bytes, 5120);
}
END_TEST

/* After a failed read, the next one counts nothing twice. */
START_TEST(malformed_read_between_two_counts_nothing_twice)
{
	make_disk("sda");
	fixture_write(&f, "proc/diskstats", "8 0 sda 1 0 100 0 0 0 0 0 0 0 0\n");
	ck_assert_int_eq(sampler_take(&s), 0);

	fixture_write(&f, "proc/diskstats", "8 0 sda 1 0 150 0 0 0 0 0 0 0 0\n8 16 sdb torn\n");
	ck_assert_int_eq(sampler_take(&s), -EBADMSG);

	fixture_write(&f, "proc/diskstats", "8 0 sda 1 0 170 0 0 0 0 0 0 0 0\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.disk_read_bytes, 170 * 512);
}
END_TEST

START_TEST(diskstats_missing_fails_with_enoent)
{
	ck_assert_int_eq(sampler_take(&s), -ENOENT);
	ck_assert_uint_eq(s.out.valid, 0);
}
END_TEST

START_TEST(diskstats_empty_yields_no_disk)
{
	fixture_write(&f, "proc/diskstats", "");
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.valid, RT_HAS_DISK);
	ck_assert_uint_eq(s.out.disks, 0);
}
END_TEST

/* Reads the same figures from /sys/class/block/NAME/stat. */
static bool read_stat(const char *name, uint64_t *read_bytes, uint64_t *write_bytes)
{
	char path[300];
	FILE *file;
	int found;

	snprintf(path, sizeof(path), "/sys/class/block/%s/stat", name);
	file = fopen(path, "re");
	if (!file)
		return false;
	found = fscanf(file, "%*u %*u %" SCNu64 " %*u %*u %*u %" SCNu64, read_bytes, write_bytes);
	fclose(file);
	*read_bytes *= 512;
	*write_bytes *= 512;
	return found == 2;
}

START_TEST(live_disks_match_sysfs)
{
	struct sampler live;
	const struct rt_disk *row;
	uint64_t(*before)[2];
	size_t count, again;

	sampler_open(&live, &rti_sys_disk, NULL);
	ck_assert_int_eq(sampler_take(&live), 0);

	row = sampler_rows(&live, &count);
	before = calloc(count + 1, sizeof(*before));
	for (size_t i = 0; i < count; i++)
		ck_assert(read_stat(row[i].name, &before[i][0], &before[i][1]));
	ck_assert_int_eq(sampler_take(&live), 0);

	row = sampler_rows(&live, &again);
	ck_assert_uint_eq(count, again);
	for (size_t i = 0; i < count; i++) {
		uint64_t read_bytes, write_bytes;

		ck_assert(read_stat(row[i].name, &read_bytes, &write_bytes));
		ck_assert_uint_ge(row[i].read_bytes, before[i][0]);
		ck_assert_uint_ge(row[i].write_bytes, before[i][1]);
		ck_assert_uint_le(row[i].read_bytes, read_bytes);
		ck_assert_uint_le(row[i].write_bytes, write_bytes);
	}

	free(before);
	sampler_close(&live);
}
END_TEST

/* Makes the same choice by walking /sys. */
static uint64_t count_real_disks(void)
{
	DIR *dir = opendir("/sys/block"); /* no partitions */
	uint64_t count = 0;

	ck_assert_ptr_nonnull(dir);
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		char path[300];

		snprintf(path, sizeof(path), "/sys/block/%s/device", entry->d_name);
		count += entry->d_name[0] != '.' && access(path, F_OK) == 0;
	}
	closedir(dir);
	return count;
}

START_TEST(live_total_covers_the_real_disks)
{
	struct sampler live;
	uint64_t real = count_real_disks();

	sampler_open(&live, &rti_sys_disk, NULL);
	ck_assert_int_eq(sampler_take(&live), 0);
	if (real > 0)
		ck_assert_uint_eq(live.out.disks, real);
	sampler_close(&live);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_disk");
	TCase *figures = suite_case(suite, "figures"), *total = suite_case(suite, "total");
	TCase *changes = suite_case(suite, "changes"), *failures = suite_case(suite, "failures");
	TCase *live = suite_case(suite, "live");

	tcase_add_checked_fixture(figures, set_up, tear_down);
	tcase_add_test(figures, diskstats_with_lines_of_all_lengths_yields_all_figures);
	tcase_add_test(figures, disk_with_4k_sectors_counts_units_of_512_bytes);
	tcase_add_checked_fixture(total, set_up, tear_down);
	tcase_add_test(total, stacked_devices_count_each_byte_once);
	tcase_add_test(total, system_without_real_disk_counts_its_base_device);
	tcase_add_test(total, devices_without_sysfs_are_classified_by_name);
	tcase_add_test(total, nvme_multipath_device_counts_its_paths_only);
	tcase_add_loop_test(total,
	                    nvme_device_that_is_no_path_does_not_replace_the_multipath_device, 0,
	                    sizeof(near_paths) / sizeof(near_paths[0]));
	tcase_add_test(total, nvme_multipath_device_without_listed_paths_counts_itself);
	tcase_add_checked_fixture(changes, set_up, tear_down);
	tcase_add_test(changes, sysfs_is_read_for_new_devices_only);
	tcase_add_checked_fixture(failures, set_up, tear_down);
	tcase_add_test(failures, sysfs_that_fails_with_ebusy_falls_back_to_names);
	tcase_add_test(failures, diskstats_of_nul_bytes_fails_and_recovers);
	tcase_add_test(failures, malformed_read_between_two_counts_nothing_twice);
	tcase_add_test(failures, diskstats_missing_fails_with_enoent);
	tcase_add_test(failures, diskstats_empty_yields_no_disk);
	tcase_add_test(live, live_disks_match_sysfs);
	tcase_add_test(live, live_total_covers_the_real_disks);
	return suite_run(suite);
}
