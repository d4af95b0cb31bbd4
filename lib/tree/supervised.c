/* SPDX-License-Identifier: MIT */
/* The tree of a command: its supervisor, its cgroup, its end. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "collect/pid_stat.h"
#include "os/cpu_time.h"
#include "os/pid_file.h"
#include "os/process/pidfd.h"
#include "parse/scan.h"
#include "tree/scan/discovery.h"
#include "tree/memory/memory.h"
#include "tree/memory/memory_note.h"
#include "tree/memory/memory_peak.h"
#include "tree/exits/exit_accounting.h"
#include "tree/gpu/gpu.h"
#include "tree/scan/kernel_account.h"
#include "tree/read/member_read.h"
#include "tree/read/member_change.h"
#include "tree/read/member_row.h"
#include "tree/state/state.h"
#include "tree/pure/strategy.h"
#include "tree/tree.h"
#include "util/visit.h"
#include "util/cgroup_path.h"

#define CGROUP_CHECKS_MAX 100            /* in one sample */
#define KILL_ROUNDS_MAX 1000             /* a tree may fork meanwhile */
#define KILL_MAX_NS UINT64_C(2000000000) /* likewise, for rounds that take long */
#define KILL_ROUNDS_LEAST 3              /* however long they take */
#define QUIET_ROUNDS 2                   /* a child that moves to its reaper may hide from one */
#define KILLED_NS 1000000                /* for one of the killed to end */
#define KILLED_WAITS_MAX 100             /* a process that is frozen does not end */

int rti_tree_attach_command(struct rti_tree *tree, const struct rti_tree_command *command)
{
	struct rti_fork_tracker *fork_tracker = &tree->discovery.fork_tracker;
	int err = rti_replace_root(&tree->table, tree->ctx, command->root);
	struct rti_now now;

	tree->ctx->platform->now(&now);
	tree->is_of_command = true;
	tree->past.start_realtime_ns = now.realtime_ns;
	if (command->root)
		rti_memory_set_root(&tree->memory, command->root);
	tree->supervised.pid = command->supervisor_pid;
	tree->supervised.shared = command->shared;
	tree->supervised.reaped = command->reaped;
	rti_kernel_account_follow(&tree->kernel_account, command->account);
	tree->supervised.cgroup = *command->cgroup;
	tree->supervised.cgroup_lag_ns =
	    tree->ctx->platform->cpu_count() * (uint64_t)RTI_TICK_MAX_NS;
	/* The program was put into its cgroup just now. */
	tree->supervised.cgroup_checked_ns = tree->ctx->platform->monotonic_ns();
	tree->supervised.on_exit = command->on_exit;
	tree->supervised.on_exit_arg = command->on_exit_arg;
	rti_fork_tracker_close(fork_tracker);
	*fork_tracker = *command->fork_tracker;
	*command->fork_tracker = (struct rti_fork_tracker)RTI_FORK_TRACKER_INIT;
	rti_fork_tracker_set_root(fork_tracker, tree->table.members[0].pid);
	tree->unchanged_samples = 0;
	return err;
}

static void set_counters(const struct rt_rusage *use, uint64_t out[RTI_COUNTERS])
{
	/* I/O is in blocks of 512 bytes, rounded down for each thread. */
	const uint64_t counters[RTI_COUNTERS] = {
		[RTI_CPU_USER] = (uint64_t)(use->ru_utime * 1e9 + 0.5),
		[RTI_CPU_SYSTEM] = (uint64_t)(use->ru_stime * 1e9 + 0.5),
		[RTI_MINOR_FAULTS] = (uint64_t)use->ru_minflt,
		[RTI_MAJOR_FAULTS] = (uint64_t)use->ru_majflt,
		[RTI_VOLUNTARY] = (uint64_t)use->ru_nvcsw,
		[RTI_INVOLUNTARY] = (uint64_t)use->ru_nivcsw,
		[RTI_READ_BYTES] = (uint64_t)use->ru_inblock * 512,
		[RTI_WRITE_BYTES] = (uint64_t)use->ru_oublock * 512,
	};

	memcpy(out, counters, sizeof(counters));
}

/* An exec hands on the peak of its caller, so a peak up to that may be the caller's. */
static void raise_peak(uint64_t *peak_rss_bytes, const struct rt_rusage *use,
                       int64_t inherited_maxrss_kib)
{
	if (use->ru_maxrss > inherited_maxrss_kib)
		*peak_rss_bytes = rti_max(*peak_rss_bytes, (uint64_t)use->ru_maxrss * 1024);
}

