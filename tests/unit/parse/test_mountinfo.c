/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/mountinfo. */
#include "exact.h"

#include <errno.h>
#include <stdio.h>

#include "parse/parse.h"
#include "suite.h"

#define RECORDS_MAX 8
#define STOP 77 /* a result that no parser returns by itself */

/* The records of all calls. The call with the number stop_at returns STOP. */
struct mounts {
	struct rti_mount mount[RECORDS_MAX];
	unsigned count, stop_at;
};

static int add_mount(void *arg, const struct rti_mount *mount)
{
	struct mounts *mounts = arg;

	ck_assert_uint_lt(mounts->count, RECORDS_MAX);
	mounts->mount[mounts->count++] = *mount;
	return mounts->count == mounts->stop_at ? STOP : 0;
}

static int parse_mounts(const char *text, struct mounts *mounts)
{
	struct exact copy = exact(text);
	struct rti_mount mount;

	return rti_parse_mountinfo(copy.data, copy.len, &mount, add_mount, mounts);
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

START_TEST(mountinfo_line_of_any_form_parses)
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

/* Plain letters and escapes in a mount point, and whether its decoded text is too long. */
static const struct {
	unsigned letters, escapes;
	bool is_cut;
} long_mounts[] = {
	{ 4094, 0, false },   { 4095, 0, true },   { 2000, 2094, false },
	{ 2000, 2095, true }, { 100, 9000, true },
};

START_TEST(mountinfo_with_long_mount_point_is_cut)
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

START_TEST(mountinfo_options_of_mount_and_file_system_are_separate)
{
	struct mounts mounts = { 0 };

	ck_assert_int_eq(parse_mounts("1 2 0:29 /a /m ro,nosuid - cgroup cgroup rw,cpu,cpuacct\n"
	                              "1 2 0:30 / /m rw - cgroup  rw,name=systemd\n"
	                              "1 2 0:31 / /m rw - cgroup x",
	                              &mounts),
	                 0);
	ck_assert(rti_scan_is(&mounts.mount[0].options, "ro,nosuid"));
	ck_assert(rti_scan_is(&mounts.mount[0].super_options, "rw,cpu,cpuacct"));
	ck_assert(rti_scan_is(&mounts.mount[1].super_options, "rw,name=systemd"));
	ck_assert(rti_scan_is(&mounts.mount[2].super_options, ""));
}
END_TEST

START_TEST(mountinfo_empty_yields_no_mount)
{
	struct mounts mounts = { 0 };

	ck_assert_int_eq(parse_mounts("", &mounts), 0);
	ck_assert_uint_eq(mounts.count, 0);
}
END_TEST

START_TEST(mountinfo_with_callback_that_stops_returns_its_result)
{
	struct mounts mounts = { .stop_at = 1 };

	ck_assert_int_eq(
	    parse_mounts("1 2 3:4 / /a rw - t s rw\n1 2 3:4 / /b rw - t s rw\n", &mounts), STOP);
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

START_TEST(mountinfo_malformed_is_refused)
{
	struct mounts mounts = { 0 };

	ck_assert_int_eq(parse_mounts(bad_mounts[_i], &mounts), -EBADMSG);
}
END_TEST

START_TEST(mountinfo_of_nul_bytes_is_refused)
{
	struct exact zeros = exact_zeros(256), lines = exact_zero_lines(256);
	struct rti_mount mount;

	ck_assert_int_eq(rti_parse_mountinfo(zeros.data, zeros.len, &mount, add_mount, NULL),
	                 -EBADMSG);
	ck_assert_int_eq(rti_parse_mountinfo(lines.data, lines.len, &mount, add_mount, NULL),
	                 -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_mountinfo");
	TCase *tests = suite_case(suite, "mountinfo");

	tcase_add_loop_test(tests, mountinfo_line_of_any_form_parses, 0,
	                    sizeof(mount_lines) / sizeof(mount_lines[0]));
	tcase_add_loop_test(tests, mountinfo_with_long_mount_point_is_cut, 0,
	                    sizeof(long_mounts) / sizeof(long_mounts[0]));
	tcase_add_test(tests, mountinfo_options_of_mount_and_file_system_are_separate);
	tcase_add_test(tests, mountinfo_empty_yields_no_mount);
	tcase_add_test(tests, mountinfo_with_callback_that_stops_returns_its_result);
	tcase_add_loop_test(tests, mountinfo_malformed_is_refused, 0,
	                    sizeof(bad_mounts) / sizeof(bad_mounts[0]));
	tcase_add_test(tests, mountinfo_of_nul_bytes_is_refused);
	return suite_run(suite);
}
