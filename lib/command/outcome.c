/* SPDX-License-Identifier: MIT */
/* The end of a command: the last samples, and what they say together with the process that
 * waited for the program. */
#include "command/outcome.h"

#include <errno.h>
#include <sys/wait.h>

#include "api/rusage.h"
#include "command/bpf_outcome.h"
#include "command/completeness.h"
#include "command/cpu_bounds.h"
#include "command/lost_program.h"
#include "os/cpu_time.h"
#include "util/arith.h"
#include "util/visit.h"

#define MIB 1048576u
#define LOOKS_MAX 3

/* What fills the outcome. */
struct findings {
	struct rt_metrics metrics;   /* of the last sample */
	struct rti_tree_facts facts; /* after it */
};

/* The final figures of a child of our own. It can be read as long as it is not reaped. */
static int finish_child(struct rt_command *c, struct findings *f, int *status)
{
	struct rti_tree *tree = c->tracker->tree;
	struct rusage own, kernel_use;
	struct rt_rusage use;
	pid_t reaped;
	int err = 0;

	rti_tracker_sample(c->tracker, &f->metrics, sizeof(f->metrics));
	do {
		reaped = wait4(c->pid, status, 0, &kernel_use);
	} while (reaped < 0 && errno == EINTR);
	if (reaped < 0)
		err = -errno;
	if (err == 0) {
		rti_rusage_from_kernel(&kernel_use, &use);
		getrusage(RUSAGE_SELF, &own);
		rti_tree_account_root_exit(tree, c->pid, &use, own.ru_maxrss);
	}
	rti_tracker_sample(c->tracker, &f->metrics, sizeof(f->metrics));
	rti_tree_get_facts(tree, &f->facts);
	c->outcome.reasons = f->metrics.reasons;
	if (!f->facts.is_self_only && !f->facts.sees_every_fork)
		c->outcome.reasons |= RT_REASON_ORPHANS_UNSEEN;
	return err;
}

/* Ask the supervisor for its account. It may have many processes to reap before it answers, or may
 * be stopped: then it is continued. */
static int receive_account(struct rt_command *c)
{
	const struct rti_platform *platform = &c->tracker->platform;
	struct rti_late_report late;
	int err;

	rti_supervisor_request_account(&c->supervisor);
	rti_late_report_begin(&late, &platform->waits, platform->monotonic_ns(),
	                      rti_command_supervisor_cpu_ns(c));
	while ((err = rti_supervisor_receive_account(&c->supervisor, platform->waits.look_ns)) ==
	           -ETIMEDOUT &&
	       !rti_late_report_is_given_up(&late, platform->monotonic_ns(),
	                                    rti_command_supervisor_cpu_ns(c),
	                                    c->is_report_unwanted))
		rti_supervisor_continue(&c->supervisor);
	return err;
}

static void apply_account(struct rt_command *c)
{
	const struct rti_supervisor *s = &c->supervisor;
	struct rt_rusage reaped;

	c->is_supervisor_lost = !s->exited.kind || receive_account(c) < 0;
	if (c->is_supervisor_lost) {
		rti_tree_drop_final_rusage(c->tracker->tree);
		return;
	}
	rti_rusage_from_kernel(&s->accounted.reaped, &reaped);
	rti_tree_apply_final_rusage(c->tracker->tree, &reaped, s->started.inherited_maxrss_kib);
}

/* The supervisor may still be reaping processes that it adopted: what was there at the first
 * look is looked at once more. If the last of them ended after the account was made, it is asked
 * again. Likewise if it had children and the sample has no member: a scan may have missed one. What
 * three of them have missed is left running. */
static void look_at_end(struct rt_command *c, struct findings *f)
{
	const struct rti_tree *tree = c->tracker->tree;
	const struct rti_report *accounted = &c->supervisor.accounted;
	bool is_settled = false;
	int err = 0;

	for (int looks = 1; !is_settled && looks <= LOOKS_MAX; looks++) {
		apply_account(c);
		err = rti_tracker_sample(c->tracker, &f->metrics, sizeof(f->metrics));
		/* The account and the sample are of the same time. While processes run, the two
		 * never match, so a second look is enough. */
		is_settled = c->is_supervisor_lost ||
		             (err == -ESRCH ? rti_tree_is_final_account_current(tree) &&
		                                  !accounted->has_children
		                            : looks > 1);
	}
	rti_tree_get_facts(tree, &f->facts);
	if (err == -ESRCH && !c->is_supervisor_lost && accounted->has_children)
		f->facts.running = 1;
	c->account.totals = *rti_tree_account_totals(tree);
}

