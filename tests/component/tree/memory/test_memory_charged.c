/* SPDX-License-Identifier: MIT */
/* The largest footprint beside what the tree's own cgroup was charged for. */
#include "pool_fixture.h"

#include <errno.h>

#include "os/cgroup/cgroup.h"
#include "tree/tree_inside.h"

/* What the file of the cgroup says, and how often it was read. */
static struct {
	uint64_t pages;
	int error;
	int reads;
} charged;

int __wrap_rti_cgroup_read_memory_peak(const struct rti_cgroup *cgroup,
                                       const struct rti_context *ctx, uint64_t *bytes);

int __wrap_rti_cgroup_read_memory_peak(const struct rti_cgroup *cgroup,
                                       const struct rti_context *ctx, uint64_t *bytes)
{
	(void)cgroup;
	(void)ctx;
	charged.reads++;
	if (charged.error == 0)
		*bytes = pages_to_bytes(charged.pages);
	return charged.error;
}

/* A parent and three children, of which nothing more can be read after the first sample. */
static void track_pool_and_read_once(void)
{
	struct rt_metrics m;

	charged.pages = ANON;
	charged.error = charged.reads = 0;
	track_pool(3);
	m = sample_pool_after(0);
	check_exact(&m, ANON, FILES);
	take_savings();
}

/* A member has so many faults that look like copies, and ends before it is read. */
static struct rt_metrics fault_and_end(uint64_t faults)
{
	processes[1].minflt += faults;
	run_and_write(1);
	sample_pool_after(MS);
	end_child(1);
	return sample_pool_after(MS);
}

/* Each member may have mapped other pages of the files, and others were charged for those. */
static const struct {
	uint64_t charged;
	int error;
	uint64_t needed, all;
} cases[] = {
	{ ANON + 1000, 0, ANON + 1000, ANON + 1000 + FILES },
	{ ANON + 400, 0, ANON + 400, ANON + 1000 + FILES },
	{ 0, 0, ANON, ANON + FILES }, /* so much was read */
	{ 0, -ENOENT, ANON + 1000, ANON + 1000 + FILES },
};

START_TEST(estimated_peak_is_no_more_than_the_cgroup_was_charged_and_files_of_others)
{
	struct rt_metrics m;

	track_pool_and_read_once();
	charged.pages = cases[_i].charged;
	charged.error = cases[_i].error;
	m = fault_and_end(1000);
	ck_assert_uint_eq(m.peak_needed_bytes, pages_to_bytes(cases[_i].needed));
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(cases[_i].all));
}
END_TEST

/* What is charged for no more than a file says is estimated without reading it again. */
START_TEST(charge_is_read_again_only_for_an_estimate_above_it)
{
	track_pool_and_read_once();
	charged.pages = ANON + 5000;
	for (int i = 0; i < 5; i++) {
		processes[1].minflt += 100;
		run_and_write(1);
		sample_pool_after(MS);
		ck_assert_int_le(charged.reads, 2);
	}
}
END_TEST

static struct rti_footprint get_parts(void)
{
	struct rti_tree_facts facts;

	rti_tree_get_facts(fix.tracker->tree, &facts);
	return facts.footprint_parts;
}

/* Copies that no read has shown are in no part of the peak, either. */
START_TEST(parts_of_the_peak_lack_what_is_only_suspected)
{
	struct rti_footprint parts;

	track_pool_and_read_once();
	charged.pages = ANON + 5000;
	processes[1].minflt += 1000;
	run_and_write(1);
	sample_pool_after(MS);
	parts = get_parts();
	ck_assert_uint_eq(parts.anon, pages_to_bytes(ANON));
	ck_assert_uint_eq(parts.file, pages_to_bytes(FILES));
	ck_assert_uint_eq(parts.shmem, 0);

	give_savings();
	for (int i = 0; i <= 3; i++) {
		processes[i].anon_kib = kib(ANON + 1000) / 4;
		processes[i].pss_kib = processes[i].anon_kib + kib(FILES) / 4;
		write_process(i);
	}
	sample_pool_after(SECOND);
	ck_assert_uint_eq(get_parts().anon, pages_to_bytes(ANON + 1000));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_charged");
	TCase *peaks = add_member_case(suite, "peaks");

	tcase_add_loop_test(
	    peaks, estimated_peak_is_no_more_than_the_cgroup_was_charged_and_files_of_others, 0,
	    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(peaks, charge_is_read_again_only_for_an_estimate_above_it);
	tcase_add_test(peaks, parts_of_the_peak_lack_what_is_only_suspected);
	return suite_run(suite);
}
