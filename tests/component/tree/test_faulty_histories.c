/* SPDX-License-Identifier: MIT */
/* Random histories of a simulated kernel, in which any file call may fail. No total falls, and no
 * figure is in two masks. No total that is valid, or a lower bound, is above the true one, unless
 * stat of a member is refused and another process has its pid. The number of a history that fails
 * replays it: see test_histories.c. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "simulated_tree.h"
#include "suite.h"
#include "tree/tree_inside.h"

#define HISTORIES 1000
#define SAMPLES 12

struct history {
	unsigned number;
	struct rt_tracker *tracker;
	struct rti_shared_stats shared;
	struct rt_metrics m; /* last sample that succeeded */
	unsigned exits;
	bool reuses_pids;
};

/* --- File calls that fail. --- */

static struct {
	unsigned per_mille;
	bool are_refusals;
	uint64_t random; /* of its own: the history is the same with any faults */
} faults;

static unsigned draw(unsigned below)
{
	faults.random ^= faults.random << 13;
	faults.random ^= faults.random >> 7;
	faults.random ^= faults.random << 17;
	return (unsigned)(faults.random >> 33) % below;
}

/* None of these says that the process is gone. */
static const int refusals[] = { -EACCES, -EPERM },
		 shortages[] = { -EIO, -EMFILE, -ENFILE, -ENOMEM };

/* The account of a process has moved to its reaper, and the process can still be read. On a real
 * system this takes some microseconds. */
static bool is_any_released(void)
{
	for (int i = 0; i < sim.count; i++) {
		if (sim.p[i].is_dead)
			return true;
	}
	return false;
}

/* Returns -errno, or 0: no fault. */
static int draw_error(void)
{
	if (draw(1000) >= faults.per_mille || is_any_released())
		return 0;
	return faults.are_refusals ? refusals[draw(2)] : shortages[draw(4)];
}

static int faulty_open(int dirfd, const char *path, int flags)
{
	int err = draw_error();

	return err ? err : sim_files.open(dirfd, path, flags);
}

static ssize_t faulty_pread(int fd, void *buf, size_t len, off_t offset)
{
	int err = draw_error();

	return err ? err : sim_files.pread(fd, buf, len, offset);
}

static ssize_t faulty_getdents(int fd, void *buf, size_t len)
{
	int err = draw_error();

	return err ? err : sim_files.getdents(fd, buf, len);
}

static struct rti_procfs_ops faulty_files(void)
{
	struct rti_procfs_ops ops = sim_files;

	ops.open = faulty_open;
	ops.open_in_root = NULL;
	ops.pread = faulty_pread;
	ops.getdents = faulty_getdents;
	return ops;
}

/* --- Histories. --- */

static uint64_t sum_cpu(const struct rt_metrics *m)
{
	return m->cpu_user_ns + m->cpu_system_ns;
}

static void check_history(const struct history *h, bool holds, const char *violation)
{
	if (holds)
		return;
	ck_abort_msg("history %u: %s: %" PRIu64 " of %" PRIu64 " ns, %" PRIu64 " of %" PRIu64
	             " faults, %" PRIu64 " of %" PRIu64 " bytes, reasons %x, valid %" PRIx64,
	             h->number, violation, sum_cpu(&h->m), sim.cpu_ns, h->m.minor_faults,
	             sim.faults, h->m.write_bytes, sim.written, h->m.reasons, h->m.valid);
}

/* Each row of a process that has exited is one that lived. */
static void note_exit(void *arg, const struct rti_member_row *row)
{
	unsigned *exits = arg;

	(void)row;
	++*exits;
}

static void begin_history(struct history *h, unsigned number, const struct sim_rules *rules)
{
	static struct rti_procfs_ops ops;
	const struct rt_opts opts = {
		.size = sizeof(opts),
		.flags = RT_OPT_NO_PROCESS_EVENTS,
		.want = RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_IO | RT_HAS_PROCESSES |
		        RT_HAS_PEAK_RSS | RT_HAS_RSS | RT_HAS_PROCESSES_SEEN |
		        RT_HAS_PEAK_FOOTPRINT,
		.max_fds = number % 7 == 0 ? 20 : 0,
	};

	ops = faulty_files();
	*h = (struct history){ .number = number, .reuses_pids = !rules->never_reuses_pids };
	faults.per_mille = 0;
	faults.random = 0x9e3779b97f4a7c15u * (number + 1);
	sim_begin(number, rules);
	check_history(h, rti_tracker_new(&h->tracker, SIM_ROOT, &opts, &ops) == 0, "no tracker");
	assume_nothing_unseen(h->tracker);
	sim_set_clocks(h->tracker);
	sim_attach_command(h->tracker, rules, &h->shared, h->number % 5 ? note_exit : NULL,
	                   &h->exits);
}

