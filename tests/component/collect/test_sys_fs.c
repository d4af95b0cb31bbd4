/* SPDX-License-Identifier: MIT */
/* The file system collector: which mounts have a row, which are in the total, and what changes
 * do. */
#include "fs_fixture.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

START_TEST(storage_and_virtual_mounts_yield_all_figures)
{
	const struct rt_filesystem *row;

	fixture_write(&fs.root, "proc/1/mountinfo",
	              "22 27 0:21 / /proc" OPTIONS "proc proc rw\n"
	              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	              "28 27 8:1 / /boot" OPTIONS "vfat /dev/sda1 rw\n"
	              "29 27 0:30 / /tmp" OPTIONS "tmpfs tmpfs rw\n"
	              "30 27 0:31 / /merged" OPTIONS "overlay overlay rw\n");
	fs_set_answer("/", 0, 1000, 400, 350);
	fs_set_answer("/boot", 0, 100, 90, 90);
	fs_set_answer("/tmp", 0, 7000, 6000, 6000);
	fs_set_answer("/merged", 0, 1000, 400, 350);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	ck_assert_uint_eq(fs.sampler.out.valid, RT_HAS_FILESYSTEM);
	ck_assert_uint_eq(fs.sampler.out.partial, 0);

	fs_expect_total(1100, 610, 490, 440, 2);
	ck_assert_uint_eq(fs.sampler.out.filesystems_skipped, 0);

	row = fs_get_row(0, 4);
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
	ck_assert_str_eq(fs_get_row(2, 4)->type, "tmpfs");
	ck_assert_uint_eq(fs_get_row(2, 4)->flags, 0);
	ck_assert_str_eq(fs_get_row(3, 4)->type, "overlay");
	ck_assert_uint_eq(fs_get_row(3, 4)->flags, 0);
}
END_TEST

START_TEST(mount_point_with_escapes_is_decoded)
{
	fixture_write(&fs.root, "proc/1/mountinfo",
	              "27 1 8:2 / /my\\040disk\\134\\012" OPTIONS "ext4 /dev/sda\\0402 rw\n");
	fs_set_answer("/my disk\\\n", 0, 1000, 400, 350);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	ck_assert_str_eq(fs_get_row(0, 1)->mount_point, "/my disk\\\n");
	ck_assert_str_eq(fs_get_row(0, 1)->source, "/dev/sda 2");
	ck_assert_uint_eq(fs.sampler.out.filesystem_total_bytes, 1000);
}
END_TEST

START_TEST(filesystem_mounted_twice_is_counted_once)
{
	fixture_write(&fs.root, "proc/1/mountinfo",
	              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	              "28 27 8:2 /srv /bind" OPTIONS "ext4 /dev/sda2 rw\n"
	              "29 27 0:40 /@ /data" OPTIONS "btrfs /dev/sdb rw\n"
	              "30 27 0:41 /@home /data/home" OPTIONS "btrfs /dev/sdb rw\n"
	              "31 27 0:42 /@ /more" OPTIONS "btrfs /dev/sdc rw\n");
	fs_set_answer("/", 0, 1000, 400, 350);
	fs_set_answer("/bind", 0, 1000, 400, 350);
	fs_set_answer("/data", 0, 5000, 2000, 2000);
	fs_set_answer("/data/home", 0, 5000, 2000, 2000);
	fs_set_answer("/more", 0, 30, 20, 10);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);

	fs_expect_total(6030, 3610, 2420, 2360, 3);
	ck_assert_str_eq(fs_get_row(1, 3)->mount_point, "/data");
	ck_assert_uint_eq(fs_count_queries(), 3);
}
END_TEST

/* The path of the second mount leads to the third, which was mounted later on a parent
 * directory. */
START_TEST(mount_below_a_later_parent_mount_is_skipped)
{
	fixture_write(&fs.root, "proc/1/mountinfo",
	              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	              "28 27 8:3 / /m/b" OPTIONS "ext4 /dev/sda3 rw\n"
	              "29 27 8:4 / /m" OPTIONS "ext4 /dev/sda4 rw\n");
	fs_set_answer("/", 0, 1000, 400, 350);
	fs_set_answer("/m/b", 0, 70, 60, 50);
	fs_set_answer("/m", 0, 70, 60, 50);
	fs_set_device("/m/b", 8, 4);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);

	fs_expect_total(1070, 610, 460, 400, 2);
	ck_assert_str_eq(fs_get_row(1, 2)->mount_point, "/m");
}
END_TEST

