/* SPDX-License-Identifier: MIT */
/* What a tree maps of files, shared memory and huge pages: which members are read, when, and what
 * stands in for the others. */
#include "pool_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tree/tree_inside.h"

/* --- How often the mappings of each member are read. --- */

static struct read_count {
	char suffix[32];
	unsigned reads;
} counts[CHILDREN + 1];

static void count_read(void *arg)
{
	struct read_count *count = arg;

	count->reads++;
	faults_before_open(count->suffix, count_read, count);
}

static void count_reads(void)
{
	for (int i = 0; i <= CHILDREN; i++) {
		counts[i].reads = 0;
		snprintf(counts[i].suffix, sizeof(counts[i].suffix), "%d/smaps", 100 + i);
		faults_before_open(counts[i].suffix, count_read, &counts[i]);
	}
}

static void check_reads(unsigned root, unsigned first, unsigned second, unsigned third)
{
	const unsigned expected[] = { root, first, second, third };

	for (int i = 0; i < 4; i++)
		ck_assert_msg(counts[i].reads == expected[i], "%d: %u reads", 100 + i,
		              counts[i].reads);
}

/* A shell, and three that it has started, which run another program. */
static void write_programs(void)
{
	write_pool(3);
	for (int i = 1; i <= 3; i++) {
		execute_other_program(i);
		set_pages(i, i == 2 ? 50 : 300, 2 * FILES, 1);
		write_process(i);
	}
}

static void track(struct rt_opts opts)
{
	count_reads();
	track_tree(opts);
}

START_TEST(smallest_member_is_read_for_all_that_run_its_program)
{
	struct rt_metrics m;

	write_programs();
	track((struct rt_opts){ .pss_share = 1 });
	for (int i = 0; i < 3; i++) {
		m = sample_pool_after(SECOND);
		check_exact(&m, ANON + 650, 2 * FILES);
		ck_assert_uint_eq(m.footprint_low_bytes, pages_to_bytes(ANON + 650 + 2 * FILES));
		ck_assert_uint_eq(m.footprint_high_bytes,
		                  pages_to_bytes(ANON + 650 + FILES + 3 * 2 * FILES));
		run_and_write(1);
	}
	check_reads(1, 0, 1, 0);
}
END_TEST

/* All was read that is to be. */
START_TEST(files_of_which_processes_may_map_other_pages_are_explained)
{
	struct rt_obstacle o;

	write_programs();
	track((struct rt_opts){ .pss_share = 1 });
	sample_pool_after(0);
	ck_assert_int_eq(rt_tracker_obstacle(fix.tracker, RT_HAS_FOOTPRINT, &o, sizeof(o)), 0);
	ck_assert_uint_eq(o.kind, RT_OBSTACLE_UNSEEN);
	ck_assert_int_eq(o.error, -ENODATA);
	ck_assert_int_eq(o.pid, 0);
	ck_assert_msg(strstr(o.text, "between the two bounds") != NULL, "%s", o.text);
}
END_TEST

/* It maps less than the others, so it says too little of the program. */
START_TEST(member_that_has_mapped_little_is_not_read_for_its_program)
{
	write_programs();
	set_pages(2, 50, FILES, 1);
	write_process(2);
	track((struct rt_opts){ .pss_share = 1 });
	sample_pool_after(0);
	ck_assert_uint_eq(counts[2].reads, 0);
	ck_assert_uint_eq(counts[1].reads + counts[3].reads, 1);
}
END_TEST

/* A part of 32, and 64 pages. It has stopped to grow for longer than a second. */
START_TEST(program_is_read_again_once_a_member_maps_a_part_of_32_more)
{
	const uint64_t most = 2 * FILES / 32 + 64;
	struct rt_metrics m;

	write_programs();
	track((struct rt_opts){ .pss_share = 1 });
	sample_pool_after(0);
	check_reads(1, 0, 1, 0);
	processes[1].shared_pages += most;
	processes[1].rss_pages += most;
	run_and_write(1);
	m = sample_pool_after(SECOND);
	check_reads(1, 0, 1, 0);
	check_exact(&m, ANON + 650, 2 * FILES + most);
	ck_assert_uint_eq(m.footprint_low_bytes, pages_to_bytes(ANON + 650 + 2 * FILES));
	processes[1].shared_pages++;
	processes[1].rss_pages++;
	run_and_write(1);
	m = sample_pool_after(SECOND);
	check_reads(1, 1, 1, 0);
	check_exact(&m, ANON + 650, 2 * FILES + most + 1);
	ck_assert_uint_eq(m.footprint_low_bytes, pages_to_bytes(ANON + 650 + 2 * FILES + most + 1));
}
END_TEST

