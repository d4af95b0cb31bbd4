/* SPDX-License-Identifier: MIT */
/* Parser of the bytes that getrusage(2) writes. */
#include "exact.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "parse/kernel_rusage.h"
#include "suite.h"

START_TEST(rusage_of_the_running_kernel_equals_that_of_libc)
{
	unsigned char bytes[RTI_KERNEL_RUSAGE_BYTES];
	struct rt_rusage parsed;
	struct rusage libc;

	ck_assert_int_eq(syscall(SYS_getrusage, RUSAGE_CHILDREN, bytes), 0);
	ck_assert_int_eq(getrusage(RUSAGE_CHILDREN, &libc), 0);
	ck_assert_int_eq(rti_parse_kernel_rusage(bytes, sizeof(bytes), &parsed), 0);
	ck_assert_int_eq(parsed.ru_minflt, libc.ru_minflt);
	ck_assert_int_eq(parsed.ru_maxrss, libc.ru_maxrss);
	ck_assert_int_eq(parsed.ru_nvcsw, libc.ru_nvcsw);
}
END_TEST

/* Words 1 to 18: each field has a value of its own. */
static void check_fields(const struct rt_rusage *parsed)
{
	ck_assert_double_eq_tol(parsed->ru_utime, 1.000002, 1e-12);
	ck_assert_double_eq_tol(parsed->ru_stime, 3.000004, 1e-12);
	ck_assert_int_eq(parsed->ru_maxrss, 5);
	ck_assert_int_eq(parsed->ru_ixrss, 6);
	ck_assert_int_eq(parsed->ru_idrss, 7);
	ck_assert_int_eq(parsed->ru_isrss, 8);
	ck_assert_int_eq(parsed->ru_minflt, 9);
	ck_assert_int_eq(parsed->ru_majflt, 10);
	ck_assert_int_eq(parsed->ru_nswap, 11);
	ck_assert_int_eq(parsed->ru_inblock, 12);
	ck_assert_int_eq(parsed->ru_oublock, 13);
	ck_assert_int_eq(parsed->ru_msgsnd, 14);
	ck_assert_int_eq(parsed->ru_msgrcv, 15);
	ck_assert_int_eq(parsed->ru_nsignals, 16);
	ck_assert_int_eq(parsed->ru_nvcsw, 17);
	ck_assert_int_eq(parsed->ru_nivcsw, 18);
}

START_TEST(rusage_of_a_64_bit_process_has_words_of_8_bytes)
{
	int64_t words[18];
	struct exact copy;
	struct rt_rusage parsed;

	for (int i = 0; i < 18; i++)
		words[i] = i + 1;
	copy = exact_bytes(words, sizeof(words));
	ck_assert_int_eq(rti_parse_kernel_rusage(copy.data, copy.len, &parsed), 0);
	check_fields(&parsed);
}
END_TEST

START_TEST(rusage_of_a_32_bit_process_has_words_of_4_bytes)
{
	int32_t words[18];
	struct exact copy;
	struct rt_rusage parsed;

	for (int i = 0; i < 18; i++)
		words[i] = i + 1;
	copy = exact_bytes(words, sizeof(words));
	ck_assert_int_eq(rti_parse_kernel_rusage(copy.data, copy.len, &parsed), 0);
	check_fields(&parsed);
}
END_TEST

START_TEST(rusage_of_another_size_is_refused_and_writes_nothing)
{
	static const size_t sizes[] = { 0, 1, 71, 73, 143, 145, 288 };
	struct exact zeros = exact_zeros(sizes[_i]);
	struct rt_rusage parsed, untouched;

	memset(&parsed, 0x55, sizeof(parsed));
	memset(&untouched, 0x55, sizeof(untouched));
	ck_assert_int_eq(rti_parse_kernel_rusage(zeros.data, zeros.len, &parsed), -EINVAL);
	ck_assert_mem_eq(&parsed, &untouched, sizeof(parsed));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_kernel_rusage");
	TCase *tests = suite_case(suite, "kernel_rusage");

	tcase_add_test(tests, rusage_of_the_running_kernel_equals_that_of_libc);
	tcase_add_test(tests, rusage_of_a_64_bit_process_has_words_of_8_bytes);
	tcase_add_test(tests, rusage_of_a_32_bit_process_has_words_of_4_bytes);
	tcase_add_loop_test(tests, rusage_of_another_size_is_refused_and_writes_nothing, 0, 7);
	return suite_run(suite);
}
