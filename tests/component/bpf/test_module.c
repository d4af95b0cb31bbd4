/* SPDX-License-Identifier: MIT */
/* Where the plug-in is looked for: the test takes the place of the directory of the library. */
#include "bpf/module.h"

#include <errno.h>
#include <string.h>

#include "os/origin.h"
#include "suite.h"

static const char *names[8];
static unsigned looks;

int __wrap_rti_origin_open(const char *name, struct rti_origin_file *out);

int __wrap_rti_origin_open(const char *name, struct rti_origin_file *out)
{
	out->dir = -1;
	ck_assert_uint_lt(looks, 8);
	names[looks++] = name;
	return -ENOENT;
}

/* In a build tree, and in an installation. */
START_TEST(plugin_is_looked_for_at_two_places_beside_the_library)
{
	struct rti_module module = { 0 };

	ck_assert_int_eq(
	    rti_module_open(&module, "rti_no_such_entry", (struct rti_module_version){ 0 }),
	    -ENOENT);

	ck_assert_uint_eq(looks, 2);
	ck_assert_ptr_null(strchr(names[0], '/'));
	ck_assert_int_eq(strncmp(names[1], "librtrack/", 10), 0);
	ck_assert_str_eq(names[1] + 10, names[0]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("module");
	TCase *tcase = suite_case(suite, "module");

	tcase_add_test(tcase, plugin_is_looked_for_at_two_places_beside_the_library);
	return suite_run(suite);
}