/* Two file systems are copies, with one id. */
START_TEST(device_of_a_file_system_with_an_id_of_its_own_is_asked_for_once)
{
	fixture_write(&fs.root, "proc/1/mountinfo",
	              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	              "28 27 8:3 / /a" OPTIONS "ext4 /dev/sda3 rw\n"
	              "29 27 8:4 / /b" OPTIONS "ext4 /dev/sda4 rw\n");
	fs_set_answer("/", 0, 1000, 400, 350);
	fs_set_answer("/a", 0, 70, 60, 50);
	fs_set_answer("/b", 0, 70, 60, 50);
	fs_set_id("/", 11);
	fs_set_id("/a", 12);
	fs_set_id("/b", 12);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	ck_assert_uint_eq(fs_get_known_id("/"), 0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	ck_assert_uint_eq(fs_get_known_id("/"), 11);
	ck_assert_uint_eq(fs_get_known_id("/a"), 0);
	ck_assert_uint_eq(fs_get_known_id("/b"), 0);

	/* What is mounted has changed, so the path may lead elsewhere. */
	fixture_write(&fs.root, "proc/1/mountinfo", "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n");
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	ck_assert_uint_eq(fs_get_known_id("/"), 0);
}
END_TEST

/* The data sets use 100, 250 and 40 bytes. Both data sets of "tank" report its 900 free bytes. */
START_TEST(zfs_datasets_of_one_pool_share_its_free_space)
{
	fixture_write(&fs.root, "proc/1/mountinfo",
	              "27 1 0:30 / /" OPTIONS "zfs tank/root rw\n"
	              "28 27 0:31 / /home" OPTIONS "zfs tank/home rw\n"
	              "29 27 0:32 / /other" OPTIONS "zfs tanker rw\n");
	fs_set_answer("/", 0, 1000, 900, 900);
	fs_set_answer("/home", 0, 1150, 900, 900);
	fs_set_answer("/other", 0, 60, 20, 20);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);

	fs_expect_total(1310, 390, 920, 920, 3);
	ck_assert_uint_eq(fs_get_row(1, 3)->flags, RT_ITEM_IN_TOTAL);
	ck_assert_uint_eq(fs_get_row(1, 3)->total_bytes, 1150);
}
END_TEST

START_TEST(memory_and_loop_devices_are_not_in_the_total)
{
	fixture_write(&fs.root, "proc/1/mountinfo",
	              "27 1 7:0 / /snap" OPTIONS "squashfs /dev/loop0 ro\n"
	              "28 1 7:1 / /image" OPTIONS "ext4 /dev/loop1 rw\n"
	              "29 1 1:0 / /ram" OPTIONS "ext2 /dev/ram0 rw\n"
	              "30 1 252:0 / /zram" OPTIONS "ext4 /dev/zram0 rw\n"
	              "31 1 253:3 / /lv" OPTIONS "xfs /dev/mapper/vg-lv rw\n");
	fs_set_answer("/snap", 0, 500, 0, 0);
	fs_set_answer("/image", 0, 600, 1, 1);
	fs_set_answer("/ram", 0, 700, 1, 1);
	fs_set_answer("/zram", 0, 800, 1, 1);
	fs_set_answer("/lv", 0, 10, 4, 3);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);

	fs_expect_total(10, 6, 4, 3, 1);
	fs_get_row(0, 5);
}
END_TEST

