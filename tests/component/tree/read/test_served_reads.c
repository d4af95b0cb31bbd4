/* SPDX-License-Identifier: MIT */
/* Whether read_bytes may lack what a server of a file system has fetched. */
#include <inttypes.h>

#include "tree/member_fixture.h"

#define MIB (UINT64_C(1) << 20)

#define DISK "21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
#define FUSE "77 21 0:63 / /mnt rw - fuse.sshfs host:/ rw,user_id=0\n"

/* What child 1 has read, by its calls and from storage. */
static void write_io(uint64_t chars, uint64_t bytes)
{
	fixture_printf(&fix.root, "proc/101/io",
	               "rchar: %" PRIu64 "\nwchar: 22\nsyscr: 1\nsyscw: 1\nread_bytes: %" PRIu64
	               "\nwrite_bytes: 0\ncancelled_write_bytes: 0\n",
	               chars, bytes);
}

static void write_mounts(const char *text)
{
	fixture_write(&fix.root, "proc/100/mountinfo", text);
	fixture_write(&fix.root, "proc/101/mountinfo", text);
}

static void write_files(const char *mount_id, const char *device)
{
	fixture_printf(&fix.root, "proc/101/fdinfo/3", "pos:\t0\nflags:\t0100000\nmnt_id:\t%s\n",
	               mount_id);
	fixture_printf(&fix.root, "proc/101/maps",
	               "7f1c00000000-7f1c00001000 r--p 00000000 %s 12 /mnt/a\n", device);
}

/* Child 1 runs, and reads so much more than before. */
static struct rt_metrics read_more(uint64_t chars, uint64_t bytes)
{
	run_child(1);
	write_io(chars, bytes);
	return take_sample_after(SECOND);
}

static bool is_lower_bound(const struct rt_metrics *m)
{
	ck_assert(((m->valid ^ m->partial) & RT_HAS_IO) != 0);
	return m->partial & RT_HAS_IO;
}

static void track_child(const char *mounts, const char *mount_id, const char *device)
{
	write_tree(1);
	write_io(0, 0);
	write_mounts(mounts);
	write_files(mount_id, device);
	track_tree((struct rt_opts){ 0 });
	take_sample_after(0);
}

static const struct {
	const char *mounts, *mount_id, *device;
	uint64_t chars, bytes;
	bool is_lower_bound;
} cases[] = {
	/* A file is open, or mapped. */
	{ DISK FUSE, "77", "08:01", MIB, 0, true },
	{ DISK FUSE, "21", "00:3f", MIB, 0, true },
	{ DISK FUSE, "77", "08:01", 100 * MIB, 4096, true },
	/* None is. E.g.: it reads from the page cache. */
	{ DISK FUSE, "21", "08:01", 100 * MIB, 0, false },
	{ DISK FUSE, "777", "00:3", 100 * MIB, 0, false },
	{ DISK, "77", "00:3f", 100 * MIB, 0, false },
	/* It has read little, or from storage. */
	{ DISK FUSE, "77", "00:3f", MIB - 100, 0, false },
	{ DISK FUSE, "77", "00:3f", 100 * MIB, 50 * MIB, false },
	/* All kinds of file systems with a server. */
	{ "77 1 0:63 / /mnt rw shared:3 - fuse s rw\n", "77", "08:01", MIB, 0, true },
	{ "77 1 0:63 / /mnt rw - 9p s rw\n", "77", "08:01", MIB, 0, true },
	{ "77 1 0:63 / /mnt rw - virtiofs s rw\n", "77", "08:01", MIB, 0, true },
	{ "77 1 0:63 / /mnt rw - zfs s rw\n", "77", "08:01", MIB, 0, true },
	{ "77 1 0:63 / /proc/stat rw - fuse.lxcfs s rw\n", "77", "08:01", MIB, 0, false },
	{ "77 1 0:63 / /mnt rw - fusectl s rw\n", "77", "08:01", MIB, 0, false },
	{ "torn", "77", "08:01", MIB, 0, false },
};

START_TEST(reads_of_a_served_file_make_io_a_lower_bound)
{
	struct rt_metrics m;

	track_child(cases[_i].mounts, cases[_i].mount_id, cases[_i].device);
	m = read_more(cases[_i].chars, cases[_i].bytes);
	ck_assert_int_eq(is_lower_bound(&m), cases[_i].is_lower_bound);
}
END_TEST

START_TEST(lower_bound_stays_after_the_file_was_closed)
{
	struct rt_metrics m;

	track_child(DISK FUSE, "77", "08:01");
	read_more(MIB, 0);
	write_files("21", "08:01");
	m = read_more(MIB + 1, 0);
	ck_assert(is_lower_bound(&m));
}
END_TEST

