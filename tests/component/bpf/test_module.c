/* SPDX-License-Identifier: MIT */
/* Which plug-in is used: the test takes the place of what finds it, and of what opens it. */
#include "bpf/module.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "os/library.h"
#include "os/origin.h"
#include "suite.h"

#define ENTRY "rti_no_such_entry"

/* What is installed. */
static struct {
	const void *entry; /* NULL: it has none of this name */
	int open_error;
	int find_error;
	unsigned opens, closes;
} plugin;
static int dir; /* that it is in */

int __wrap_rti_origin_open(const char *name, struct rti_origin_file *out);

int __wrap_rti_origin_open(const char *name, struct rti_origin_file *out)
{
	ck_assert_ptr_null(strchr(name, '/'));
	out->dir = plugin.find_error ? -1 : open("/", O_PATH | O_CLOEXEC);
	out->name = name;
	dir = out->dir;
	return plugin.find_error;
}

int __wrap_rti_library_open(const char *name, void **out);
const void *__wrap_rti_library_symbol(void *library, const char *name);
void __wrap_rti_library_close(void *library);

/* What is opened is what was found, whatever its path leads to by now. */
int __wrap_rti_library_open(const char *name, void **out)
{
	char path[RTI_DESCRIPTOR_PATH_MAX];

	snprintf(path, sizeof(path), "/proc/self/fd/%d/", dir);
	ck_assert_int_eq(strncmp(name, path, strlen(path)), 0);
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

static const struct {
	struct rti_module_version found;
	bool has_entry;
	int find_error, open_error, err;
} cases[] = {
	{ { 5, 100 }, true, 0, 0, 0 },
	/* Of another release. */
	{ { 4, 100 }, true, 0, 0, -ENOENT },
	{ { 6, 100 }, true, 0, 0, -ENOENT },
	{ { 5, 108 }, true, 0, 0, -ENOENT },
	{ { 0, 0 }, false, 0, 0, -ENOENT },
	{ { 5, 100 }, true, 0, -ENOMEM, -ENOMEM },
	{ { 5, 100 }, true, -ENOENT, 0, -ENOENT },
	{ { 5, 100 }, true, -EPERM, 0, -ENOENT }, /* others may change it */
	{ { 5, 100 }, true, -EMFILE, 0, -EMFILE },
};

START_TEST(plugin_is_used_if_it_is_of_this_release)
{
	struct rti_module module = { 0 };

	if (cases[_i].has_entry)
		plugin.entry = &cases[_i].found;
	plugin.find_error = cases[_i].find_error;
	plugin.open_error = cases[_i].open_error;
	ck_assert_int_eq(rti_module_open(&module, ENTRY, (struct rti_module_version){ 5, 100 }),
	                 cases[_i].err);
	if (cases[_i].err == 0) {
		ck_assert_ptr_eq(module.ops, &cases[_i].found);
		rti_module_close(&module);
	}
	ck_assert_uint_eq(plugin.closes, plugin.opens);
	ck_assert(dir < 0 || fcntl(dir, F_GETFD) < 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("module");
	TCase *tcase = suite_case(suite, "module");

	tcase_add_loop_test(tcase, plugin_is_used_if_it_is_of_this_release, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	return suite_run(suite);
}