START_TEST(program_that_maps_a_little_more_is_read_again_on_request)
{
	struct rt_metrics m;

	write_pool(0);
	track((struct rt_opts){ .pss_share = 1 });
	sample_pool_after(0);
	set_pages(ROOT, ANON, FILES + 50, 1);
	run_and_write(ROOT);
	m = sample_pool_after(SECOND);
	check_reads(1, 0, 0, 0);
	ck_assert_uint_eq(m.estimated & RT_HAS_FOOTPRINT, RT_HAS_FOOTPRINT);
	ck_assert_int_eq(rt_tracker_read_memory(fix.tracker), 0);
	m = sample_pool_after(SECOND);
	check_reads(2, 0, 0, 0);
	check_exact(&m, ANON, FILES + 50);
	ck_assert_uint_eq(m.footprint_low_bytes, m.footprint_high_bytes);
}
END_TEST

/* A program that is starting maps more from sample to sample. It is read once it has stopped, also
 * if nothing else changes by then. */
START_TEST(program_that_grows_is_read_once_it_has_stopped)
{
	struct rt_metrics m;

	write_pool(0);
	track((struct rt_opts){ .pss_share = 1 });
	sample_pool_after(0);
	for (uint64_t i = 1; i <= 3; i++) {
		set_pages(ROOT, ANON, FILES + 90 * i, 1);
		run_and_write(ROOT);
		sample_pool_after(10 * MS);
		check_reads(1, 0, 0, 0);
	}
	m = sample_pool_after(10 * MS);
	check_reads(2, 0, 0, 0);
	check_exact(&m, ANON, FILES + 270);
	ck_assert_uint_eq(m.footprint_low_bytes, m.footprint_bytes);
	sample_pool_after(10 * MS);
	check_reads(2, 0, 0, 0);
}
END_TEST

/* E.g.: a build, which starts the same compiler again and again. */
START_TEST(program_that_ran_before_is_not_read_again)
{
	struct rt_metrics m;

	write_pool(1);
	execute_other_program(1);
	set_pages(1, 300, 2 * FILES, 1);
	write_process(1);
	track((struct rt_opts){ .pss_share = 1 });
	sample_pool_after(0);
	check_reads(1, 1, 0, 0);
	end_child(1);
	sample_pool_after(SECOND);
	make_process(2, false);
	processes[2].exe = "/bin/other";
	set_pages(2, 300, 2 * FILES, 1);
	write_process(2);
	list_children();
	m = sample_pool_after(SECOND);
	check_reads(1, 1, 0, 0);
	check_exact(&m, ANON + 300, 2 * FILES);
	/* What the new process has of it, no read has shown. */
	ck_assert_uint_eq(m.footprint_low_bytes, pages_to_bytes(ANON + 300 + FILES));
}
END_TEST

/* It would take 20 ms. */
START_TEST(process_above_1_gib_is_not_read)
{
	const uint64_t anon = (UINT64_C(1) << 20) / kib(1) - FILES;
	struct rt_metrics m;

	write_pool(0);
	set_pages(ROOT, anon + (uint64_t)_i, FILES, 1);
	write_process(ROOT);
	track((struct rt_opts){ .pss_share = 1000 });
	m = sample_pool_after(0);
	ck_assert_uint_eq(counts[ROOT].reads, _i == 0);
	check_exact(&m, anon + (uint64_t)_i, FILES);
	ck_assert_uint_eq(m.footprint_low_bytes,
	                  pages_to_bytes(anon + (uint64_t)_i + (_i ? 0 : FILES)));

	/* Unless that is asked for. */
	counts[ROOT].reads = 0;
	ck_assert_int_eq(rt_tracker_read_memory(fix.tracker), 0);
	m = sample_pool_after(0);
	ck_assert_uint_eq(counts[ROOT].reads, 1);
	ck_assert_uint_eq(m.footprint_low_bytes, m.footprint_bytes);
}
END_TEST

