/* SPDX-License-Identifier: MIT */
/* The paths of programs, by the device and inode of their file. */
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "suite.h"
#include "trace/exe_cache.h"

static struct rti_exe_cache *cache;
static char path[256];

static void open_cache(void)
{
	ck_assert_int_eq(rti_exe_cache_new(&cache), 0);
	memset(path, 'x', sizeof(path));
}

static void close_cache(void)
{
	rti_exe_cache_free(cache);
}

/* As the kernel names a file. */
static struct rti_exe_file file_of(const char *name)
{
	struct stat file;

	ck_assert_int_eq(stat(name, &file), 0);
	return (struct rti_exe_file){
		.device = (uint64_t)major(file.st_dev) << 20 | minor(file.st_dev),
		.inode = file.st_ino,
	};
}

static void read_own_path(char *out, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", out, size - 1);

	ck_assert_int_gt(len, 0);
	out[len] = '\0';
}

START_TEST(program_of_a_process_has_its_path)
{
	char own[256];

	read_own_path(own, sizeof(own));
	ck_assert(
	    rti_exe_cache_get(cache, file_of("/proc/self/exe"), getpid(), path, sizeof(path)));
	ck_assert_str_eq(path, own);
}
END_TEST

START_TEST(program_seen_before_has_its_path_without_a_process)
{
	char own[256];

	read_own_path(own, sizeof(own));
	rti_exe_cache_get(cache, file_of("/proc/self/exe"), getpid(), path, sizeof(path));
	memset(path, 'x', sizeof(path));
	ck_assert(rti_exe_cache_get(cache, file_of("/proc/self/exe"), 0, path, sizeof(path)));
	ck_assert_str_eq(path, own);
}
END_TEST

START_TEST(program_that_the_process_no_longer_executes_is_unknown)
{
	ck_assert(rti_exe_cache_get(cache, file_of("/"), getpid(), path, sizeof(path)));
	ck_assert_str_eq(path, "");
}
END_TEST

START_TEST(program_of_a_process_that_is_gone_is_unknown)
{
	const struct rti_exe_file file = { 1, 2 };

	ck_assert(rti_exe_cache_get(cache, file, 0x7fffffff, path, sizeof(path)));
	ck_assert_str_eq(path, "");
}
END_TEST

START_TEST(program_without_inode_is_unknown)
{
	const struct rti_exe_file file = { 0, 0 };

	ck_assert(rti_exe_cache_get(cache, file, getpid(), path, sizeof(path)));
	ck_assert_str_eq(path, "");
}
END_TEST

START_TEST(later_program_with_the_same_inode_has_a_path_of_its_own)
{
	const struct rti_exe_file first = { 1, 7 }, later = { 1 | UINT64_C(5) << 32, 7 };

	rti_exe_cache_add(cache, first, "/bin/first");
	ck_assert(rti_exe_cache_get(cache, later, 0, path, sizeof(path)));
	ck_assert_str_eq(path, "");
	rti_exe_cache_add(cache, later, "/bin/later");
	rti_exe_cache_get(cache, later, 0, path, sizeof(path));
	ck_assert_str_eq(path, "/bin/later");
}
END_TEST

/* A group has 8 places. */
START_TEST(program_that_is_noted_often_takes_the_place_of_no_other)
{
	const struct rti_exe_file often = { 1, 64 }, other = { 1, 128 };

	rti_exe_cache_add(cache, other, "/bin/other");
	for (int i = 0; i < 20; i++)
		rti_exe_cache_add(cache, often, i % 2 ? "/bin/renamed" : "/bin/often");
	rti_exe_cache_get(cache, often, 0, path, sizeof(path));
	ck_assert_str_eq(path, "/bin/renamed");
	rti_exe_cache_get(cache, other, 0, path, sizeof(path));
	ck_assert_str_eq(path, "/bin/other");
}
END_TEST

START_TEST(path_that_is_too_long_is_cut)
{
	char own[256], cut[9];

	read_own_path(own, sizeof(own));
	ck_assert(!rti_exe_cache_get(cache, file_of("/proc/self/exe"), getpid(), cut, sizeof(cut)));
	ck_assert_uint_eq(strlen(cut), sizeof(cut) - 1);
	ck_assert_mem_eq(cut, own, sizeof(cut) - 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_exe_cache");
	TCase *tests = suite_case(suite, "exe_cache");

	tcase_add_checked_fixture(tests, open_cache, close_cache);
	tcase_add_test(tests, program_of_a_process_has_its_path);
	tcase_add_test(tests, program_seen_before_has_its_path_without_a_process);
	tcase_add_test(tests, program_that_the_process_no_longer_executes_is_unknown);
	tcase_add_test(tests, program_of_a_process_that_is_gone_is_unknown);
	tcase_add_test(tests, program_without_inode_is_unknown);
	tcase_add_test(tests, later_program_with_the_same_inode_has_a_path_of_its_own);
	tcase_add_test(tests, program_that_is_noted_often_takes_the_place_of_no_other);
	tcase_add_test(tests, path_that_is_too_long_is_cut);
	return suite_run(suite);
}
