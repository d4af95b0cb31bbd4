/* SPDX-License-Identifier: MIT */
/* Opening a shared library: what is missing, and what cannot be opened at the moment. */
#include "os/library.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "suite.h"
#include "threads.h"

#define A_LIBRARY "libm.so.6"
#define A_LIBRARY_THAT_IS_NOT_LOADED "libresolv.so.2"

START_TEST(library_that_is_there_has_its_functions)
{
	double (*cosine)(double);
	void *library;

	ck_assert_int_eq(rti_library_open(A_LIBRARY, &library), 0);
	rti_library_function(library, "cos", (void *)&cosine);
	ck_assert_double_eq(cosine(0), 1);
	ck_assert_ptr_null(rti_library_symbol(library, "no_such_function"));
	rti_library_close(library);
}
END_TEST

START_TEST(library_that_is_missing_is_no_shortage)
{
	void *library;

	errno = EMFILE; /* of something else */
	ck_assert_int_eq(rti_library_open("librtrack-none.so.0", &library), -ENOENT);
	ck_assert_ptr_null(library);
	ck_assert_int_eq(rti_library_open("/dev/null", &library), -ENOENT); /* no library */
	rti_library_close(library);
}
END_TEST

unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);

static bool is_static;

/* Where the dynamic loader is. */
unsigned long __wrap_getauxval(unsigned long type)
{
	return is_static && type == AT_BASE ? 0 : __real_getauxval(type);
}

START_TEST(program_without_a_dynamic_loader_opens_no_library)
{
	void *library = &is_static;

	is_static = true;
	ck_assert_int_eq(rti_library_open(A_LIBRARY, &library), -ENOENT);
	ck_assert_ptr_null(library);
}
END_TEST

START_TEST(library_without_a_descriptor_left_is_not_missing)
{
	const struct rlimit few = { 16, 16 };
	int fd, last = -1, err;
	void *library;

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	while ((fd = dup(STDOUT_FILENO)) >= 0)
		last = fd;
	err = rti_library_open("/librtrack-none.so.0", &library);
	close(last); /* the leak detector needs one */
	ck_assert_int_eq(err, -EMFILE);
	ck_assert_ptr_null(library);
}
END_TEST

START_TEST(library_without_memory_left_is_not_missing)
{
	const struct rlimit none = { 0, 0 };
	void *library;

	ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
	ck_assert_int_eq(rti_library_open(A_LIBRARY_THAT_IS_NOT_LOADED, &library), -ENOMEM);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("library");
	TCase *tests = suite_case(suite, "library");

	tcase_add_test(tests, library_that_is_there_has_its_functions);
	tcase_add_test(tests, library_that_is_missing_is_no_shortage);
	tcase_add_test(tests, program_without_a_dynamic_loader_opens_no_library);
	tcase_add_test(tests, library_without_a_descriptor_left_is_not_missing);
	if (!IS_ADDRESS_SANITIZED && !IS_THREAD_SANITIZED)
		tcase_add_test(tests, library_without_memory_left_is_not_missing);
	return suite_run(suite);
}