START_TEST(mappings_are_read_once_the_budget_allows_it)
{
	struct rt_metrics m;

	write_programs();
	track((struct rt_opts){ .pss_share = 1 });
	take_savings();
	m = sample_pool_after(0);
	check_reads(0, 0, 0, 0);
	/* The shell has nothing that the other program has not. */
	check_exact(&m, ANON + 650, 2 * FILES);
	ck_assert_uint_eq(m.footprint_low_bytes, pages_to_bytes(ANON + 650));
	ck_assert_uint_ne(m.estimated & RT_HAS_FOOTPRINT, 0);
	give_savings();
	m = sample_pool_after(SECOND);
	check_reads(1, 0, 1, 0);
	ck_assert_uint_eq(m.footprint_low_bytes, pages_to_bytes(ANON + 650 + 2 * FILES));
}
END_TEST

START_TEST(mappings_that_could_not_be_read_are_read_again_after_a_second)
{
	struct rt_metrics m;

	write_pool(0);
	track((struct rt_opts){ .pss_share = 1 });
	faults_on_open("100/smaps", -EACCES);
	m = sample_pool_after(0);
	check_exact(&m, ANON, FILES);
	ck_assert_uint_ne(m.estimated & RT_HAS_FOOTPRINT, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_FOOTPRINT), -EACCES);
	ck_assert_uint_eq(m.footprint_low_bytes, pages_to_bytes(ANON));
	faults_on_open("100/smaps", 0);
	sample_pool_after(SECOND - 1);
	ck_assert_uint_eq(counts[ROOT].reads, 1);
	m = sample_pool_after(1);
	ck_assert_uint_eq(counts[ROOT].reads, 2);
	ck_assert_uint_ne(m.valid & RT_HAS_FOOTPRINT, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_FOOTPRINT), 0);
}
END_TEST

/* smaps_rollup is another file. */
START_TEST(mappings_that_cannot_be_read_leave_anonymous_memory_exact)
{
	struct rt_metrics m;

	write_pool(1);
	track((struct rt_opts){ .flags = RT_OPT_PSS_READS, .pss_share = 1000 });
	faults_on_open("/smaps", -EACCES);
	for (int i = 0; i < 2; i++) {
		m = sample_pool_after(MS);
		check_exact(&m, ANON, FILES);
		ck_assert_uint_ne(m.valid & RT_HAS_PSS, 0);
		ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_NEEDED), 0);
		ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_PSS), 0);
		ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_FOOTPRINT), -EACCES);
	}
}
END_TEST

START_TEST(mappings_are_read_again_though_pss_cannot_be)
{
	struct rt_metrics m;

	write_pool(1);
	track((struct rt_opts){ .flags = RT_OPT_PSS_READS, .pss_share = 1000 });
	faults_on_open("/smaps_rollup", -EACCES);
	sample_pool_after(0);
	for (int i = 0; i < 2; i++) {
		set_pages(i, ANON, 2 * FILES, 2);
		run_and_write(i);
	}
	m = sample_pool_after(MS);
	ck_assert_uint_eq(counts[ROOT].reads + counts[1].reads, 2);
	ck_assert_uint_eq(m.footprint_file_bytes, pages_to_bytes(2 * FILES));
	ck_assert_uint_eq(m.footprint_low_bytes, pages_to_bytes(ANON + 2 * FILES));
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_PSS), -EACCES);
	check_estimate(&m, -EACCES);
}
END_TEST