/* The supervisor has reaped the program, so its account is the kernel's, to the microsecond. */
static int finish_supervised(struct rt_command *c, struct findings *f, int *status)
{
	const struct rti_supervisor *s = &c->supervisor;
	int err;

	look_at_end(c, f);
	*status = s->exited.status;
	err = s->exited.kind ? 0 : rti_lost_program_wait(c, status);
	c->outcome.reasons = f->metrics.reasons;
	if (s->accounted.ignored_sigchld)
		c->outcome.reasons |= RT_REASON_SIGCHLD_IGNORED;
	if (c->is_supervisor_lost)
		c->outcome.reasons |= RT_REASON_UNWAITED;
	return err;
}

static void set_figures(const struct rt_command *c, const struct findings *f,
                        struct rt_outcome *out)
{
	const uint64_t gpu = RT_HAS_GPU_MEMORY;
	const struct rti_gpu_peak *peak = &f->facts.gpu_memory_peak;
	const struct rt_metrics *m = &f->metrics;

	out->valid = m->valid & ~(RT_HAS_PROCESSES | RT_HAS_PROCESSES_SEEN);
	out->partial = (m->partial & ~RT_HAS_PROCESSES_SEEN) | RT_HAS_PROCESSES;
	out->estimated = m->estimated;
	out->rusage = m->rusage;
	out->cpu_user_ns = m->cpu_user_ns;
	out->cpu_system_ns = m->cpu_system_ns;
	out->peak_rss_bytes = m->peak_rss_bytes;
	out->read_bytes = m->read_bytes;
	out->write_bytes = m->write_bytes;
	out->gpu_busy_ns = m->gpu_busy_ns;
	out->processes = m->processes_seen;
	out->left_running = (uint32_t)f->facts.running;
	out->members_skipped = f->facts.members_skipped_max;
	out->samples = c->tracker->samples;
	out->overhead_cpu_ns =
	    c->overhead_ns + c->tracker->self_cpu_ns +
	    (c->supervisor.is_own ? c->supervisor.own_cpu_ns : f->facts.supervisor_cpu_ns);
	/* The last sample marks what members hold then, which is nothing. */
	out->gpu_memory_peak_bytes = peak->bytes;
	out->valid = (out->valid & ~gpu) | peak->valid;
	out->partial = (out->partial & ~gpu) | peak->partial;
	out->estimated = (out->estimated & ~gpu) | peak->estimated;
}

/* Without process events, processes that came and went between two samples are in the figures,
 * but were not counted. A supervisor that is gone, or does not answer, has not received all
 * events. */
static void set_processes(const struct rt_command *c, const struct findings *f,
                          struct rt_outcome *out)
{
	bool is_counted = f->facts.sees_every_fork && !f->facts.has_other_child;

	if (c->is_supervisor_lost || !(is_counted || f->facts.is_self_only))
		return;
	out->valid |= RT_HAS_PROCESSES;
	out->partial &= ~RT_HAS_PROCESSES;
	if (!f->facts.knows_alive_peak)
		return;
	out->valid |= RT_HAS_PROCESSES_PEAK;
	out->processes_peak = f->facts.alive_peak;
}

/* What samples and polls saw of the tree. */
static void set_seen_peak(const struct findings *f, struct rt_outcome *out)
{
	const struct rt_metrics *m = &f->metrics;
	const struct rti_footprint *parts = &f->facts.footprint_parts;

	out->peak_needed_bytes = m->peak_needed_bytes;
	out->peak_needed_low_bytes = m->peak_needed_low_bytes;
	if (!((m->partial | m->estimated) & RT_HAS_PEAK_FOOTPRINT))
		return;
	out->peak_tree_kind = RT_PEAK_FOOTPRINT;
	out->peak_tree_bytes = m->peak_footprint_bytes;
	out->peak_tree_low_bytes = m->peak_footprint_low_bytes;
	out->footprint_anon_bytes = parts->anon;
	out->footprint_shmem_bytes = parts->shmem;
	out->footprint_file_bytes = parts->file;
	out->footprint_hugetlb_bytes = parts->hugetlb;
	out->footprint_swap_bytes = parts->swap;
}

/* The tree held at least the largest peak of one process, which the kernel knows, though no sample
 * or poll need have seen it. That is no bound: what was not read may be mapped several times. */
static void raise_to_largest_process(const struct findings *f, struct rt_outcome *out)
{
	if (!f->facts.is_rss_counted_once || !((out->valid | out->partial) & RT_HAS_PEAK_RSS) ||
	    out->peak_tree_bytes >= out->peak_rss_bytes)
		return;
	out->peak_tree_kind = RT_PEAK_FOOTPRINT;
	out->peak_tree_bytes = out->peak_rss_bytes;
	out->partial |= RT_HAS_PEAK_FOOTPRINT;
	out->estimated &= ~RT_HAS_PEAK_FOOTPRINT;
}