void rti_tree_apply_final_rusage(struct rti_tree *tree, const struct rt_rusage *reaped,
                                 int64_t inherited_maxrss_kib)
{
	set_counters(reaped, tree->supervised.final_rusage);
	tree->supervised.has_final_rusage = true;
	tree->supervised.final_peak_bytes = (uint64_t)reaped->ru_maxrss * 1024;
	tree->unchanged_samples = 0;
	raise_peak(&tree->peak_rss_bytes, reaped, inherited_maxrss_kib);
}

bool rti_tree_is_final_account_current(const struct rti_tree *tree)
{
	return tree->sums.is_final_account_current;
}

void rti_tree_drop_final_rusage(struct rti_tree *tree)
{
	tree->supervised.has_final_rusage = false;
	tree->unchanged_samples = 0;
}

const struct rti_account_totals *rti_tree_account_totals(const struct rti_tree *tree)
{
	return &tree->kernel_account.totals;
}

void rti_tree_account_root_exit(struct rti_tree *tree, int32_t pid, const struct rt_rusage *use,
                                int64_t inherited_maxrss_kib)
{
	struct rti_member *root = rti_member_find(&tree->table, pid);
	uint64_t counters[RTI_COUNTERS];

	if (!root)
		return;
	if (use && !tree->ledger.self_only) {
		/* /proc has what the root reaped in ticks; wait4(2) is more exact. */
		set_counters(use, counters);
		rti_ledger_raise_to_sum(&root->account, counters);
		raise_peak(&tree->peak_rss_bytes, use, inherited_maxrss_kib);
		tree->is_kept_in_us = true;
	}
	rti_ledger_keep_final(&tree->ledger, &root->account);
	rti_exits_note_kept(tree, root, use ? RT_HAS_CPU | RT_HAS_FAULTS : 0);
	rti_change_note_end(tree, root);
	rti_report_exit(tree, root);
	rti_memory_forget(&tree->memory, &tree->table, root);
	rti_mark_exited(tree, root);
	rti_member_table_remove_exited(&tree->table, tree->ctx);
	rti_rows_begin(tree);
}

static int copy_v2_path(void *arg, const struct rti_pid_cgroup *entry)
{
	char *path = arg;

	if (entry->hierarchy != 0)
		return RTI_CONTINUE;
	rti_scan_copy(&entry->path, path,
	              sizeof(((struct rti_shared_stats *)NULL)->cgroup_of_program));
	return RTI_STOP;
}

/* Other processes of the same user can write to the shared memory: the text may lack its end. */
static bool is_within_shared(const char *path, const char *shared)
{
	char group[sizeof(((struct rti_shared_stats *)NULL)->cgroup_of_program)];

	memcpy(group, shared, sizeof(group) - 1);
	group[sizeof(group) - 1] = '\0';
	return rti_cgroup_is_within(path, group);
}

/* A process that is being forked shows up in the root of the hierarchy. One that has run is where
 * it belongs. */
static void check_cgroup(struct rti_supervised_state *supervised, const struct rti_context *ctx,
                         const struct rti_member *m)
{
	const struct rti_shared_stats *shared = supervised->shared;
	char path[sizeof(shared->cgroup_of_program)];

	if (!m->clock.is_known || m->clock.now.total_ns == 0 ||
	    rti_pid_file_read(ctx, m->pid, "cgroup", NULL) < 0 ||
	    rti_parse_pid_cgroup(ctx->buf->data, ctx->buf->len, copy_v2_path, path) != RTI_STOP)
		return;
	if (is_within_shared(path, shared->cgroup_of_program))
		return;
	supervised->left_cgroup = is_within_shared(path, shared->cgroup_of_supervisor)
	                              ? RTI_LEFT_FOR_OURS
	                              : RTI_LEFT_OURS;
}

/* The supervisor looks at them when they fork, execute a program or exit, if it receives process
 * events. This finds a process that moves itself, and all where there are no events. */
void rti_tree_check_cgroups(struct rti_tree *tree)
{
	struct rti_supervised_state *s = &tree->supervised;
	size_t count = tree->table.count;
	uint64_t due = (tree->now_ns - s->cgroup_checked_ns) /
	               rti_pays_from(&rti_strategies[RTI_CHECK_CGROUP], RTI_CGROUP_LOOK_NS);

	if (!s->shared || !s->shared->has_cgroup_paths || s->left_cgroup == RTI_LEFT_OURS ||
	    due == 0)
		return;
	if (due > CGROUP_CHECKS_MAX)
		due = CGROUP_CHECKS_MAX;
	for (uint64_t i = 0; i < due && i < count; i++) {
		const struct rti_member *m = &tree->table.members[s->cgroup_next++ % count];

		if (m->pid != tree->supervised.pid)
			check_cgroup(s, tree->ctx, m);
	}
	s->cgroup_checked_ns = tree->now_ns;
}