static void ask_for_the_rest(struct history *h)
{
	struct rt_process rows[SIM_PROCESSES_MAX];
	struct rt_obstacle obstacle;
	size_t count = SIM_PROCESSES_MAX;

	rt_tracker_processes(h->tracker, rows, sizeof(rows[0]), &count);
	for (int bit = 0; bit < 16; bit++)
		if (!(h->m.valid >> bit & 1))
			rt_tracker_obstacle(h->tracker, UINT64_C(1) << bit, &obstacle,
			                    sizeof(obstacle));
}

static void check_truth(const struct history *h)
{
	const struct rt_metrics *m = &h->m;
	uint64_t known = m->valid | m->partial;

	check_history(h, !(known & RT_HAS_CPU) || sum_cpu(m) <= sim.cpu_ns,
	              "CPU time exceeds the true total");
	check_history(h, !(known & RT_HAS_FAULTS) || m->minor_faults <= sim.faults,
	              "faults exceed the true total");
	check_history(h, !(known & RT_HAS_IO) || m->write_bytes <= sim.written,
	              "bytes exceed the true total");
}

/* A sample that fails has no totals. */
static int take_sample(struct history *h)
{
	const struct rt_metrics last = h->m;
	int err = rt_sample(h->tracker, &h->m, sizeof(h->m));

	if (err < 0 && err != -ESRCH) {
		h->m = last;
		return err;
	}
	check_history(h, sum_cpu(&h->m) >= sum_cpu(&last), "CPU time fell");
	check_history(h, h->m.minor_faults >= last.minor_faults, "faults fell");
	check_history(h, h->m.write_bytes >= last.write_bytes, "bytes fell");
	check_history(h,
	              !(h->m.valid & h->m.partial) && !(h->m.valid & h->m.estimated) &&
	                  !(h->m.partial & h->m.estimated),
	              "a figure is in two masks");
	check_history(h, !(h->m.partial & RT_HAS_CPU) || h->m.reasons,
	              "CPU time is a lower bound for no reason");
	if (!h->reuses_pids)
		check_truth(h);
	ask_for_the_rest(h);
	return err;
}

static void run_and_sample_tree(struct history *h)
{
	for (int i = 0; i < SAMPLES; i++) {
		/* Few faults, many, and none in between. */
		faults.per_mille = draw(3) == 0 ? 0 : 1u << draw(9);
		for (unsigned events = sim_pick(20); events > 0; events--) {
			sim_step();
			if (h->number % 2 && h->m.size && sim_pick(6) == 0)
				rt_tracker_glance(h->tracker);
		}
		take_sample(h);
	}
	faults.per_mille = 0;
}

static void end_tree(struct history *h)
{
	sim.is_ending = true;
	for (int steps = 0; sim_count_members() > 0; steps++) {
		sim_step();
		if (sim_pick(40) == 0)
			take_sample(h);
	}
	sim_stop(SIM_ROOT);
	take_sample(h);
	sim_end(SIM_ROOT);
	rti_tree_account_root_exit(h->tracker->tree, SIM_ROOT, NULL, 0);
	take_sample(h);
}

static void run_histories(const struct sim_rules *rules)
{
	for (unsigned number = 1; number <= suite_share(HISTORIES); number++) {
		struct sim_rules varied = *rules;
		struct history h;

		varied.has_children = number % 4 != 0;
		varied.has_last_pid_file = number % 3 != 0;
		varied.never_reuses_pids = number % 5 != 0;
		begin_history(&h, number, &varied);
		run_and_sample_tree(&h);
		end_tree(&h);
		rt_tracker_free(h.tracker);
	}
}

static const struct sim_rules rules[] = {
	{ 0 },
	{ .may_hide_io = true },
	{ .may_orphan = true, .may_ignore = true, .may_adopt = true },
	{ .is_supervised = true, .may_orphan = true, .may_adopt = true },
	{ .is_supervised = true,
	  .has_cgroup = true,
	  .may_orphan = true,
	  .may_ignore = true,
	  .may_adopt = true },
};

#define RULES (int)(sizeof(rules) / sizeof(rules[0]))

START_TEST(total_never_falls_whatever_read_fails)
{
	faults.are_refusals = _i < RULES;
	run_histories(&rules[_i % RULES]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("faulty_histories");

	tcase_add_loop_test(suite_case(suite, "histories"), total_never_falls_whatever_read_fails,
	                    0, 2 * RULES);
	return suite_run(suite);
}