/* An account of the cgroup is a lower bound if a process ran outside of it. */
static void mark_account(struct rt_outcome *out, uint64_t domain, bool is_whole)
{
	out->valid |= is_whole ? domain : 0;
	out->partial |= is_whole ? 0 : domain;
}

static void set_tree_peak(struct rt_command *c, const struct findings *f, struct rt_outcome *out)
{
	const struct rti_cgroup *cgroup = rti_tree_cgroup(c->tracker->tree);
	int err =
	    rti_cgroup_read_memory_peak(cgroup, &c->tracker->ctx, &out->cgroup_memory_peak_bytes);

	out->peak_tree_high_bytes = out->peak_needed_high_bytes = UINT64_MAX;
	set_seen_peak(f, out);
	raise_to_largest_process(f, out);
	if (err < 0)
		return;
	mark_account(out, RT_HAS_CGROUP_MEMORY, !(cgroup->left & RTI_CGROUP_MEMORY));
	/* It includes page cache, and lacks pages of files that others have read before. */
	if (out->peak_tree_kind == 0) {
		out->peak_tree_kind = RT_PEAK_CGROUP;
		out->peak_tree_bytes = out->cgroup_memory_peak_bytes;
		out->estimated |= RT_HAS_PEAK_FOOTPRINT;
	}
}

static void set_cgroup(struct rt_command *c, struct rt_outcome *out)
{
	const struct rti_cgroup *cgroup = rti_tree_cgroup(c->tracker->tree);
	const struct rti_context *ctx = &c->tracker->ctx;
	bool is_whole;

	if (rti_cgroup_read_tasks_peak(cgroup, ctx, &out->cgroup_tasks_peak) == 0)
		mark_account(out, RT_HAS_CGROUP_TASKS, !(cgroup->left & RTI_CGROUP_TASKS));
	if (rti_cgroup_read_io(cgroup, ctx, &out->cgroup_read_bytes, &out->cgroup_write_bytes,
	                       &is_whole) == 0)
		mark_account(out, RT_HAS_CGROUP_IO, is_whole && !(cgroup->left & RTI_CGROUP_IO));
}

/* The tree's peak is at most processes_peak times the largest single peak. That holds only if
 * every process was waited for; otherwise the largest peak may be unknown. */
static void set_peak_bounds(struct rt_outcome *out)
{
	if (out->peak_tree_kind != RT_PEAK_FOOTPRINT || !(out->valid & RT_HAS_PROCESSES_PEAK) ||
	    !(out->valid & RT_HAS_PEAK_RSS) || out->footprint_hugetlb_bytes > 0 ||
	    out->reasons & ~(uint32_t)RT_REASON_LEFT_RUNNING)
		return;
	out->peak_tree_high_bytes =
	    rti_multiply_saturated(out->peak_rss_bytes, out->processes_peak);
	if (out->peak_tree_high_bytes < out->peak_tree_bytes)
		out->peak_tree_high_bytes = out->peak_tree_bytes;
}

/* Which cgroup that bounds the CPU time of the tree a process has left: the command's own, or the
 * enclosing one, too. The supervisor and the tree know of v2 alone. */
static uint32_t left_cpu_account(const struct rt_command *c, const struct findings *f)
{
	const struct rti_shared_stats *shared = c->supervisor.shared;
	const struct rti_cgroup *own = rti_tree_cgroup(c->tracker->tree);
	const struct rti_cgroup *group = own->count ? own : &c->enclosing;
	const struct rti_cgroup_dir *dir = rti_cgroup_dir_of(group, RTI_CGROUP_CPU);
	uint32_t of_members = f->facts.left_cgroup;

	if (group->left & RTI_CGROUP_CPU)
		return RTI_LEFT_OURS;
	if (dir && dir->hierarchy != 0)
		return RTI_LEFT_NONE;
	return shared && shared->left_cgroup > of_members ? shared->left_cgroup : of_members;
}

static void make_partial(struct rt_outcome *out, uint64_t domains)
{
	out->partial |= out->valid & domains;
	out->valid &= ~domains;
}

/* What is known of the completeness of the figures. Without a supervisor, a process that has left
 * the cgroup around the tree goes unnoticed; if each was waited for, none is missing. */
