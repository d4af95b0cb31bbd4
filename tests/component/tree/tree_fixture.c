/* SPDX-License-Identifier: MIT */
#include "tree_fixture.h"

#include "tree_inside.h"

#define TICKS_PER_S 100

struct tree_fixture fix;

/* It has run for 10 s, of which ticks hide less than a hundredth. */
const struct fake_process shell = {
	.pid = 100,
	.ppid = 1,
	.comm = "sh",
	.utime = 1005,
	.stime = 3,
	.minflt = 50,
	.starttime = 1000,
	.rss_pages = 10,
	.pss_kib = 7,
	.hwm_kib = 44,
	.read_bytes = 4096,
	.write_bytes = 512,
	.voluntary = 9,
	.involuntary = 2,
	.children = "101 102 ",
};

const struct fake_process first_child = {
	.pid = 101,
	.ppid = 100,
	.comm = "a) R 1",
	.utime = 20,
	.stime = 10,
	.minflt = 70,
	.starttime = 1010,
	.rss_pages = 20,
	.pss_kib = 30,
	.hwm_kib = 100,
	.read_bytes = 1024,
	.write_bytes = 2048,
	.voluntary = 1,
	.involuntary = 1,
	.children = "",
};

const struct fake_process second_child = {
	.pid = 102,
	.ppid = 100,
	.comm = "",
	.utime = 1,
	.stime = 1,
	.minflt = 5,
	.starttime = 1020,
	.rss_pages = 3,
	.pss_kib = 2,
	.hwm_kib = 12,
	.children = "",
};

static void set_up(void)
{
	fixture_new(&fix.root);
	fix.tracker = NULL;
}

static void tear_down(void)
{
	rt_tracker_free(fix.tracker);
	fixture_free(&fix.root);
	ck_assert_uint_eq(faults_open_files(), 0);
}

TCase *add_tree_case(Suite *suite, const char *name)
{
	TCase *tcase = suite_case(suite, name);

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	return tcase;
}

void write_family(void)
{
	fake_process_write(&fix.root, &shell);
	fake_process_write(&fix.root, &first_child);
	fake_process_write(&fix.root, &second_child);
}

void track_process(int pid, uint32_t flags)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .flags = flags | RT_OPT_PSS_READS,
		                      .root = fix.root.root,
		                      .max_fds = 1 };

	ck_assert_int_eq(rti_tracker_new(&fix.tracker, pid, &opts, &faults_ops), 0);
	assume_nothing_unseen(fix.tracker);
	begin_final_sample(fix.tracker);
}

void track_with_cached_files(int pid, uint32_t max_fds)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .flags = RT_OPT_PSS_READS,
		                      .root = fix.root.root,
		                      .max_fds = max_fds };

	ck_assert_int_eq(rti_tracker_new(&fix.tracker, pid, &opts, &faults_ops), 0);
	assume_nothing_unseen(fix.tracker);
}

struct rt_metrics take_sample(void)
{
	struct rt_metrics m;

	ck_assert_int_eq(try_sample(&m), 0);
	return m;
}

int try_sample(struct rt_metrics *out)
{
	int err = rt_sample(fix.tracker, out, sizeof(*out));

	if (err == 0)
		check_memory_sums(fix.tracker);
	return err;
}

struct rt_rusage rusage_of(const struct fake_process *process, int64_t maxrss_kib)
{
	return (struct rt_rusage){
		.ru_utime = (double)process->utime / TICKS_PER_S,
		.ru_stime = (double)process->stime / TICKS_PER_S,
		.ru_minflt = (int64_t)process->minflt,
		.ru_majflt = (int64_t)process->majflt,
		.ru_maxrss = maxrss_kib,
	};
}

uint64_t pages_to_bytes(uint64_t pages)
{
	return pages * get_platform(fix.tracker)->page_size;
}