/* A round in which each member is killed. */
struct kill_round {
	bool has_running; /* a member that was killed has not ended */
	int running;      /* its pidfd, or -1 */
	int error;
};

/* If in doubt, returns true. */
static bool runs_on(const struct rti_context *ctx, const struct rti_member *m)
{
	struct rti_pid_stat stat;
	int err = rti_pid_stat_read(ctx, m->pid, NULL, &stat);

	return err == 0 ? rti_pid_stat_is_same(&m->stat, &stat) && !rti_pid_stat_is_zombie(&stat)
	                : err != -ESRCH;
}

/* By a pidfd that was opened before the member was recognised, so that no process that reuses
 * the pid is hit. */
static void kill_member(const struct rti_supervised_state *supervised,
                        const struct rti_context *ctx, struct rti_member *m,
                        struct kill_round *round)
{
	int fd, err = -ESRCH;

	if (m->pid == supervised->pid)
		return;
	fd = rti_pidfd_open(m->pid);
	if (rti_member_is_alive(ctx, m))
		err = rti_pidfd_signal(fd, m->pid, SIGKILL);
	if (err < 0 && err != -ESRCH)
		round->error = err;
	if (err == 0 && !round->has_running && runs_on(ctx, m)) {
		round->has_running = true;
		round->running = fd;
		return;
	}
	rti_pidfd_close(fd);
}

/* Killed processes fork no more. But what they have forked before moves to their reaper when they
 * end, and a round that looks at the reaper first does not find it. So the last rounds come after
 * their end. A fork bomb may have no last round, but a large tree has as many as it needs. */
int rti_tree_kill(struct rti_tree *tree)
{
	const struct rti_platform *platform = tree->ctx->platform;
	uint64_t end_ns = platform->monotonic_ns() + KILL_MAX_NS;
	int waits = 0, quiet = 0, err = 0;

	for (int rounds = 0; rounds < KILL_ROUNDS_MAX && quiet < QUIET_ROUNDS &&
	                     (rounds <= KILL_ROUNDS_LEAST || platform->monotonic_ns() < end_ns);
	     rounds++) {
		uint64_t known = tree->table.added;
		struct kill_round round = { .running = -1 };

		rti_discover_all_members(tree, rti_ask_for_sample);
		for (size_t i = 0; i < tree->table.count; i++)
			kill_member(&tree->supervised, tree->ctx, &tree->table.members[i], &round);
		err = round.error < 0 ? round.error : err;
		quiet = tree->table.added == known ? quiet + 1 : 0;
		if (round.has_running && quiet > 0 && waits++ < KILLED_WAITS_MAX) {
			rti_pidfd_wait(round.running, -1, KILLED_NS);
			quiet = 0;
		}
		rti_pidfd_close(round.running);
	}
	return err;
}

void rti_tree_get_facts(const struct rti_tree *tree, struct rti_tree_facts *out)
{
	const struct rti_shared_stats *shared = tree->supervised.shared;
	const struct rti_fork_tracker *fork_tracker = &tree->discovery.fork_tracker;
	const uint64_t *sum = tree->ledger.sum;

	*out = (struct rti_tree_facts){
		.members_skipped_max = tree->members_skipped_max,
		.supervisor_cpu_ns = tree->supervisor_cpu_ns,
		.is_self_only = tree->ledger.self_only,
		.has_threads = tree->has_threads,
		.sees_every_fork = shared ? shared->events == RTI_EVENTS_INTACT
		                          : rti_fork_tracker_is_complete(fork_tracker),
		.has_other_child = fork_tracker->has_other_child,
		.knows_alive_peak = shared && !shared->has_leader_exit,
		.alive_peak = shared ? shared->alive_peak : 0,
		.accounted_cpu_ns = sum[RTI_CPU_USER] + sum[RTI_CPU_SYSTEM],
		.cgroup_cpu_ns = tree->ledger.cgroup_user_ns + tree->ledger.cgroup_system_ns,
		.cgroup_lag_ns = tree->supervised.cgroup_lag_ns,
		.is_covered_by_cgroup = tree->ledger.is_covered_by_cgroup,
		.is_rss_counted_once = rti_memory_counts_once(tree),
		.footprint_parts = tree->peaks.parts,
		.left_cgroup = tree->supervised.left_cgroup,
		.gpu_memory_peak = rti_tree_gpu_peak(tree),
		.running = tree->runaways,
	};
	for (size_t i = 0; i < tree->table.count; i++) {
		const struct rti_member *m = &tree->table.members[i];

		out->running += m->pid != tree->supervised.pid && !rti_pid_stat_is_zombie(&m->stat);
	}
}

struct rti_cgroup *rti_tree_cgroup(struct rti_tree *tree)
{
	return &tree->supervised.cgroup;
}