START_TEST(mount_hidden_by_a_later_mount_is_skipped)
{
	fixture_write(&fs.root, "proc/1/mountinfo",
	              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	              "28 27 8:3 / /mnt" OPTIONS "ext4 /dev/sda3 rw\n"
	              "29 28 8:4 / /mnt" OPTIONS "ext4 /dev/sda4 rw\n"
	              "30 27 8:5 / /a" OPTIONS "ext4 /dev/sda5 rw\n"
	              "31 27 8:5 / /b" OPTIONS "ext4 /dev/sda5 rw\n"
	              "32 30 0:50 / /a" OPTIONS "tmpfs none rw\n");
	fs_set_answer("/", 0, 1000, 400, 350);
	fs_set_answer("/mnt", 0, 70, 60, 50);
	fs_set_answer("/a", 0, 9, 8, 7);
	fs_set_answer("/b", 0, 300, 200, 100);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);

	fs_expect_total(1370, 710, 660, 500, 3);
	ck_assert_uint_eq(fs_get_row(1, 4)->minor, 4);
	ck_assert_str_eq(fs_get_row(2, 4)->mount_point, "/b");
	ck_assert_str_eq(fs_get_row(3, 4)->type, "tmpfs");
}
END_TEST

START_TEST(filesystem_without_blocks_has_no_row)
{
	fixture_write(&fs.root, "proc/1/mountinfo",
	              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	              "28 27 0:50 / /odd" OPTIONS "oddfs none rw\n"
	              "29 27 0:51 / /sys" OPTIONS "sysfs none rw\n");
	fs_set_answer("/", 0, 1000, 400, 350);
	fs_set_answer("/odd", 0, 0, 0, 0);
	fs_set_answer("/sys", 0, 5, 5, 5);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	ck_assert_str_eq(fs_get_row(0, 1)->mount_point, "/");
	ck_assert_uint_eq(fs_count_queries(), 2);
}
END_TEST

#define NETWORK_MOUNTS                                                                             \
	"27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n28 27 0:50 / /net" OPTIONS                      \
	"nfs4 server:/export rw\n"                                                                 \
	"29 27 0:51 / /auto" OPTIONS "autofs systemd-1 rw\n30 27 0:52 / /fuse" OPTIONS             \
	"fuse.sshfs me@host: rw\n"

START_TEST(network_filesystem_by_default_is_not_queried)
{
	fixture_write(&fs.root, "proc/1/mountinfo", NETWORK_MOUNTS);
	fs_set_answer("/", 0, 1000, 400, 350);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	ck_assert_uint_eq(fs_count_queries(), 1);
	fs_get_row(0, 1);
}
END_TEST

START_TEST(network_filesystem_when_requested_has_a_row)
{
	fixture_write(&fs.root, "proc/1/mountinfo", NETWORK_MOUNTS);
	fs_set_answer("/", 0, 1000, 400, 350);
	fs_set_answer("/net", 0, 77, 7, 6);
	fs_set_answer("/fuse", 0, 88, 8, 8);
	fs_open(RT_OPT_NETWORK_FILESYSTEMS);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	ck_assert_uint_eq(fs_count_queries(), 3);

	fs_expect_total(1000, 600, 400, 350, 1);
	ck_assert_uint_eq(fs_get_row(1, 3)->flags, RT_ITEM_NETWORK);
	ck_assert_uint_eq(fs_get_row(1, 3)->used_bytes, 70);
}
END_TEST

START_TEST(figures_that_change_are_those_of_this_sample)
{
	fixture_write(&fs.root, "proc/1/mountinfo", "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n");
	fs_open(0);
	for (uint64_t i = 1; i <= 200; i++) {
		fs_set_answer("/", 0, 1000 + i, i, i);
		ck_assert_int_eq(sampler_take(&fs.sampler), 0);
		ck_assert_uint_eq(fs.sampler.out.filesystem_total_bytes, 1000 + i);
		ck_assert_uint_eq(fs.sampler.out.filesystem_free_bytes, i);
	}
}
END_TEST

