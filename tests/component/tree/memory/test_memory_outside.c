/* SPDX-License-Identifier: MIT */
/* The memory of a tree that shares files and shared memory with other processes. They map and unmap
 * them while the members do nothing. */
#include "pool_fixture.h"

#include <errno.h>

#include "tree/tree_inside.h"

/* Another process maps their files, too. They do not run, and so show nothing of that. */
START_TEST(sum_with_files_is_read_again_within_100_ms)
{
	struct rt_metrics m;

	write_pool(2);
	track_tree((struct rt_opts){ 0 });
	sample_pool_after(0);
	for (int i = 0; i <= 2; i++) {
		processes[i].pss_kib -= kib(50);
		write_process(i);
	}
	m = sample_pool_after(90 * MS);
	ck_assert_uint_eq(m.pss_source, RT_PSS_CACHED);
	check_exact(&m, ANON + FILES);
	m = sample_pool_after(10 * MS);
	ck_assert_uint_eq(m.pss_source, RT_PSS_READ);
	check_exact(&m, ANON + FILES - 150);
}
END_TEST

START_TEST(sum_with_files_that_cannot_be_read_again_is_an_estimate_after_100_ms)
{
	struct rt_process rows[3];
	struct rt_metrics m;
	size_t count = 3;

	track_pool(2);
	sample_pool_after(0);
	take_savings();
	m = sample_pool_after(100 * MS);
	ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
	ck_assert_uint_eq(m.pss_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_eq(m.pss_age_ns, 100 * MS);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_PSS), -EDQUOT);
	ck_assert_int_eq(rt_tracker_processes(fix.tracker, rows, sizeof(rows[0]), &count), 0);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_ne(rows[i].estimated & RT_HAS_PSS, 0);
		ck_assert_uint_eq(rows[i].pss_source, RT_PSS_ESTIMATED);
		ck_assert_uint_eq(rows[i].pss_bytes, pages_to_bytes((ANON + FILES) / 3));
	}
}
END_TEST

/* Of all that it has mapped, the tree has a third. */
START_TEST(shared_memory_that_other_processes_have_mapped_is_not_in_the_lower_bound)
{
	struct rt_metrics m;

	write_pool(0);
	processes[ROOT].shmem_kib = kib(FILES - 100);
	processes[ROOT].pss_kib = kib(ANON + FILES / 3);
	write_process(ROOT);
	track_tree((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);
	check_exact(&m, ANON + FILES / 3);
	take_savings();
	m = sample_pool_after(100 * MS);

	ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
	ck_assert_uint_eq(m.pss_bytes, pages_to_bytes(ANON + FILES / 3));
	ck_assert_uint_eq(m.pss_low_bytes, pages_to_bytes(ANON));
}
END_TEST

/* Other processes have mapped nearly all of them. Only a read shows that. */
START_TEST(peak_that_was_estimated_with_all_files_is_corrected_by_the_first_read)
{
	struct rt_metrics m;

	write_pool(0);
	processes[ROOT].pss_kib = kib(ANON + 20);
	write_process(ROOT);
	track_tree((struct rt_opts){ .pss_share = 1 });
	take_savings();
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.peak_tree_bytes, pages_to_bytes(ANON + FILES));
	give_savings();
	m = sample_pool_after(SECOND);

	check_exact(&m, ANON + 20);
	ck_assert_uint_eq(m.peak_tree_bytes, pages_to_bytes(ANON + 20));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory outside");
	TCase *files = add_member_case(suite, "files"), *shmem = add_member_case(suite, "shmem");

	tcase_add_test(files, sum_with_files_is_read_again_within_100_ms);
	tcase_add_test(files, sum_with_files_that_cannot_be_read_again_is_an_estimate_after_100_ms);
	tcase_add_test(shmem,
	               shared_memory_that_other_processes_have_mapped_is_not_in_the_lower_bound);
	tcase_add_test(files,
	               peak_that_was_estimated_with_all_files_is_corrected_by_the_first_read);
	return suite_run(suite);
}