static struct rti_completeness_known get_evidence(struct rt_command *c, const struct findings *f,
                                                  const struct rt_outcome *out)
{
	bool has_cgroup = c->accounting == RT_ACCOUNTING_CGROUP && f->facts.cgroup_cpu_ns > 0;
	uint64_t lag_ns = f->facts.cgroup_lag_ns;
	uint64_t in_cgroup_ns = f->facts.cgroup_cpu_ns + f->facts.cgroup_cpu_ns / 100 + lag_ns;
	bool may_have_left = !rti_command_is_supervised(c) && out->reasons & RT_REASON_UNWAITED;
	uint64_t usage_ns =
	    may_have_left ? UINT64_MAX : rti_cgroup_read_usage(&c->enclosing, &c->tracker->ctx);
	const struct rti_shared_stats *shared = c->supervisor.shared;

	return (struct rti_completeness_known){
		.reasons = out->reasons,
		.total_ns = out->cpu_user_ns + out->cpu_system_ns,
		.accounted_ns = f->facts.accounted_cpu_ns,
		.unproven_ns = shared ? shared->unproven_ns : UINT64_MAX,
		.unwaited_ns = shared ? shared->unwaited_ns : UINT64_MAX,
		.threads = shared ? shared->threads : UINT64_MAX,
		.processes = shared ? shared->processes : 0,
		.left_cgroup = left_cpu_account(c, f),
		.growth_ns = rti_cpu_bounds_growth(c->enclosing_ns, usage_ns),
		.overhead_ns = out->overhead_cpu_ns,
		.lag_ns = lag_ns,
		.tick_ns = rti_platform_kernel_tick_ns(),
		.is_covered_by_cgroup = has_cgroup && f->facts.is_covered_by_cgroup,
		.is_above_cgroup = has_cgroup && !(out->reasons & RT_REASON_ACCOUNT_RESET) &&
		                   f->facts.accounted_cpu_ns > in_cgroup_ns,
		.is_supervisor_lost = c->is_supervisor_lost,
		.is_running = out->left_running > 0,
		.has_threads = f->facts.has_threads,
		.is_alone = f->facts.is_self_only,
	};
}

/* Whether the tree held more than the processes that are known can have held: then some process is
 * missing. The kernel's peak of a process and its RSS may differ by a few pages. */
static bool lacks_holder(const struct rt_outcome *out)
{
	uint64_t most = rti_multiply_saturated(out->peak_rss_bytes, out->processes_peak);

	return out->peak_tree_kind == RT_PEAK_FOOTPRINT && out->valid & RT_HAS_PEAK_RSS &&
	       out->valid & RT_HAS_PROCESSES_PEAK &&
	       out->peak_tree_low_bytes > rti_add_saturated(most, most / 50 + MIB);
}

/* The bounds of CPU time come last, since they depend on all reasons. */
static void set_completeness(struct rt_command *c, const struct findings *f, struct rt_outcome *out)
{
	const struct rti_cgroup *cgroup = rti_tree_cgroup(c->tracker->tree);
	bool may_have_left = c->is_supervisor_lost || !f->facts.sees_every_fork || cgroup->left ||
	                     left_cpu_account(c, f) != RTI_LEFT_NONE;
	struct rti_completeness_known known;
	struct rti_completeness result;

	/* Every sample may miss processes that fork and exit all the time. */
	if (!out->left_running && rti_cgroup_is_populated(cgroup, &c->tracker->ctx, may_have_left))
		out->left_running = 1;
	if (lacks_holder(out))
		out->reasons |= RT_REASON_UNWAITED;
	known = get_evidence(c, f, out);
	result = rti_completeness(&known);
	/* BPF programs have counted every thread, whatever the samples have seen. */
	if (result.is_member_short && !rti_command_account_is_whole(&c->account))
		make_partial(out, RT_HAS_IO | RT_HAS_IO_CALLS | RT_HAS_FAULTS | RT_HAS_CTXSW |
		                      RT_HAS_PEAK_RSS);
	out->reasons = result.member_reasons;
	set_peak_bounds(out);
	out->reasons = result.reasons;
	out->complete = result.reasons == 0;
	/* It says why the method is the least exact one. By itself it makes nothing incomplete. */
	if (c->lacks_supervisor)
		out->reasons |= RT_REASON_NO_SUPERVISOR;
	out->cpu_low_ns = result.low_ns;
	out->cpu_high_ns = result.high_ns;
	out->cpu_estimate_ns = result.low_ns;
	if (!out->complete || result.is_cpu_short)
		make_partial(out, RT_HAS_CPU);
}

static int add_to_list(void *arg, const struct rti_member_row *m)
{
	rti_process_list_add_member(arg, m);
	return RTI_CONTINUE;
}