START_TEST(mounts_added_and_removed_change_the_total)
{
	fs_open(0);
	fs_set_answer("/", 0, 1000, 400, 350);
	fs_set_answer("/usb", 0, 50, 40, 30);
	for (int i = 0; i < 3; i++) {
		fixture_write(&fs.root, "proc/1/mountinfo",
		              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n");
		ck_assert_int_eq(sampler_take(&fs.sampler), 0);
		fs_expect_total(1000, 600, 400, 350, 1);
		fixture_write(&fs.root, "proc/1/mountinfo",
		              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
		              "28 1 8:17 / /usb" OPTIONS "vfat /dev/sdb1 rw\n");
		ck_assert_int_eq(sampler_take(&fs.sampler), 0);
		fs_expect_total(1050, 610, 440, 380, 2);
	}
}
END_TEST

START_TEST(filesystem_that_refuses_statvfs_makes_the_total_partial)
{
	fixture_write(&fs.root, "proc/1/mountinfo",
	              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	              "28 1 8:17 / /secret" OPTIONS "ext4 /dev/sdb1 rw\n"
	              "29 1 0:60 / /run/private" OPTIONS "tmpfs tmpfs rw\n");
	fs_set_answer("/", 0, 1000, 400, 350);
	fs_set_answer("/secret", 0, 50, 40, 30);
	fs_set_answer("/run/private", -EACCES, 0, 0, 0);
	fs_open(0);
	/* The refusal is of a tmpfs, which the total does not include. */
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	ck_assert_uint_eq(fs.sampler.out.valid, RT_HAS_FILESYSTEM);

	fs_get_row(0, 2);
	/* The refusal is of a file system that the total lacks now. */
	fs_set_answer("/secret", -EACCES, 0, 0, 0);
	ck_assert_int_eq(sampler_take(&fs.sampler), -EACCES);
	ck_assert_uint_eq(fs.sampler.out.valid, 0);
	ck_assert_uint_eq(fs.sampler.out.partial, RT_HAS_FILESYSTEM);

	fs_expect_total(1000, 600, 400, 350, 1);
	fs_get_row(0, 1);
}
END_TEST

START_TEST(mountinfo_of_process_1_missing_falls_back_to_our_own)
{
	fixture_write(&fs.root, "proc/self/mountinfo",
	              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n");
	fs_set_answer("/", 0, 1000, 400, 350);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	ck_assert_uint_eq(fs.sampler.out.filesystem_total_bytes, 1000);
}
END_TEST

START_TEST(mountinfo_missing_or_malformed_fails_and_recovers)
{
	size_t count;

	fs_set_answer("/", 0, 1000, 400, 350);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), -ENOENT);
	ck_assert_uint_eq(fs.sampler.out.valid | fs.sampler.out.partial, 0);

	fixture_write(&fs.root, "proc/1/mountinfo",
	              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\nwhat\n");
	ck_assert_int_eq(sampler_take(&fs.sampler), -EBADMSG);
	ck_assert_ptr_null(sampler_rows(&fs.sampler, &count));

	fixture_write(&fs.root, "proc/1/mountinfo", "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n");
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);

	fixture_write(&fs.root, "proc/1/mountinfo", "what\n");
	ck_assert_int_eq(sampler_take(&fs.sampler), -EBADMSG);
	ck_assert_uint_eq(fs.sampler.out.valid | fs.sampler.out.partial, 0);

	fixture_write(&fs.root, "proc/1/mountinfo", "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n");
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	ck_assert_uint_eq(fs.sampler.out.filesystem_total_bytes, 1000);
}
END_TEST

/* The superblock of 8:2 is another one by now, or is shown elsewhere. */
static const struct {
	const char *mount, *mount_point, *type, *source;
} others[] = {
	{ "27 1 8:2 / /a" OPTIONS "ext4 /dev/sdb2 rw\n", "/a", "ext4", "/dev/sdb2" },
	{ "27 1 8:2 / /a" OPTIONS "ext3 /dev/sda2 rw\n", "/a", "ext3", "/dev/sda2" },
	{ "27 1 8:2 / /b" OPTIONS "ext4 /dev/sda2 rw\n", "/b", "ext4", "/dev/sda2" },
	{ "27 1 8:2 / /long" OPTIONS "ext4 /dev/disk rw\n", "/long", "ext4", "/dev/disk" },
};

