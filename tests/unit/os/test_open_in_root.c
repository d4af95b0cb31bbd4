/* SPDX-License-Identifier: MIT */
/* Paths below a root, by openat2(2) and name by name: both follow the same links. */
#include "os/open_in_root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "suite.h"

typedef int (*open_function)(int root, const char *path, int flags);

static const open_function ways[] = { rti_open_in_root, rti_open_in_root_by_steps };

static struct fixture fix;
static int root;

static void set_up(void)
{
	fixture_new(&fix);
	root = open(fix.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(root, 0);
	fixture_write(&fix, "a/b/file", "text");
}

static void tear_down(void)
{
	close(root);
	fixture_free(&fix);
}

/* Open a file that has "text". Returns 0 or -errno. */
static int read_text(open_function way, const char *path)
{
	char text[8] = "";
	int fd = way(root, path, O_RDONLY);

	if (fd < 0)
		return fd;
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(read(fd, text, sizeof(text)), 4);
	ck_assert_str_eq(text, "text");
	close(fd);
	return 0;
}

START_TEST(path_with_dots_and_slashes_is_found)
{
	static const char *const paths[] = {
		"a/b/file",
		"/a/b/file",
		"a//b/./file",
		"../../a/b/file",
		"a/../a/b/file",
		"a/b/../b/file",
		"./a/b/../../a/b/file",
		"a/b/../../../../a/b/file",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		ck_assert_msg(read_text(ways[_i], paths[i]) == 0, "%s", paths[i]);
	ck_assert_int_eq(read_text(ways[_i], "a/none/file"), -ENOENT);
	ck_assert_int_eq(read_text(ways[_i], "a/b/file/more"), -ENOTDIR);
	ck_assert_int_eq(ways[_i](root, "", O_RDONLY), -ENOENT);
}
END_TEST

START_TEST(link_leads_to_its_target_below_the_root)
{
	static const char *const links[][2] = {
		{ "a/same", "file_link" },
		{ "a/file_link", "b/file" },
		{ "a/absolute", "/a/b/file" },
		{ "a/out", "../../../../../../a/b/file" },
		{ "c", "a/b" },
		{ "a/slashes", "//a///b/./file" },
		{ "a/up", "../c/../b/file" },
	};

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		fixture_link(&fix, links[i][0], links[i][1]);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (strcmp(links[i][0], "c") != 0)
			ck_assert_msg(read_text(ways[_i], links[i][0]) == 0, "%s", links[i][0]);
	ck_assert_int_eq(read_text(ways[_i], "c/file"), 0);
	ck_assert_int_eq(read_text(ways[_i], "c/../b/file"), 0); /* the directory of the target */
}
END_TEST

START_TEST(link_that_leads_out_finds_nothing)
{
	fixture_link(&fix, "a/system", "/proc/self/stat");
	fixture_link(&fix, "a/parents", "../../../../../../../../../../proc/self/stat");
	ck_assert_int_eq(read_text(ways[_i], "a/system"), -ENOENT);
	ck_assert_int_eq(read_text(ways[_i], "a/parents"), -ENOENT);
}
END_TEST

START_TEST(circle_of_links_ends)
{
	char name[32], target[32];

	fixture_link(&fix, "one", "two");
	fixture_link(&fix, "two", "one");
	ck_assert_int_eq(read_text(ways[_i], "one"), -ELOOP);
	fixture_link(&fix, "deep", "deep/deep/deep");
	ck_assert_int_eq(read_text(ways[_i], "deep"), -ELOOP);

	fixture_link(&fix, "l0", "a/b/file");
	for (int i = 1; i <= 40; i++) {
		snprintf(name, sizeof(name), "l%d", i);
		snprintf(target, sizeof(target), "l%d", i - 1);
		fixture_link(&fix, name, target);
	}
	ck_assert_int_eq(read_text(ways[_i], "l39"), 0);
	ck_assert_int_eq(read_text(ways[_i], "l40"), -ELOOP);
}
END_TEST

START_TEST(link_itself_is_opened_if_it_is_not_to_be_followed)
{
	char target[32] = "";
	int fd;

	fixture_link(&fix, "directory", "/a");
	fixture_link(&fix, "a/link", "b/file");
	fd = ways[_i](root, "directory/link", O_PATH | O_NOFOLLOW);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(readlinkat(fd, "", target, sizeof(target)), 6);
	ck_assert_str_eq(target, "b/file");
	close(fd);
}
END_TEST

START_TEST(long_names_are_refused)
{
	char path[5000];

	memset(path, 'x', sizeof(path));
	path[300] = '\0';
	ck_assert_int_eq(ways[_i](root, path, O_RDONLY), -ENAMETOOLONG);
	path[300] = 'x';
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(ways[_i](root, path, O_RDONLY), -ENAMETOOLONG);
}
END_TEST

/* No descriptor stays open, whatever the walk has met. */
START_TEST(no_descriptor_is_left)
{
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC), after;

	fixture_link(&fix, "one", "a/../two");
	fixture_link(&fix, "two", "one");
	for (int i = 0; i < 10; i++) {
		ck_assert_int_lt(ways[_i](root, "one", O_RDONLY), 0);
		ck_assert_int_lt(ways[_i](root, "a/b/none", O_RDONLY), 0);
		ck_assert_int_eq(read_text(ways[_i], "a/b/file"), 0);
	}
	close(before);
	after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(after, before);
	close(after);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("open_in_root");
	TCase *tests = suite_case(suite, "open_in_root");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, path_with_dots_and_slashes_is_found, 0, 2);
	tcase_add_loop_test(tests, link_leads_to_its_target_below_the_root, 0, 2);
	tcase_add_loop_test(tests, link_that_leads_out_finds_nothing, 0, 2);
	tcase_add_loop_test(tests, circle_of_links_ends, 0, 2);
	tcase_add_loop_test(tests, link_itself_is_opened_if_it_is_not_to_be_followed, 0, 2);
	tcase_add_loop_test(tests, long_names_are_refused, 0, 2);
	tcase_add_loop_test(tests, no_descriptor_is_left, 0, 2);
	return suite_run(suite);
}