static void list_processes(struct rt_command *c, const struct rti_now *end)
{
	struct rti_process_list *list = &c->process_list;
	struct rti_process_records records;

	rti_tree_each(c->tracker->tree, add_to_list, list);
	if (c->accounting == RT_ACCOUNTING_BPF) {
		rti_bpf_outcome_list(c); /* the supervisor has not recorded any */
	} else {
		rti_supervisor_map_records(&c->supervisor, &records);
		if (c->supervisor.shared && c->supervisor.shared->records_skipped)
			rti_process_list_mark_short(list);
		rti_process_list_add_records(list, &records, end);
		rti_supervisor_unmap_records(&records);
	}
	rti_process_list_finish(list, end);
	/* With the method poll only we have seen how the program ended. */
	if (!rti_command_is_supervised(c))
		rti_process_list_set_exit(list, c->pid, c->outcome.exit_code, c->outcome.signal,
		                          end->realtime_ns);
}

static void fill_outcome(struct rt_command *c, const struct findings *f)
{
	struct rt_outcome *out = &c->outcome;

	set_figures(c, f, out);
	set_processes(c, f, out);
	set_tree_peak(c, f, out);
	set_cgroup(c, out);
	set_completeness(c, f, out);
	rti_bpf_outcome_set(c, out);
	/* E.g.: no process waited for one that wrote after its last sample. */
	if (out->partial & RT_HAS_IO)
		rti_process_list_raise_io(&c->process_list, &out->read_bytes, &out->write_bytes);
}

static void begin_outcome(struct rt_command *c, const struct rti_now *end)
{
	const struct rti_report *exited = &c->supervisor.exited;
	uint64_t seen_ns = c->late.ended_ns ? c->late.ended_ns : end->monotonic_ns;
	uint64_t end_ns = exited->kind ? exited->monotonic_ns : seen_ns;

	c->outcome = (struct rt_outcome){
		.size = sizeof(c->outcome),
		.exit_code = -1,
		.accounting = c->accounting,
		.start_realtime_ns = c->start.realtime_ns,
		.wall_ns = end_ns - c->start.monotonic_ns,
	};
}

int rti_outcome_finish(struct rt_command *c)
{
	const struct rti_platform *platform = &c->tracker->platform;
	uint64_t started_ns = platform->thread_cpu_ns(), sampling_ns = c->tracker->self_cpu_ns;
	struct rt_outcome *out = &c->outcome;
	struct findings findings;
	struct rti_now end;
	int status = 0, err;

	rti_tree_begin_final(c->tracker->tree);
	platform->now(&end);
	begin_outcome(c, &end);
	err = rti_command_is_supervised(c) ? finish_supervised(c, &findings, &status)
	                                   : finish_child(c, &findings, &status);
	if (err < 0)
		out->reasons |= RT_REASON_UNWAITED;
	else if (WIFEXITED(status))
		out->exit_code = WEXITSTATUS(status);
	else if (WIFSIGNALED(status))
		out->signal = WTERMSIG(status);
	if (c->has_list)
		list_processes(c, &end);
	sampling_ns = c->tracker->self_cpu_ns - sampling_ns;
	c->overhead_ns += platform->thread_cpu_ns() - started_ns - sampling_ns;
	/* A later sample says by itself what ticks may hide then. */
	c->lost_reasons = out->reasons & ~RT_REASON_CLOCK_TICKS;
	fill_outcome(c, &findings);
	/* The list has all processes, and the account is of the same ones. */
	if (c->has_list && out->complete && !out->left_running && out->valid & RT_HAS_CPU &&
	    out->valid & RT_HAS_PROCESSES && out->processes == c->process_list.count)
		rti_process_list_fit_cpu(&c->process_list, out->cpu_user_ns + out->cpu_system_ns);
	return err;
}

void rti_outcome_update(struct rt_command *c)
{
	struct findings findings;

	if (rti_command_is_supervised(c)) {
		look_at_end(c, &findings);
	} else {
		rti_tracker_sample(c->tracker, &findings.metrics, sizeof(findings.metrics));
		rti_tree_get_facts(c->tracker->tree, &findings.facts);
	}
	c->outcome.reasons = c->lost_reasons | findings.metrics.reasons;
	fill_outcome(c, &findings);
	/* What outlives a kill may fork faster than it is counted. */
	if (c->outcome.left_running)
		make_partial(&c->outcome, RT_HAS_PROCESSES | RT_HAS_PROCESSES_PEAK);
	rti_process_list_update(&c->process_list, c->tracker->tree);
}
