/* SPDX-License-Identifier: MIT */
/* Where the library looks for its programs: relative to its own file, as the system loader says,
 * and in no directory that others may write to. What the loader says is the test's. */
#include "os/origin.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "suite.h"

#define OTHER_USER 12345
#define THIRD_USER 12346
#define UNMAPPED 65534 /* in a user namespace, any user that it does not know */

static struct fixture f;

/* What the loader says. */
static struct {
	bool is_secure; /* the program has more rights than its caller */
	bool is_static; /* this code is in the main program */
	bool has_headers;
	const char *library; /* the file of this code; NULL: it is not known */
	bool is_found;
} loader;

/* Headers of a program that does not contain this code. */
static ElfW(Phdr) headers[3];

/* The linker calls these instead of the functions in their names. */
unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);
int __wrap_dladdr(const void *address, Dl_info *out);

unsigned long __wrap_getauxval(unsigned long type)
{
	if (type == AT_SECURE)
		return loader.is_secure;
	if (loader.is_static)
		return __real_getauxval(type);
	if (type == AT_PHDR)
		return loader.has_headers ? (unsigned long)headers : 0;
	return type == AT_PHNUM ? 3 : __real_getauxval(type);
}

int __wrap_dladdr(const void *address, Dl_info *out)
{
	(void)address;
	*out = (Dl_info){ .dli_fname = loader.library };
	return loader.is_found;
}

static char library[256];

static void set_up(void)
{
	char path[256];

	fixture_new(&f);
	fixture_write(&f, "lib/librtrack.so", "");
	fixture_write(&f, "lib/tool", "");
	snprintf(path, sizeof(path), "%s/lib", f.root);
	ck_assert_int_eq(chmod(path, 0755), 0);
	snprintf(library, sizeof(library), "%s/lib/librtrack.so", f.root);
	loader.library = library;
	loader.has_headers = loader.is_found = true;
	headers[0] = (ElfW(Phdr)){ .p_type = PT_PHDR, .p_vaddr = (ElfW(Addr))headers };
	headers[1] = (ElfW(Phdr)){ .p_type = PT_LOAD, .p_vaddr = 4096, .p_memsz = 4096 };
	headers[2] = (ElfW(Phdr)){ .p_type = PT_NOTE };
	rti_origin_note_library();
}

static void tear_down(void)
{
	fixture_free(&f);
}

static int look(const char *name)
{
	struct rti_origin_file file;
	int err = rti_origin_open(name, &file);

	if (err == 0) {
		ck_assert_str_eq(file.name, strrchr(name, '/') ? strrchr(name, '/') + 1 : name);
		ck_assert_int_ge(file.dir, 0);
		close(file.dir);
	} else {
		ck_assert_int_eq(file.dir, -1);
	}
	ck_assert(err != 0 || strncmp(file.path, f.root, strlen(f.root)) == 0);
	return err;
}

START_TEST(file_beside_the_library_is_found)
{
	ck_assert_int_eq(look("tool"), 0);
	ck_assert_int_eq(look("../lib/tool"), 0);
	ck_assert_int_eq(look("none"), -ENOENT);
	ck_assert_int_eq(look("../none/tool"), -ENOENT);
}
END_TEST

/* In an installation that was moved: where plug-ins are, or programs. */
START_TEST(file_of_the_installation_is_found)
{
	static const char *const places[] = { "lib/librtrack/", "lib/" RTI_HELPERS_FROM_LIB };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char path[512];

		snprintf(path, sizeof(path), "%sother", places[i]);
		ck_assert_int_eq(look("other"), -ENOENT);
		fixture_write(&f, path, "");
		ck_assert_int_eq(look("other"), 0);
		fixture_remove(&f, path);
	}
}
END_TEST

