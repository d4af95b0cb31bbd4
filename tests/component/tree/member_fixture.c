/* SPDX-License-Identifier: MIT */
#include "member_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tree_inside.h"

#define ROOT_PID 100
#define OWN_CPU_STEP_NS 10000

struct member_fixture fix;

static int read_fake_cpu_clock(int32_t pid, struct rti_cpu_clock *out)
{
	if (pid < ROOT_PID || pid > ROOT_PID + CHILDREN || !fix.clock_ns[pid - ROOT_PID])
		return -ESRCH;
	*out = (struct rti_cpu_clock){ fix.clock_ns[pid - ROOT_PID], 1, 1 };
	return 0;
}

static void read_fake_clocks(struct rti_now *out)
{
	*out = (struct rti_now){ fix.now_ns, fix.now_ns, fix.now_ns };
}

static uint64_t read_fake_own_cpu_ns(void)
{
	return fix.own_cpu_ns += OWN_CPU_STEP_NS;
}

static uint64_t read_fake_monotonic_ns(void)
{
	return fix.now_ns += fix.step_ns;
}

static void set_up(void)
{
	memset(&fix, 0, sizeof(fix));
	fixture_new(&fix.root);
	fix.now_ns = 1000 * SECOND;
	for (int i = 0; i <= CHILDREN; i++)
		fix.clock_ns[i] = MS;
}

static void tear_down(void)
{
	rt_tracker_free(fix.tracker);
	fixture_free(&fix.root);
	ck_assert_uint_eq(faults_open_files(), 0);
}

TCase *add_member_case(Suite *suite, const char *name)
{
	TCase *tcase = suite_case(suite, name);

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	return tcase;
}

struct fake_process make_child(int i)
{
	return (struct fake_process){
		.pid = ROOT_PID + i,
		.ppid = ROOT_PID,
		.comm = "c",
		.minflt = 5,
		.starttime = 1010,
		.rss_pages = 20,
		.pss_kib = 30,
		.hwm_kib = 80,
		.read_bytes = 1000,
		.voluntary = 3,
		.children = "",
	};
}

void write_tree(int children)
{
	char list[64] = "";
	const struct fake_process parent = {
		.pid = ROOT_PID,
		.ppid = 1,
		.comm = "sh",
		.minflt = 50,
		.starttime = 1000,
		.rss_pages = 10,
		.pss_kib = 7,
		.hwm_kib = 40,
		.children = list,
	};

	for (int i = 1; i <= children; i++) {
		struct fake_process child = make_child(i);

		fake_process_write(&fix.root, &child);
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%d ", child.pid);
	}
	fake_process_write(&fix.root, &parent);
}

void track_tree(struct rt_opts opts)
{
	struct rti_platform *platform;

	opts.size = sizeof(opts);
	opts.root = fix.root.root;
	ck_assert_int_eq(rti_tracker_new(&fix.tracker, ROOT_PID, &opts, &faults_ops), 0);
	assume_nothing_unseen(fix.tracker);
	platform = get_platform(fix.tracker);
	platform->cpu_clock = read_fake_cpu_clock;
	platform->now = read_fake_clocks;
	platform->monotonic_ns = read_fake_monotonic_ns;
	platform->thread_cpu_ns = read_fake_own_cpu_ns;
}

void run_child(int i)
{
	fix.clock_ns[i]++;
}

void end_cpu_clock(int i)
{
	fix.clock_ns[i] = 0;
}

struct rt_metrics take_sample_after(uint64_t ns)
{
	struct rt_metrics m;

	fix.now_ns += ns;
	ck_assert_int_eq(rt_sample(fix.tracker, &m, sizeof(m)), 0);
	check_memory_sums(fix.tracker);
	return m;
}

struct rt_process get_row(int32_t pid)
{
	struct rt_process rows[CHILDREN + 1];
	size_t count = CHILDREN + 1;

	ck_assert_int_eq(rt_tracker_processes(fix.tracker, rows, sizeof(rows[0]), &count), 0);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].pid == pid)
			return rows[i];
	}
	ck_abort_msg("no member has the pid %d", (int)pid);
}

uint64_t pages_to_bytes(uint64_t pages)
{
	return pages * get_platform(fix.tracker)->page_size;
}
