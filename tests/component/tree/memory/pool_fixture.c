/* SPDX-License-Identifier: MIT */
#include "pool_fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tree/tree_inside.h"

/* As much as may be owed. */
#define OWED (-(int64_t)(25 * MS) / 2)

struct fake_process processes[CHILDREN + 1];

static char children[64];

/* The last sample: peaks never fall. */
static struct rt_metrics last;

uint64_t kib(uint64_t pages)
{
	return pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

/* In clock ticks. Once the tracker is there, it is forked from now on. */
static uint64_t get_start_time(void)
{
	return fix.tracker ? fix.now_ns / get_platform(fix.tracker)->tick_ns + 1 : 1000;
}

void make_process(int i, bool is_forked)
{
	processes[i] = (struct fake_process){
		.pid = 100 + i,
		.ppid = i == ROOT ? 1 : 100,
		.comm = i == ROOT ? "sh" : "worker",
		.minflt = is_forked ? 0 : ANON + 100,
		.starttime = get_start_time(),
		.stack = is_forked ? processes[ROOT].stack : 8888 + (uint64_t)i,
		.is_forked = is_forked,
		.exe = "/bin/sh",
		.children = i == ROOT ? children : "",
	};
}

void execute_other_program(int i)
{
	uint64_t starttime = processes[i].starttime;

	make_process(i, false);
	processes[i].starttime = starttime;
	processes[i].exe = "/bin/other";
}

void set_pages(int i, uint64_t anon, uint64_t files, uint64_t sharers)
{
	struct fake_process *p = &processes[i];

	p->rss_pages = anon + files;
	p->shared_pages = files;
	p->size_pages = 9000;
	p->hwm_kib = kib(anon + files);
	p->pss_kib = kib(anon + files) / sharers;
	p->anon_kib = kib(anon) / sharers;
	p->has_kinds = true;
}

void write_process(int i)
{
	fake_process_write(&fix.root, &processes[i]);
}

void run_and_write(int i)
{
	run_child(i);
	write_process(i);
}

void list_children(void)
{
	children[0] = '\0';
	for (int i = 1; i <= CHILDREN; i++) {
		if (processes[i].pid)
			snprintf(children + strlen(children), sizeof(children) - strlen(children),
			         "%d ", processes[i].pid);
	}
	run_and_write(ROOT);
}

void write_pool(int count)
{
	last = (struct rt_metrics){ 0 };
	memset(processes, 0, sizeof(processes));
	for (int i = 0; i <= count; i++) {
		make_process(i, i != ROOT);
		set_pages(i, ANON, FILES, (uint64_t)count + 1);
		write_process(i);
	}
	list_children();
}

void track_pool(int count)
{
	write_pool(count);
	track_tree((struct rt_opts){ .pss_share = 1 });
}

void fork_child(int i)
{
	make_process(i, true);
	set_pages(i, ANON, FILES, 2);
	write_process(i);
	list_children();
}

void end_child(int i)
{
	fake_process_remove(&fix.root, 100 + i);
	end_cpu_clock(i);
	processes[i].pid = 0;
	processes[ROOT].cminflt += 10;
	list_children();
}

void take_savings(void)
{
	set_pss_savings(fix.tracker, OWED);
}

void give_savings(void)
{
	set_pss_savings(fix.tracker, (int64_t)(100 * MS));
}

static void check_bounds(uint64_t low, uint64_t bytes, uint64_t high)
{
	ck_assert_uint_le(low, bytes);
	ck_assert_uint_le(bytes, high);
}

static void check_mark(const struct rt_metrics *m, uint64_t has)
{
	bool is_valid = m->valid & has, is_estimated = m->estimated & has;

	ck_assert(is_valid != is_estimated);
	ck_assert_uint_eq(m->partial & has, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, has) < 0, is_estimated);
}

static void check_peaks(const struct rt_metrics *m)
{
	check_bounds(m->peak_footprint_low_bytes, m->peak_footprint_bytes,
	             m->peak_footprint_high_bytes);
	check_bounds(m->peak_needed_low_bytes, m->peak_needed_bytes, m->peak_needed_high_bytes);
	ck_assert_uint_eq(m->peak_tree_bytes, m->peak_footprint_bytes);
	ck_assert_uint_ge(m->peak_footprint_low_bytes, m->footprint_low_bytes);
	ck_assert_uint_ge(m->peak_footprint_high_bytes, m->footprint_high_bytes);
	ck_assert_uint_ge(m->peak_needed_low_bytes, m->needed_low_bytes);
	ck_assert_uint_ge(m->peak_needed_high_bytes, m->needed_high_bytes);
	if (m->valid & RT_HAS_FOOTPRINT)
		ck_assert_uint_ge(m->peak_footprint_bytes, m->footprint_bytes);
	if (m->valid & RT_HAS_NEEDED)
		ck_assert_uint_ge(m->peak_needed_bytes, m->needed_bytes);
	ck_assert_uint_ge(m->peak_footprint_bytes, last.peak_footprint_bytes);
	ck_assert_uint_ge(m->peak_footprint_low_bytes, last.peak_footprint_low_bytes);
	ck_assert_uint_ge(m->peak_needed_bytes, last.peak_needed_bytes);
	ck_assert_uint_ge(m->peak_needed_low_bytes, last.peak_needed_low_bytes);
}

struct rt_metrics sample_pool_after(uint64_t ns)
{
	struct rt_metrics m = take_sample_after(ns);

	check_mark(&m, RT_HAS_FOOTPRINT);
	check_mark(&m, RT_HAS_NEEDED);
	check_bounds(m.footprint_low_bytes, m.footprint_bytes, m.footprint_high_bytes);
	check_bounds(m.needed_low_bytes, m.needed_bytes, m.needed_high_bytes);
	ck_assert_uint_eq(m.footprint_bytes, m.footprint_anon_bytes + m.footprint_shmem_bytes +
	                                         m.footprint_file_bytes +
	                                         m.footprint_hugetlb_bytes);
	ck_assert_uint_le(m.needed_bytes, m.footprint_bytes - m.footprint_file_bytes);
	check_peaks(&m);
	last = m;
	return m;
}

void check_exact(const struct rt_metrics *m, uint64_t anon, uint64_t files)
{
	ck_assert_uint_eq(m->footprint_anon_bytes, pages_to_bytes(anon));
	ck_assert_uint_eq(m->footprint_file_bytes, pages_to_bytes(files));
	ck_assert_uint_eq(m->needed_bytes, pages_to_bytes(anon) + m->footprint_shmem_bytes);
	ck_assert_uint_ne(m->valid & RT_HAS_NEEDED, 0);
}

void check_estimate(const struct rt_metrics *m, int error)
{
	ck_assert_uint_ne(m->estimated & RT_HAS_NEEDED, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_NEEDED), error);
}