/* Not of the directory of the link: e.g. a package manager links the library alone. */
START_TEST(directory_is_that_of_the_file_that_a_link_leads_to)
{
	char path[512];

	fixture_link(&f, "links/librtrack.so", library);
	snprintf(path, sizeof(path), "%s/links/librtrack.so", f.root);
	loader.library = path;
	ck_assert_int_eq(look("tool"), 0);
	fixture_remove(&f, "lib/librtrack.so"); /* a package was removed, and its helpers not yet */
	ck_assert_int_eq(look("tool"), -ENOENT);
	loader.library = library;
	ck_assert_int_eq(look("tool"), 0);
}
END_TEST

START_TEST(library_that_cannot_be_relied_on_has_nothing_beside_it)
{
	loader.is_secure = true;
	ck_assert_int_eq(look("tool"), -ENOENT);
	loader.is_secure = false;
	loader.is_found = false;
	ck_assert_int_eq(look("tool"), -ENOENT);
	loader.is_found = true;
	loader.library = NULL;
	ck_assert_int_eq(look("tool"), -ENOENT);
	loader.library = "librtrack.so"; /* relative to a directory that may have changed */
	ck_assert_int_eq(look("tool"), -ENOENT);
	loader.library = library;
	ck_assert_int_eq(look("tool"), 0);
}
END_TEST

/* Then the file of this code is the program, which may be anywhere. */
START_TEST(static_program_has_nothing_beside_it)
{
	loader.is_static = true;
	ck_assert_int_eq(look("tool"), -ENOENT);
	loader.is_static = false;
	loader.has_headers = false; /* so the loader says nothing of a program */
	ck_assert_int_eq(look("tool"), -ENOENT);
	loader.has_headers = true;
	headers[0].p_type = PT_NULL;
	ck_assert_int_eq(look("tool"), -ENOENT);
}
END_TEST

START_TEST(path_that_is_too_long_is_not_cut)
{
	static char name[RTI_DESCRIPTOR_PATH_MAX + 8192];

	memset(name, 'a', sizeof(name) - 1);
	ck_assert_int_eq(look(name), -ENOENT);
}
END_TEST

START_TEST(want_of_descriptors_is_no_a_missing_file)
{
	struct rlimit limit, none;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert_int_eq(look("tool"), -EMFILE);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}
END_TEST

/* A file that others may change is not run, unless they may change the library, too. */
static const struct {
	mode_t mode, library_mode;
	int dir_user, dir_group, user, group;
	int library_user, library_group;
	enum { OURS, DIR_OF_OTHERS, FILE_OF_OTHERS } refused;
} owners[] = {
	{ 0755, 0755, 0, 0, 0, 0, 0, 0, OURS },
	{ 0757, 0755, 0, 0, 0, 0, 0, 0, DIR_OF_OTHERS },
	{ 0757, 0757, 0, 0, 0, 0, 0, 0, DIR_OF_OTHERS },
	{ 0775, 0755, 0, 0, 0, 0, 0, 0, OURS },
	{ 0775, 0755, 0, OTHER_USER, 0, 0, 0, 0, DIR_OF_OTHERS },
	{ 0775, 0755, 0, OTHER_USER, 0, 0, 0, OTHER_USER, DIR_OF_OTHERS },
	{ 0775, 0775, 0, OTHER_USER, 0, 0, 0, OTHER_USER, OURS },
	{ 0775, 0775, 0, OTHER_USER, 0, 0, 0, THIRD_USER, DIR_OF_OTHERS },
	{ 0755, 0755, 0, OTHER_USER, 0, 0, 0, 0, OURS },
	{ 0755, 0755, OTHER_USER, 0, 0, 0, 0, 0, DIR_OF_OTHERS },
	{ 0755, 0755, OTHER_USER, 0, OTHER_USER, 0, OTHER_USER, 0, OURS },
	{ 0755, 0755, OTHER_USER, 0, THIRD_USER, 0, OTHER_USER, 0, FILE_OF_OTHERS },
	{ 0755, 0755, 0, 0, OTHER_USER, 0, THIRD_USER, 0, FILE_OF_OTHERS },
	{ 0755, 0755, 0, 0, OTHER_USER, 0, 0, 0, FILE_OF_OTHERS },
	{ 0755, 0755, UNMAPPED, 0, UNMAPPED, 0, UNMAPPED, 0, DIR_OF_OTHERS },
};