START_TEST(other_mount_with_the_same_device_has_a_row_of_its_own)
{
	const struct rt_filesystem *row;

	fixture_write(&fs.root, "proc/1/mountinfo", "27 1 8:2 / /a" OPTIONS "ext4 /dev/sda2 rw\n");
	fs_set_answer("/a", 0, 1000, 400, 350);
	fs_set_answer("/b", 0, 1000, 400, 350);
	fs_set_answer("/long", 0, 1000, 400, 350);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	fixture_write(&fs.root, "proc/1/mountinfo", others[_i].mount);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);

	row = fs_get_row(0, 1);
	ck_assert_str_eq(row->mount_point, others[_i].mount_point);
	ck_assert_str_eq(row->type, others[_i].type);
	ck_assert_str_eq(row->source, others[_i].source);
	fs_expect_total(1000, 600, 400, 350, 1);
}
END_TEST

/* No path that is this long can be asked for. */
START_TEST(mount_point_longer_than_a_path_is_left_out)
{
	char point[5000];

	memset(point, 'x', sizeof(point) - 1);
	point[sizeof(point) - 1] = '\0';
	fixture_printf(&fs.root, "proc/1/mountinfo",
	               "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	               "28 27 8:3 / /%s" OPTIONS "ext4 /dev/sda3 rw\n",
	               point);
	fs_set_answer("/", 0, 1000, 400, 350);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	ck_assert_uint_eq(fs.sampler.out.valid, RT_HAS_FILESYSTEM);
	fs_expect_total(1000, 600, 400, 350, 1);
	fs_get_row(0, 1);
}
END_TEST

START_TEST(filesystem_on_storage_without_blocks_is_not_counted)
{
	fixture_write(&fs.root, "proc/1/mountinfo",
	              "27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	              "28 27 8:3 / /odd" OPTIONS "oddfs /dev/sda3 rw\n");
	fs_set_answer("/", 0, 1000, 400, 350);
	fs_set_answer("/odd", 0, 0, 0, 0);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	fs_expect_total(1000, 600, 400, 350, 1);
	fs_get_row(0, 1);
}
END_TEST

/* Pools with names of one length, and of which one begins with the other. */
START_TEST(zfs_pools_with_similar_names_are_counted_each)
{
	fixture_write(&fs.root, "proc/1/mountinfo",
	              "27 1 0:30 / /" OPTIONS "zfs tank/root rw\n"
	              "28 27 0:31 / /a" OPTIONS "zfs bank/root rw\n"
	              "29 27 0:32 / /b" OPTIONS "zfs tan rw\n"
	              "30 27 0:33 / /c" OPTIONS "btrfs tank rw\n"
	              "31 27 0:34 / /d" OPTIONS "zfs tank rw\n");
	fs_set_answer("/", 0, 1000, 900, 900);
	fs_set_answer("/a", 0, 100, 80, 80);
	fs_set_answer("/b", 0, 50, 30, 30);
	fs_set_answer("/c", 0, 20, 10, 10);
	fs_set_answer("/d", 0, 905, 900, 900);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	fs_expect_total(1175, 155, 1020, 1020, 5);
}
END_TEST

/* The kernel says when the mounts have changed. What could not be used is read again. */
START_TEST(mountinfo_is_read_if_it_has_changed_or_was_malformed)
{
	fs_set_answer("/", 0, 1000, 400, 350);
	fs_set_answer("/b", 0, 50, 40, 30);
	fs_open_own();
	ck_assert_int_eq(sampler_take(&fs.sampler), -ENOENT);

	fs_set_changed(false);
	fixture_write(&fs.root, "proc/self/mountinfo", "what\n");
	ck_assert_int_eq(sampler_take(&fs.sampler), -EBADMSG);
	fixture_write(&fs.root, "proc/self/mountinfo", "27 1 8:2 / /" OPTIONS "ext4 /dev/a rw\n");
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	fs_expect_total(1000, 600, 400, 350, 1);

	fixture_write(&fs.root, "proc/self/mountinfo", "27 1 8:3 / /b" OPTIONS "ext4 /dev/b rw\n");
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	fs_expect_total(1000, 600, 400, 350, 1);
	fs_set_changed(true);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	fs_expect_total(50, 10, 40, 30, 1);
}
END_TEST

START_TEST(system_without_mounts_has_no_space)
{
	fs_open_own();
	fixture_write(&fs.root, "proc/self/mountinfo", "");
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(sampler_take(&fs.sampler), 0);
		ck_assert_uint_eq(fs.sampler.out.valid, RT_HAS_FILESYSTEM);
		fs_expect_total(0, 0, 0, 0, 0);
		fs_get_row(0, 0);
	}
}
END_TEST