/* E.g.: 100 reads of 100 KiB, with a sample after each. */
START_TEST(small_reads_add_up)
{
	struct rt_metrics m;

	track_child(DISK FUSE, "77", "08:01");
	for (uint64_t chars = 100000; chars < MIB; chars += 100000) {
		m = read_more(chars, 0);
		ck_assert(!is_lower_bound(&m));
	}
	m = read_more(MIB, 0);
	ck_assert(is_lower_bound(&m));
}
END_TEST

/* What it maps is read ahead, without a call and without a fault that needs I/O. */
static const struct {
	const char *mount_id, *device;
	uint64_t pages, bytes;
	bool has_child, is_lower_bound;
} maps[] = {
	{ "21", "00:3f", 1024, 0, false, true },
	{ "21", "00:3f", 1024, 0, true, true },
	{ "21", "00:3f", 1023, 0, false, false },
	{ "21", "00:3f", 1024, 2 * MIB, false, false },
	/* The file that it has open is another one. */
	{ "77", "08:01", 1024, 0, false, false },
};

START_TEST(pages_that_are_mapped_of_a_served_file_make_io_a_lower_bound)
{
	struct fake_process child = make_child(1);
	struct rt_metrics m;

	track_child(DISK FUSE, maps[_i].mount_id, maps[_i].device);
	child.rss_pages = 1500;
	child.cminflt = maps[_i].has_child ? 100 : 0;
	for (uint64_t pages = 0; pages <= maps[_i].pages; pages += maps[_i].pages) {
		child.shared_pages = pages;
		child.utime++;
		fake_process_write(&fix.root, &child);
		m = read_more(0, pages ? maps[_i].bytes : 0);
		ck_assert_int_eq(is_lower_bound(&m), pages ? maps[_i].is_lower_bound : 0);
	}
}
END_TEST

static struct rt_metrics map_more(uint64_t pages, uint64_t after_ns)
{
	struct fake_process child = make_child(1);

	run_child(1);
	child.rss_pages = child.shared_pages = pages;
	fake_process_write(&fix.root, &child);
	write_io(0, 0);
	return take_sample_after(after_ns);
}

/* E.g.: a program loads its libraries, maps the file, and ends within the second. */
START_TEST(pages_that_are_mapped_right_after_a_look_are_looked_at)
{
	struct rt_metrics m;

	track_child(DISK FUSE, "21", "08:01");
	m = map_more(1024, SECOND);
	ck_assert(!is_lower_bound(&m));
	write_files("21", "00:3f");
	m = map_more(2047, SECOND / 1000);
	ck_assert(!is_lower_bound(&m));
	m = map_more(2048, SECOND / 1000);
	ck_assert(is_lower_bound(&m));
}
END_TEST

/* No sample saw the child that has read: its parent has what it used. */
START_TEST(reads_of_the_ended_count_if_such_a_file_system_is_mounted)
{
	static const struct {
		const char *mounts;
		bool is_lower_bound;
	} tables[] = { { DISK FUSE, true },
		       { DISK, false },
		       { "77 1 0:63 / /run/user/1000/doc rw - fuse.portal portal rw\n", false } };
	struct fake_process parent = make_child(1);
	struct rt_metrics m;

	track_child(tables[_i].mounts, "21", "08:01");
	parent.cminflt = 100;
	fake_process_write(&fix.root, &parent);
	m = read_more(100 * MIB, 0);
	ck_assert_int_eq(is_lower_bound(&m), tables[_i].is_lower_bound);
}
END_TEST

/* Trees without such reads pay nothing. */
START_TEST(no_file_is_looked_at_without_such_reads)
{
	unsigned opens;

	track_child(DISK FUSE, "77", "08:01");
	opens = faults_opens();
	read_more(MIB - 100, 0);
	opens = faults_opens() - opens;
	write_mounts(DISK);
	for (int i = 0; i < 3; i++) {
		unsigned before = faults_opens();

		read_more(MIB - 100 - (uint64_t)i, 0);
		ck_assert_uint_le(faults_opens() - before, opens);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tree/read/served_reads");
	TCase *tcase = add_member_case(suite, "reads");

	tcase_add_loop_test(tcase, reads_of_a_served_file_make_io_a_lower_bound, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tcase, lower_bound_stays_after_the_file_was_closed);
	tcase_add_loop_test(tcase, pages_that_are_mapped_of_a_served_file_make_io_a_lower_bound, 0,
	                    sizeof(maps) / sizeof(maps[0]));
	tcase_add_test(tcase, pages_that_are_mapped_right_after_a_look_are_looked_at);
	tcase_add_test(tcase, small_reads_add_up);
	tcase_add_loop_test(tcase, reads_of_the_ended_count_if_such_a_file_system_is_mounted, 0, 3);
	tcase_add_test(tcase, no_file_is_looked_at_without_such_reads);
	return suite_run(suite);
}