/* Nothing of it is shared, so smaps_rollup is not read. */
START_TEST(mappings_that_are_read_show_what_was_freed_lazily)
{
	struct rt_metrics m;

	write_pool(0);
	processes[ROOT].lazy_kib = kib(100);
	write_process(ROOT);
	track((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_eq(m.needed_bytes, pages_to_bytes(ANON - 100));
	ck_assert_uint_eq(m.needed_high_bytes, pages_to_bytes(ANON));
}
END_TEST

static void end_root(void *arg)
{
	(void)arg;
	fixture_write(&fix.root, "proc/100/statm", "0 0 0 0 0 0 0");
}

/* Its pages still count for this sample. */
START_TEST(lazily_freed_memory_of_a_member_that_ended_while_it_was_read_is_not_needed)
{
	struct rt_metrics m;

	write_pool(0);
	track((struct rt_opts){ .pss_share = 1 });
	sample_pool_after(0);
	processes[ROOT].lazy_kib = kib(100);
	run_and_write(ROOT);
	faults_before_open("100/smaps_rollup", end_root, NULL);
	ck_assert_int_eq(rt_tracker_read_memory(fix.tracker), 0);
	m = sample_pool_after(MS);
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_eq(m.needed_bytes, pages_to_bytes(ANON - 100));
}
END_TEST

/* A file that no parser knows. */
START_TEST(mappings_that_cannot_be_parsed_are_no_image)
{
	struct rt_metrics m;

	write_pool(0);
	fixture_write(&fix.root, "proc/100/smaps",
	              "1000-2000 r--p 00000000 08:01 1 /lib/a\nRss: 9 kB\nwhat is this\n");
	track((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_FOOTPRINT), -EBADMSG);
	check_exact(&m, ANON, FILES);
	ck_assert_uint_eq(m.footprint_low_bytes, pages_to_bytes(ANON));
	ck_assert_uint_eq(m.footprint_high_bytes, pages_to_bytes(ANON + FILES));
}
END_TEST

/* --- Processes of one program that each map another part of a file. --- */

#define PART 3000 /* pages: of two, less than 32 MiB, and of four more than that */

static void map_part(int i, uint64_t pages, uint64_t pss)
{
	set_pages(i, ANON, pages, 1);
	processes[i].file_pss_kib = kib(pss);
	run_and_write(i);
}

START_TEST(parts_of_a_file_add_up_over_members_that_map_as_much)
{
	struct rt_metrics m;

	write_pool(3);
	for (int i = 0; i <= 3; i++)
		map_part(i, PART, _i ? PART : PART / 4);
	track((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);
	ck_assert_uint_eq(counts[0].reads + counts[1].reads + counts[2].reads + counts[3].reads, 1);
	ck_assert_uint_eq(m.footprint_file_bytes, pages_to_bytes(_i ? 4 * PART : PART));
	ck_assert_uint_ne(m.estimated & RT_HAS_FOOTPRINT, 0);
}
END_TEST

/* A process that was alone shows nothing of what the others share. */
START_TEST(program_is_read_again_once_twice_as_many_members_map_much)
{
	const uint64_t pages = _i ? PART : FILES;
	struct rt_metrics m;

	write_pool(0);
	map_part(ROOT, pages, pages);
	track((struct rt_opts){ .pss_share = 1 });
	sample_pool_after(0);
	for (int i = 1; i <= 3; i++) {
		fork_child(i);
		map_part(i, pages, pages);
	}
	m = sample_pool_after(SECOND);
	ck_assert_uint_eq(counts[0].reads + counts[1].reads + counts[2].reads + counts[3].reads,
	                  _i ? 2 : 1);
	ck_assert_uint_eq(m.footprint_file_bytes, pages_to_bytes(_i ? 4 * pages : pages));
	run_and_write(ROOT);
	sample_pool_after(SECOND);
	ck_assert_uint_eq(counts[0].reads + counts[1].reads + counts[2].reads + counts[3].reads,
	                  _i ? 2 : 1);
}
END_TEST

/* --- Shared memory. --- */

#define BLOCK 2000 /* pages: more than 1 MiB, so each member is read for itself */

static void map_block(int i, uint64_t pages, uint64_t inode)
{
	processes[i].rss_pages += pages;
	processes[i].shared_pages += pages;
	processes[i].shmem_kib = kib(pages);
	processes[i].block = inode;
}

static void write_two_blocks(uint64_t first, uint64_t second, uint64_t pages)
{
	write_pool(1);
	execute_other_program(1);
	set_pages(1, 300, FILES, 1);
	map_block(ROOT, pages, first);
	map_block(1, pages, second);
	write_process(ROOT);
	write_process(1);
}

START_TEST(block_that_two_members_map_counts_once)
{
	struct rt_metrics m;

	write_two_blocks(7, 7, BLOCK);
	track((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.footprint_shmem_bytes, pages_to_bytes(BLOCK));
	ck_assert_uint_eq(m.needed_bytes, pages_to_bytes(ANON + 300 + BLOCK));
	ck_assert_uint_eq(m.needed_low_bytes, m.needed_bytes);
	ck_assert_uint_eq(m.needed_high_bytes, pages_to_bytes(ANON + 300 + 2 * BLOCK));
	check_reads(1, 1, 0, 0);
}
END_TEST

/* What one has of it by PSS depends on what the other has. */
START_TEST(members_that_map_much_are_read_again_together)
{
	write_two_blocks(7, 7, BLOCK);
	track((struct rt_opts){ .pss_share = 1 });
	sample_pool_after(0);
	check_reads(1, 1, 0, 0);
	map_block(ROOT, 2 * BLOCK, 7);
	run_and_write(ROOT);
	set_pss_savings(fix.tracker, MS); /* enough for one of them */
	sample_pool_after(MS);
	check_reads(1, 1, 0, 0);
	give_savings();
	sample_pool_after(SECOND);
	check_reads(2, 2, 0, 0);
}
END_TEST

START_TEST(members_that_were_read_apart_are_read_together_once_the_budget_allows_it)
{
	unsigned reads;

	write_two_blocks(7, 7, BLOCK);
	set_pages(1, 300, FILES, 1);
	processes[1].shmem_kib = 0;
	write_process(1);
	track((struct rt_opts){ .pss_share = 1 });
	sample_pool_after(0);
	reads = counts[ROOT].reads;
	map_block(1, BLOCK, 7);
	run_and_write(1);
	set_pss_savings(fix.tracker, MS); /* enough for one of them */
	sample_pool_after(MS);
	ck_assert_uint_eq(counts[ROOT].reads, reads);
	give_savings();
	for (int i = 0; i < 3; i++) {
		sample_pool_after(SECOND);
		ck_assert_uint_eq(counts[ROOT].reads, reads + 1);
		run_child(ROOT);
	}
}
END_TEST

START_TEST(member_that_maps_much_and_cannot_be_read_has_no_other_one_read_again)
{
	write_two_blocks(7, 7, BLOCK);
	track((struct rt_opts){ .pss_share = 1 });
	faults_on_open("101/smaps", -EACCES);
	for (int i = 0; i < 5; i++) {
		sample_pool_after(MS);
		ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_NEEDED), -EACCES);
		set_pages(1, 301 + (uint64_t)i, FILES, 1);
		map_block(1, BLOCK, 7);
		run_and_write(1);
	}
	check_reads(1, 1, 0, 0);
	for (unsigned i = 2; i <= 4; i++) {
		sample_pool_after(SECOND);
		check_reads(1, i, 0, 0);
	}
	faults_on_open("101/smaps", 0);
	sample_pool_after(SECOND);
	check_reads(1, 5, 0, 0);
	sample_pool_after(SECOND);
	check_reads(2, 6, 0, 0);
}
END_TEST

START_TEST(blocks_of_two_members_with_different_inodes_add_up)
{
	struct rt_metrics m;

	write_two_blocks(7, 8, BLOCK);
	track((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.footprint_shmem_bytes, pages_to_bytes(2 * BLOCK));
	check_exact(&m, ANON + 300, FILES);
}
END_TEST

/* What is small is not read of each member, unless that is asked for. */
START_TEST(small_blocks_are_estimated_until_they_are_read)
{
	struct rt_metrics m;

	write_two_blocks(7, 8, 200);
	execute_other_program(1);
	set_pages(1, 300, FILES, 1);
	processes[1].exe = "/bin/sh";
	map_block(1, 200, 8);
	write_process(1);
	track((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);
	ck_assert_uint_eq(counts[ROOT].reads + counts[1].reads, 1);
	ck_assert_uint_eq(m.footprint_shmem_bytes, pages_to_bytes(200));
	ck_assert_uint_eq(m.needed_high_bytes, pages_to_bytes(ANON + 300 + 400));
	ck_assert_int_eq(rt_tracker_read_memory(fix.tracker), 0);
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.footprint_shmem_bytes, pages_to_bytes(400));
	ck_assert_uint_eq(m.needed_low_bytes, pages_to_bytes(ANON + 300 + 400));
	ck_assert_uint_ne(m.valid & RT_HAS_NEEDED, 0);
}
END_TEST

/* A mirrored ring, or pages that are mapped to be written and to be executed: RSS has them four
 * times. */
static void write_ring(void)
{
	write_pool(0);
	map_block(ROOT, 4 * BLOCK, 7);
	processes[ROOT].times = 4;
	processes[ROOT].hwm_kib = kib(ANON + FILES + 4 * BLOCK);
	write_process(ROOT);
}

START_TEST(block_that_one_process_maps_four_times_is_in_no_lower_bound_until_it_is_read)
{
	struct rt_metrics m;

	write_ring();
	track((struct rt_opts){ .pss_share = 1 });
	take_savings();
	m = sample_pool_after(0);
	ck_assert_uint_ne(m.estimated & RT_HAS_NEEDED, 0);
	ck_assert_uint_eq(m.needed_low_bytes, pages_to_bytes(ANON));
	ck_assert_uint_eq(m.needed_high_bytes, pages_to_bytes(ANON + 4 * BLOCK));
	give_savings();
	m = sample_pool_after(SECOND);
	ck_assert_uint_eq(m.footprint_shmem_bytes, pages_to_bytes(BLOCK));
	check_exact(&m, ANON, FILES);
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + FILES + BLOCK));
}
END_TEST

/* Its peak RSS has them four times, too. */
START_TEST(peak_of_a_block_that_one_process_maps_four_times_has_it_once)
{
	const uint64_t truth = kib(ANON + FILES + BLOCK) * 1024;
	struct rt_metrics m;

	write_ring();
	track((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.peak_footprint_bytes, truth);
	ck_assert_uint_le(m.peak_footprint_low_bytes, truth);
	ck_assert_uint_eq(m.peak_needed_bytes, pages_to_bytes(ANON + BLOCK));
	ck_assert_uint_eq(m.peak_rss_bytes, pages_to_bytes(ANON + FILES + 4 * BLOCK));
}
END_TEST

/* --- Huge pages of hugetlbfs, which are in no RSS. --- */

START_TEST(huge_pages_are_in_the_footprint_and_needed)
{
	struct rt_metrics m;

	write_pool(0);
	processes[ROOT].hugetlb_kib = 4096;
	write_process(ROOT);
	track((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.footprint_hugetlb_bytes, 4096 * 1024);
	ck_assert_uint_eq(m.footprint_bytes, m.rss_bytes + 4096 * 1024);
	ck_assert_uint_eq(m.needed_bytes, pages_to_bytes(ANON) + 4096 * 1024);
	ck_assert_uint_ne(m.valid & RT_HAS_FOOTPRINT, 0);

	/* They are read again when their number has changed. */
	processes[ROOT].hugetlb_kib = 2048;
	run_and_write(ROOT);
	m = sample_pool_after(SECOND);
	ck_assert_uint_eq(m.footprint_hugetlb_bytes, 2048 * 1024);
	ck_assert_uint_eq(counts[ROOT].reads, 2);
	ck_assert_uint_eq(m.peak_footprint_bytes, m.footprint_bytes + 2048 * 1024);
}
END_TEST

START_TEST(huge_pages_that_were_not_read_are_in_the_upper_bound)
{
	struct rt_metrics m;

	write_pool(0);
	processes[ROOT].hugetlb_kib = 4096;
	write_process(ROOT);
	track((struct rt_opts){ .flags = RT_OPT_NO_MEMORY_READS });
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.footprint_hugetlb_bytes, 4096 * 1024);
	ck_assert_uint_eq(m.needed_low_bytes, pages_to_bytes(ANON));
	ck_assert_uint_eq(m.needed_high_bytes, pages_to_bytes(ANON) + 4096 * 1024);
	check_reads(0, 0, 0, 0);
}
END_TEST

/* --- status. --- */

/* It is read for these figures, too. */
START_TEST(footprint_alone_has_shared_memory_huge_pages_and_swap)
{
	struct rt_metrics m;

	write_pool(0);
	map_block(ROOT, BLOCK, 7);
	processes[ROOT].hugetlb_kib = 2048;
	processes[ROOT].swap_kib = 64;
	write_process(ROOT);
	track((struct rt_opts){ .want = RT_HAS_FOOTPRINT | RT_HAS_TREE_SWAP });
	m = take_sample_after(0);
	ck_assert_uint_eq(m.valid, RT_HAS_FOOTPRINT | RT_HAS_TREE_SWAP);
	ck_assert_uint_eq(m.footprint_shmem_bytes, pages_to_bytes(BLOCK));
	ck_assert_uint_eq(m.footprint_hugetlb_bytes, 2048 * 1024);
	ck_assert_uint_eq(m.swap_bytes, 64 * 1024);
}
END_TEST

/* What could not be read is not 0. */
START_TEST(swap_and_huge_pages_without_status_are_not_exact)
{
	struct rt_metrics m;

	write_pool(0);
	processes[ROOT].hugetlb_kib = 2048;
	processes[ROOT].swap_kib = 64;
	write_process(ROOT);
	track((struct rt_opts){ .pss_share = 1 });
	faults_on_open("/status", -EACCES);
	m = take_sample_after(0);
	ck_assert_uint_eq(m.estimated & RT_HAS_TREE_SWAP, RT_HAS_TREE_SWAP);
	ck_assert_uint_ne(m.estimated & RT_HAS_FOOTPRINT, 0);
	ck_assert_uint_ne(m.estimated & RT_HAS_NEEDED, 0);
	faults_on_open("/status", 0);
	run_child(ROOT);
	m = take_sample_after(SECOND);
	ck_assert_uint_ne(m.valid & RT_HAS_TREE_SWAP, 0);
	ck_assert_uint_eq(m.swap_bytes, 64 * 1024);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_mapped");
	TCase *reads = add_member_case(suite, "reads"), *parts = add_member_case(suite, "parts"),
	      *shmem = add_member_case(suite, "shmem"), *huge = add_member_case(suite, "huge"),
	      *status = add_member_case(suite, "status");

	tcase_add_test(reads, smallest_member_is_read_for_all_that_run_its_program);
	tcase_add_test(reads, files_of_which_processes_may_map_other_pages_are_explained);
	tcase_add_test(reads, member_that_has_mapped_little_is_not_read_for_its_program);
	tcase_add_test(reads, program_is_read_again_once_a_member_maps_a_part_of_32_more);
	tcase_add_test(reads, program_that_maps_a_little_more_is_read_again_on_request);
	tcase_add_test(reads, program_that_grows_is_read_once_it_has_stopped);
	tcase_add_test(reads, program_that_ran_before_is_not_read_again);
	tcase_add_loop_test(reads, process_above_1_gib_is_not_read, 0, 2);
	tcase_add_test(reads, mappings_are_read_once_the_budget_allows_it);
	tcase_add_test(reads, mappings_that_could_not_be_read_are_read_again_after_a_second);
	tcase_add_test(reads, mappings_that_cannot_be_read_leave_anonymous_memory_exact);
	tcase_add_test(reads, mappings_are_read_again_though_pss_cannot_be);
	tcase_add_test(reads, mappings_that_are_read_show_what_was_freed_lazily);
	tcase_add_test(reads,
	               lazily_freed_memory_of_a_member_that_ended_while_it_was_read_is_not_needed);
	tcase_add_test(reads, mappings_that_cannot_be_parsed_are_no_image);
	tcase_add_loop_test(parts, parts_of_a_file_add_up_over_members_that_map_as_much, 0, 2);
	tcase_add_loop_test(parts, program_is_read_again_once_twice_as_many_members_map_much, 0, 2);
	tcase_add_test(shmem, block_that_two_members_map_counts_once);
	tcase_add_test(shmem, members_that_map_much_are_read_again_together);
	tcase_add_test(shmem,
	               members_that_were_read_apart_are_read_together_once_the_budget_allows_it);
	tcase_add_test(shmem, member_that_maps_much_and_cannot_be_read_has_no_other_one_read_again);
	tcase_add_test(shmem, blocks_of_two_members_with_different_inodes_add_up);
	tcase_add_test(shmem, small_blocks_are_estimated_until_they_are_read);
	tcase_add_test(
	    shmem, block_that_one_process_maps_four_times_is_in_no_lower_bound_until_it_is_read);
	tcase_add_test(shmem, peak_of_a_block_that_one_process_maps_four_times_has_it_once);
	tcase_add_test(huge, huge_pages_are_in_the_footprint_and_needed);
	tcase_add_test(huge, huge_pages_that_were_not_read_are_in_the_upper_bound);
	tcase_add_test(status, footprint_alone_has_shared_memory_huge_pages_and_swap);
	tcase_add_test(status, swap_and_huge_pages_without_status_are_not_exact);
	return suite_run(suite);
}