/* fs/xfs/xfs_super.c: statvfs(3) of xfs waits from Linux 5.14 to 5.18. */
static const struct {
	const char *type, *release;
	bool by_thread;
} kernels[] = {
	{ "xfs", "6.1.0-13-amd64\n", false },
	{ "xfs", "4.18.0-553.el8.x86_64\n", false },
	{ "xfs", "5.13.9\n", false },
	{ "xfs", "5.14.0-427.el9.x86_64\n", true },
	{ "xfs", "5.18.0\n", true },
	{ "xfs", "5.19.0\n", false },
	{ "xfs", "6\n", true },
	{ "xfs", "6-1\n", true },
	{ "xfs", "6.x\n", true },
	{ "xfs", "what\n", true },
	{ "xfs", NULL, true },
	{ "ext4", "5.14.0\n", false },
	{ "ext4", NULL, false },
	{ "vfat", "6.1.0\n", true },
};

START_TEST(filesystem_that_may_wait_is_asked_by_a_thread)
{
	fixture_printf(&fs.root, "proc/self/mountinfo", "27 1 8:2 / /" OPTIONS "%s /dev/sda2 rw\n",
	               kernels[_i].type);
	if (kernels[_i].release)
		fixture_write(&fs.root, "proc/sys/kernel/osrelease", kernels[_i].release);
	fs_set_answer("/", 0, 1000, 400, 350);
	fs_open_own();
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	ck_assert_int_eq(fs_is_asked_by_thread("/"), kernels[_i].by_thread);
	fs_expect_total(1000, 600, 400, 350, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_fs");
	TCase *choice = suite_case(suite, "choice");
	TCase *changes = suite_case(suite, "changes");

	tcase_add_checked_fixture(choice, fs_set_up, fs_tear_down);
	tcase_add_test(choice, storage_and_virtual_mounts_yield_all_figures);
	tcase_add_test(choice, mount_point_with_escapes_is_decoded);
	tcase_add_test(choice, filesystem_mounted_twice_is_counted_once);
	tcase_add_test(choice, mount_below_a_later_parent_mount_is_skipped);
	tcase_add_test(choice, device_of_a_file_system_with_an_id_of_its_own_is_asked_for_once);
	tcase_add_test(choice, zfs_datasets_of_one_pool_share_its_free_space);
	tcase_add_test(choice, memory_and_loop_devices_are_not_in_the_total);
	tcase_add_test(choice, mount_hidden_by_a_later_mount_is_skipped);
	tcase_add_test(choice, filesystem_without_blocks_has_no_row);
	tcase_add_test(choice, network_filesystem_by_default_is_not_queried);
	tcase_add_test(choice, network_filesystem_when_requested_has_a_row);
	tcase_add_test(choice, mount_point_longer_than_a_path_is_left_out);
	tcase_add_test(choice, filesystem_on_storage_without_blocks_is_not_counted);
	tcase_add_test(choice, zfs_pools_with_similar_names_are_counted_each);
	tcase_add_test(choice, system_without_mounts_has_no_space);
	tcase_add_loop_test(choice, filesystem_that_may_wait_is_asked_by_a_thread, 0,
	                    sizeof(kernels) / sizeof(kernels[0]));
	tcase_add_checked_fixture(changes, fs_set_up, fs_tear_down);
	tcase_add_loop_test(changes, other_mount_with_the_same_device_has_a_row_of_its_own, 0,
	                    sizeof(others) / sizeof(others[0]));
	tcase_add_test(changes, mountinfo_is_read_if_it_has_changed_or_was_malformed);
	tcase_add_test(changes, figures_that_change_are_those_of_this_sample);
	tcase_add_test(changes, mounts_added_and_removed_change_the_total);
	tcase_add_test(changes, filesystem_that_refuses_statvfs_makes_the_total_partial);
	tcase_add_test(changes, mountinfo_of_process_1_missing_falls_back_to_our_own);
	tcase_add_test(changes, mountinfo_missing_or_malformed_fails_and_recovers);
	return suite_run(suite);
}