START_TEST(file_is_used_if_users_that_may_change_it_may_change_the_library)
{
	const bool is_dir = owners[_i].refused == DIR_OF_OTHERS;
	struct rti_origin_file refused;
	char dir[256], file[300];

	if (geteuid() != 0) {
		suite_skip_test("only root can give files away");
		return;
	}
	snprintf(dir, sizeof(dir), "%s/lib", f.root);
	snprintf(file, sizeof(file), "%s/tool", dir);
	ck_assert_int_eq(chown(dir, (uid_t)owners[_i].dir_user, (gid_t)owners[_i].dir_group), 0);
	ck_assert_int_eq(chown(file, (uid_t)owners[_i].user, (gid_t)owners[_i].group), 0);
	ck_assert_int_eq(
	    chown(library, (uid_t)owners[_i].library_user, (gid_t)owners[_i].library_group), 0);
	ck_assert_int_eq(chmod(dir, owners[_i].mode), 0);
	ck_assert_int_eq(chmod(library, owners[_i].library_mode), 0);
	rti_origin_note_library();
	ck_assert_int_eq(look("tool"), owners[_i].refused == OURS ? 0 : -EPERM);
	ck_assert_int_eq(rti_origin_is_refused("tool", &refused), owners[_i].refused != OURS);
	ck_assert_int_eq(refused.dir, -1);
	if (owners[_i].refused == OURS)
		return;
	ck_assert_str_eq(refused.path, is_dir ? dir : file);
	ck_assert_uint_eq(refused.mode, is_dir ? owners[_i].mode : 0644);
	ck_assert_int_eq((int)refused.uid, is_dir ? owners[_i].dir_user : owners[_i].user);
	ck_assert_int_eq((int)refused.gid, is_dir ? owners[_i].dir_group : owners[_i].group);
}
END_TEST

/* The owner of what is there by now need not be that of what was loaded. */
START_TEST(owner_of_the_library_is_that_of_the_time_when_it_was_loaded)
{
	char path[256];

	if (geteuid() != 0) {
		suite_skip_test("only root can give files away");
		return;
	}
	snprintf(path, sizeof(path), "%s/lib/tool", f.root);
	ck_assert_int_eq(chown(path, OTHER_USER, 0), 0);
	ck_assert_int_eq(chown(library, OTHER_USER, 0), 0);
	ck_assert_int_eq(look("tool"), -EPERM);
	rti_origin_note_library();
	ck_assert_int_eq(look("tool"), 0);
}
END_TEST

/* What another user has put there does not keep the own file from being found. */
START_TEST(file_of_others_is_passed_over)
{
	char path[256];

	if (geteuid() != 0) {
		suite_skip_test("only root can give files away");
		return;
	}
	snprintf(path, sizeof(path), "%s/lib/tool", f.root);
	ck_assert_int_eq(chown(path, OTHER_USER, 0), 0);
	ck_assert_int_eq(look("tool"), -EPERM);
	fixture_write(&f, "lib/librtrack/tool", "");
	ck_assert_int_eq(look("tool"), 0);
}
END_TEST

START_TEST(directory_of_others_is_passed_over)
{
	char dir[256];

	snprintf(dir, sizeof(dir), "%s/lib", f.root);
	ck_assert_int_eq(chmod(dir, 0757), 0);
	ck_assert_int_eq(look("tool"), -EPERM);
	fixture_write(&f, "lib/librtrack/tool", "");
	ck_assert_int_eq(look("tool"), 0);
}
END_TEST

