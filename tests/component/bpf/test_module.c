/* SPDX-License-Identifier: MIT */
/* Where the plug-in is looked for, and which one is used: the test takes the place of the directory
 * of the library, and of what opens the plug-in. */
#include "bpf/module.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "os/library.h"
#include "os/origin.h"
#include "suite.h"

#define ENTRY "rti_no_such_entry"

static const char *names[8];
static unsigned looks;

/* What is installed. */
static struct {
	const void *entry; /* NULL: it has none of this name */
	int open_error;
	unsigned opens, closes;
} plugin;

int __wrap_rti_origin_open(const char *name, struct rti_origin_file *out);

int __wrap_rti_origin_open(const char *name, struct rti_origin_file *out)
{
	out->dir = -1;
	ck_assert_uint_lt(looks, 8);
	names[looks++] = name;
	return -ENOENT;
}

int __wrap_rti_library_open(const char *name, void **out);
const void *__wrap_rti_library_symbol(void *library, const char *name);
void __wrap_rti_library_close(void *library);

/* Nothing lies beside the library here, so what is opened is what is installed. */
int __wrap_rti_library_open(const char *name, void **out)
{
	ck_assert_int_eq(name[0], '/');
	if (plugin.open_error)
		return plugin.open_error;
	plugin.opens++;
	*out = &plugin;
	return 0;
}

const void *__wrap_rti_library_symbol(void *library, const char *name)
{
	ck_assert_ptr_eq(library, &plugin);
	ck_assert_str_eq(name, ENTRY);
	return plugin.entry;
}

void __wrap_rti_library_close(void *library)
{
	ck_assert_ptr_eq(library, &plugin);
	plugin.closes++;
}

/* In a build tree, and in an installation. */
START_TEST(plugin_is_looked_for_at_two_places_beside_the_library)
{
	struct rti_module module = { 0 };

	plugin.open_error = -ENOENT;
	ck_assert_int_eq(rti_module_open(&module, ENTRY, (struct rti_module_version){ 0 }),
	                 -ENOENT);

	ck_assert_uint_eq(looks, 2);
	ck_assert_ptr_null(strchr(names[0], '/'));
	ck_assert_int_eq(strncmp(names[1], "librtrack/", 10), 0);
	ck_assert_str_eq(names[1] + 10, names[0]);
}
END_TEST

static const struct {
	struct rti_module_version found;
	bool has_entry;
	int open_error, err;
} cases[] = {
	{ { 5, 100 }, true, 0, 0 },
	/* Of another release. */
	{ { 4, 100 }, true, 0, -ENOENT },
	{ { 6, 100 }, true, 0, -ENOENT },
	{ { 5, 108 }, true, 0, -ENOENT },
	{ { 0, 0 }, false, 0, -ENOENT },
	{ { 5, 100 }, true, -ENOMEM, -ENOMEM },
};

START_TEST(plugin_is_used_if_it_is_of_this_release)
{
	struct rti_module module = { 0 };

	if (cases[_i].has_entry)
		plugin.entry = &cases[_i].found;
	plugin.open_error = cases[_i].open_error;
	ck_assert_int_eq(rti_module_open(&module, ENTRY, (struct rti_module_version){ 5, 100 }),
	                 cases[_i].err);
	if (cases[_i].err == 0) {
		ck_assert_ptr_eq(module.ops, &cases[_i].found);
		rti_module_close(&module);
	}
	ck_assert_uint_eq(plugin.closes, plugin.opens);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("module");
	TCase *tcase = suite_case(suite, "module");

	tcase_add_test(tcase, plugin_is_looked_for_at_two_places_beside_the_library);
	tcase_add_loop_test(tcase, plugin_is_used_if_it_is_of_this_release, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	return suite_run(suite);
}
