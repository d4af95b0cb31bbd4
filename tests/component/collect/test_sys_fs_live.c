/* SPDX-License-Identifier: MIT */
/* The file system collector on the running system. */
#include "collect/collector.h"

#include <sched.h>
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

static const struct rt_filesystem *find_row(const struct sampler *live, const char *path)
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

static void extend(struct range *range, uint64_t bytes)
{
	if (bytes < range->least)
		range->least = bytes;
	if (bytes > range->most)
		range->most = bytes;
}

static bool is_within(const struct range *range, uint64_t bytes)
{
	return range->least <= bytes && bytes <= range->most;
}

/* Other processes write meanwhile. The free space is within the range of its recent values. */
START_TEST(live_root_matches_statvfs)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct range bytes_free = { UINT64_MAX, 0 }, available = { UINT64_MAX, 0 };
	const struct rt_filesystem *row = NULL;
	struct statvfs space;
	struct sampler live;
	bool matches = false;

	sampler_open(&live, &rti_sys_fs, NULL);
	for (int i = 0; i < 2000 && !matches; i++) {
		ck_assert_int_eq(statvfs("/", &space), 0);
		extend(&bytes_free, (uint64_t)space.f_bfree * space.f_frsize);
		extend(&available, (uint64_t)space.f_bavail * space.f_frsize);
		ck_assert_int_le(sampler_take(&live), 0);
		row = find_row(&live, "/");
		if (!row)
			/* e.g. on btrfs: its files have other device numbers than its mount */
			break;
		ck_assert_uint_eq(row->total_bytes, (uint64_t)space.f_blocks * space.f_frsize);
		matches = is_within(&bytes_free, row->free_bytes) &&
		          is_within(&available, row->available_bytes);
		nanosleep(&nap, NULL);
	}
	ck_assert(matches || !row);
	sampler_close(&live);
}
END_TEST

START_TEST(live_rows_have_distinct_devices)
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

/* Run work(where) in a child, which may enter namespaces, with an empty directory. It returns 0, 77
 * if that is not permitted here, or the step that failed. */
static void check_in_child(int (*work)(const char *where))
{
	struct fixture place;
	int status;
	pid_t pid;

	fixture_new(&place);
	pid = fork();
	if (pid == 0)
		_exit(work(place.root));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);

	fixture_free(&place);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		suite_skip_test("no file system may be mounted here");
	else
		ck_assert_msg(status == 0, "step %d", WEXITSTATUS(status));
}

/* A new mount in a new mount namespace is seen when it appears and when it disappears. */
static int mount_in_namespace(const char *where)
{
	const struct rt_filesystem *row;
	struct sampler live;

	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0)
		return 77;
	sampler_open(&live, &rti_sys_fs, NULL);
	sampler_take(&live);
	sampler_take(&live);
	if (mount("new", where, "tmpfs", 0, "size=1M") < 0)
		return 77;
	sampler_take(&live);
	row = find_row(&live, where);
	if (!row || row->total_bytes != 1 << 20 || strcmp(row->source, "new") != 0 ||
	    strcmp(row->mount_point, where) != 0)
		return 1;
	if (umount(where) < 0)
		return 2;
	sampler_take(&live);
	row = find_row(&live, where);
	if (row && strcmp(row->source, "new") == 0)
		return 3;
	sampler_close(&live);
	return 0;
}

START_TEST(live_mount_and_unmount_are_noticed)
{
	check_in_child(mount_in_namespace);
}
END_TEST

/* Enter a root with nothing but a tmpfs and proc. Returns 0, or 77 if that is not permitted. */
static int enter_local_root(const char *where)
{
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("new", where, "tmpfs", 0, "size=1M") < 0 || chroot(where) < 0 || chdir("/") < 0 ||
	    mkdir("/proc", 0755) < 0 || mount("proc", "/proc", "proc", 0, NULL) < 0)
		return 77;
	return 0;
}

/* An overlay in the root of the lower one. Returns 0, or 77 if that is not possible. */
static int mount_overlay(void)
{
	if (mkdir("/low", 0755) < 0 || mkdir("/up", 0755) < 0 || mkdir("/work", 0755) < 0 ||
	    mkdir("/over", 0755) < 0 ||
	    mount("o", "/over", "overlay", 0, "lowerdir=/low,upperdir=/up,workdir=/work") < 0)
		return 77;
	return 0;
}

static int sample_local(const char *where)
{
	struct sampler live;
	int result = enter_local_root(where), before = threads_count_first();

	if (result)
		return result;
	sampler_open(&live, &rti_sys_fs, NULL);
	if (sampler_take(&live) < 0 || live.out.filesystems_skipped != 0)
		return 1;
	if (threads_count() != before)
		return 2;
	if (!find_row(&live, "/") || find_row(&live, "/")->total_bytes != 1 << 20)
		return 3;
	result = mount_overlay();
	if (result)
		return result;
	if (sampler_take(&live) < 0 || !find_row(&live, "/over"))
		return 4;
	if (threads_count() != before + 1) /* which stays for the next sample */
		return 5;
	sampler_close(&live);
	return 0;
}

START_TEST(local_file_systems_need_no_thread)
{
	check_in_child(sample_local);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_fs_live");
	TCase *live = suite_case(suite, "running system");

	tcase_add_test(live, live_root_matches_statvfs);
	tcase_add_test(live, live_rows_have_distinct_devices);
	tcase_add_test(live, live_mount_and_unmount_are_noticed);
	tcase_add_test(live, local_file_systems_need_no_thread);
	return suite_run(suite);
}