START_TEST(refused_file_is_named_without_links_and_steps_up)
{
	struct rti_origin_file refused;
	char path[300], link[300];

	fixture_write(&f, "other/tool", "");
	snprintf(path, sizeof(path), "%s/other", f.root);
	snprintf(link, sizeof(link), "%s/lib/link", f.root);
	ck_assert_int_eq(symlink(path, link), 0);
	ck_assert_int_eq(chmod(path, 0757), 0);
	ck_assert(rti_origin_is_refused("../other/tool", &refused));
	ck_assert_str_eq(refused.path, path);
	ck_assert(rti_origin_is_refused("link/tool", &refused));
	ck_assert_str_eq(refused.path, path);
	ck_assert_int_eq(chmod(path, 0755), 0);
	strcat(path, "/tool");
	ck_assert_int_eq(chmod(path, 0646), 0);
	ck_assert(rti_origin_is_refused("../other/tool", &refused));
	ck_assert_str_eq(refused.path, path);
}
END_TEST

/* The group of a user may be one of its own; files of it may be those of root, too. */
START_TEST(directory_that_the_own_group_may_write_to_is_used_by_that_user_alone)
{
	char dir[256];

	if (geteuid() != 0) {
		suite_skip_test("only root can become another user");
		return;
	}
	snprintf(dir, sizeof(dir), "%s/lib", f.root);
	ck_assert_int_eq(chmod(f.root, 0755), 0);
	ck_assert_int_eq(chown(dir, OTHER_USER, OTHER_USER), 0);
	ck_assert_int_eq(chmod(dir, 0775), 0);
	ck_assert_int_eq(setegid(OTHER_USER), 0);
	ck_assert_int_eq(seteuid(OTHER_USER), 0);
	ck_assert_int_eq(look("tool"), 0);
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(setegid(0), 0);
	ck_assert_int_eq(seteuid(OTHER_USER), 0); /* the group is another one */
	ck_assert_int_eq(look("tool"), -EPERM);
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(chown(dir, 0, OTHER_USER), 0);
	ck_assert_int_eq(seteuid(OTHER_USER), 0);
	ck_assert_int_eq(look("tool"), -EPERM);
	ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

START_TEST(what_is_no_file_is_not_used)
{
	fixture_remove(&f, "lib/tool");
	fixture_link(&f, "lib/tool", "/bin/true");
	ck_assert_int_eq(look("tool"), -ENOENT);
	fixture_remove(&f, "lib/tool");
	fixture_mkdir(&f, "lib/tool");
	ck_assert_int_eq(look("tool"), -ENOENT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("origin");
	TCase *tests = suite_case(suite, "files");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, file_beside_the_library_is_found);
	tcase_add_test(tests, library_that_cannot_be_relied_on_has_nothing_beside_it);
	tcase_add_test(tests, static_program_has_nothing_beside_it);
	tcase_add_test(tests, file_of_the_installation_is_found);
	tcase_add_test(tests, directory_is_that_of_the_file_that_a_link_leads_to);
	tcase_add_test(tests, path_that_is_too_long_is_not_cut);
	tcase_add_test(tests, want_of_descriptors_is_no_a_missing_file);
	tcase_add_loop_test(tests, file_is_used_if_users_that_may_change_it_may_change_the_library,
	                    0, sizeof(owners) / sizeof(owners[0]));
	tcase_add_test(tests, owner_of_the_library_is_that_of_the_time_when_it_was_loaded);
	tcase_add_test(tests, file_of_others_is_passed_over);
	tcase_add_test(tests, directory_of_others_is_passed_over);
	tcase_add_test(tests, refused_file_is_named_without_links_and_steps_up);
	tcase_add_test(tests, directory_that_the_own_group_may_write_to_is_used_by_that_user_alone);
	tcase_add_test(tests, what_is_no_file_is_not_used);
	return suite_run(suite);
}
