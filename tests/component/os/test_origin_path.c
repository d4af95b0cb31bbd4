/* SPDX-License-Identifier: MIT */
/* The absolute path that a build was asked for (Meson option helper_path). Here it leads to the
 * working directory. This code is part of the program, so no other place is looked at. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "os/origin.h"
#include "suite.h"

static struct fixture f;
static bool is_secure; /* the program has more rights than its caller */

/* The linker calls this instead of the function in its name. */
unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);

unsigned long __wrap_getauxval(unsigned long type)
{
	return type == AT_SECURE ? is_secure : __real_getauxval(type);
}

static void set_up(void)
{
	fixture_new(&f);
	fixture_write(&f, "helpers/tool", "");
	ck_assert_int_eq(chdir(f.root), 0);
	ck_assert_int_eq(chmod("helpers", 0755), 0);
}

static void tear_down(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	fixture_free(&f);
}

static int look(const char *name)
{
	struct rti_origin_file file;
	int err = rti_origin_open(name, &file);

	if (err == 0) {
		ck_assert_str_eq(file.path, RTI_HELPER_PATH "tool");
		close(file.dir);
	}
	return err;
}

START_TEST(file_of_the_configured_path_is_found)
{
	ck_assert_int_eq(look("tool"), 0);
	ck_assert_int_eq(look("none"), -ENOENT);
	is_secure = true;
	ck_assert_int_eq(look("tool"), 0);
}
END_TEST

START_TEST(file_that_others_may_change_is_refused_there_too)
{
	struct rti_origin_file refused;

	ck_assert_int_eq(chmod("helpers", 0757), 0);
	ck_assert_int_eq(look("tool"), -EPERM);
	ck_assert(rti_origin_is_refused("tool", &refused));
	ck_assert_uint_eq(refused.mode, 0757);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("origin_path");
	TCase *tests = suite_case(suite, "files");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, file_of_the_configured_path_is_found);
	tcase_add_test(tests, file_that_others_may_change_is_refused_there_too);
	return suite_run(suite);
}
