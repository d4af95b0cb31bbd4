/* SPDX-License-Identifier: MIT */
/* Reading one member of a tree: what the read policy says, in the order that proves its
 * identity.
 *
 * The CPU clock was read at the start of the sample. stat comes last: its start time proves that
 * all that was read before it by pid is of the same process. E.g.: io is read from pid 42, then
 * 42 exits and its pid is reused, then stat shows another start time: all values of this sample
 * for 42 are dropped. If stat is refused, they are kept, without that proof. */
#include "tree/read/member_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collect/pid_mm.h"
#include "collect/pid_status.h"
#include "tree/gpu/gpu_files.h"
#include "tree/pure/reaped.h"
#include "tree/read/member_change.h"
#include "tree/read/served_reads.h"
#include "tree/scan/clock_read.h"
#include "tree/scan/discovery.h"
#include "tree/state/read_policy.h"
#include "tree/watch/watched.h"

/* One read of a member. */
struct member_read {
	struct rti_tree *tree;
	struct rti_member *m;
	struct rti_target target;
	struct rti_kept_status kept; /* for the target */
	struct rti_figures figures;
	uint64_t wanted; /* domains wanted of this member */
	uint64_t due;    /* of them, what is read now; the others stay as they were */
	bool has_error;  /* and the figures have it */
	bool has_read_files;
	bool is_short_of_files;
};

void rti_begin_reads(struct rti_tree *tree)
{
	bool is_due =
	    tree->watched.is_partial || tree->now_ns - tree->rss_compared_ns >= RTI_WHILE_IDLE_NS;

	tree->compares_rss = is_due && tree->row_request & RTI_BATCH_RSS;
	if (tree->compares_rss)
		tree->rss_compared_ns = tree->now_ns;
}

/* The name and the SIGCHLD disposition (RTI_BATCH_STATUS) are asked for ten times a second at most,
 * whatever is wanted. */
void rti_ask_for_sample(const void *arg, const struct rti_member *m, struct rti_batch_request *out)
{
	const struct rti_tree *tree = arg;

	*out = (struct rti_batch_request){
		.pid = m->pid,
		.want = m->pid == tree->supervised.pid ? tree->row_request_of_supervisor
		                                       : tree->row_request,
		.idle_ns = rti_is_idle(tree, m) ? m->read.clock_ns : 0,
		.idle_rss_pages = tree->compares_rss ? m->values.figures.row.rss_bytes /
		                                           tree->ctx->platform->page_size
		                                     : RTI_BATCH_ANY_RSS,
	};
	if (tree->is_final ||
	    rti_stamp_is_older(&m->values.row_status, tree->now_ns, RTI_SELDOM_NS))
		out->want |= RTI_BATCH_STATUS;
}

static struct rti_stamp stamp_now(const struct member_read *r)
{
	return (struct rti_stamp){ r->tree->now_ns, r->m->clock.now.total_ns };
}

static void clear_domains(struct rti_figures *figures, const struct rti_pid_collector *collector)
{
	figures->valid &= ~collector->provides;
	figures->partial &= ~collector->provides;
	figures->estimated &= ~collector->provides;
	if (collector->reset)
		collector->reset(figures);
}

/* err 0: there is none, or none any more. */
static void note_error(struct member_read *r, size_t i, int err)
{
	r->figures.errors[i] = (int16_t)err;
	r->has_error |= err < 0;
}

/* -ESRCH: there was nothing to measure, which is a complete answer. */
static void run_collector(struct member_read *r, size_t i)
{
	const struct rti_pid_collector *collector = rti_pid_collectors[i];
	int err;

	clear_domains(&r->figures, collector);
	r->m->values.read[i] = stamp_now(r);
	r->has_read_files = true;
	err = collector->collect(r->tree->ctx, &r->target, &r->figures);
	if (rti_is_out_of_files(err))
		r->is_short_of_files = true;
	if (err == -ESRCH)
		r->figures.valid |= collector->provides & ~r->figures.partial;
	note_error(r, i, err == -ESRCH ? 0 : err);
}

static void run_collectors(struct member_read *r, uint64_t domains)
{
	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		if (rti_pid_collectors[i]->provides & domains)
			run_collector(r, i);
	}
}

/* Counters that could not be read now keep their last value in the account. */
static void store_account(struct rti_member *m, const struct rti_figures *figures,
                          uint64_t folds_children)
{
	uint64_t known = figures->valid | figures->partial;

	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		const struct rti_pid_collector *c = rti_pid_collectors[i];

		if (!(c->provides & known) || !c->counters.count)
			continue;
		if (c->counters_may_fall)
			rti_account_raise(&m->account, c->counters, figures->self);
		else
			rti_account_set(&m->account, c->counters, figures->self, figures->children);
	}
	if (known & folds_children)
		rti_account_note_io(&m->account);
}

/* Of our own supervisor, what it reaped. The rest is complete as it is: nothing. */
static void keep_children_share(struct member_read *r)
{
	struct rti_tree *tree = r->tree;

	tree->supervisor_cpu_ns = r->figures.self[RTI_CPU_USER] + r->figures.self[RTI_CPU_SYSTEM];
	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		const struct rti_pid_collector *c = rti_pid_collectors[i];

		if (c->keep_children_share)
			c->keep_children_share(&r->figures, tree->supervised.shared);
		else
			r->figures.valid |= c->provides;
	}
	if (tree->supervised.reaped)
		rti_reaped_keep(tree->supervised.reaped, &r->figures);
}

/* From now on the member is known as it was read. */
static void store_read(struct member_read *r)
{
	struct rti_member *m = r->m;

	if (m->pid == r->tree->supervised.pid)
		keep_children_share(r);
	m->values.figures = r->figures;
	store_account(m, &r->figures, r->tree->domains.folds_children);
	if (m->values.peak_rss_bytes < r->figures.row.peak_rss_bytes)
		m->values.peak_rss_bytes = r->figures.row.peak_rss_bytes;
	m->read.account_at = r->tree->events + 1;
	m->read.clock_ns = m->clock.now.total_ns;
	m->read.idle_until_ns =
	    rti_idle_until_ns(&r->tree->domains, &r->tree->watched, m, r->wanted);
	r->tree->needs_reconcile |= rti_ledger_has_grown(&m->account) || rti_has_stale_stat(m);
	rti_served_reads_look(r->tree, m);
	rti_gpu_files_note_read(r->tree->gpu, m);
	rti_watch_touch(&r->tree->watched, &r->tree->table, m);
}

static bool reserve(const struct member_read *r, const struct rti_file *file)
{
	return rti_member_reserve_file(&r->tree->table, r->tree->ctx, r->m, file);
}

/* Returns NULL unless the file may stay open. */
static struct rti_file *keep_seldom(const struct member_read *r, struct rti_file *file,
                                    uint64_t domains)
{
	bool is_kept = r->due & domains && r->m->stat.num_threads == 1 &&
	               rti_member_reserve_seldom_file(&r->tree->table, r->tree->ctx, r->m, file);

	return is_kept || file->fd >= 0 ? file : NULL;
}

static void set_target(struct member_read *r)
{
	struct rti_member *m = r->m;
	bool keeps_statm =
		 r->tree->wanted & (RT_HAS_RSS | RT_HAS_VIRTUAL) && reserve(r, &m->files.statm),
	     keeps_io = r->wanted & r->tree->domains.folds_children && reserve(r, &m->files.io);

	r->kept.is_read = false;
	m->values.memory_tid = rti_pid_mm_thread(r->tree->ctx, m->pid, &m->stat);
	r->target = (struct rti_target){
		.pid = m->pid,
		.stat = &m->stat,
		.clock = m->clock.is_known ? &m->clock.now : NULL,
		.memory_tid = m->values.memory_tid,
		.statm = keeps_statm ? &m->files.statm : NULL,
		.io = keeps_io ? &m->files.io : NULL,
		.kept = &r->kept,
		.status = keep_seldom(r, &m->files.status, r->tree->domains.of_status),
		.schedstat = keep_seldom(r, &m->files.schedstat, RT_HAS_CTXSW),
	};
}

static uint64_t reaped_faults(const struct rti_member *m)
{
	return m->stat.cminflt + m->stat.cmajflt;
}

static bool may_have_forked(const struct member_read *r)
{
	uint64_t last_pid = r->tree->discovery.last_pid;

	return !last_pid || last_pid != r->m->values.stat_last_pid;
}

/* Of a process alone the first child that it reaps matters: from then on its I/O is the sum over
 * its threads. */
static bool may_reap_first(const struct member_read *r)
{
	return r->tree->ledger.self_only && r->wanted & r->tree->domains.folds_children &&
	       !reaped_faults(r->m);
}

/* Since stat was read. The I/O of a process alone was read just now. */
static bool may_have_reaped(struct member_read *r)
{
	const uint64_t *before = r->m->values.figures.self, *now = r->figures.self;

	if (!r->tree->ledger.self_only)
		return r->m->family.has_children || may_have_forked(r);
	if (!may_reap_first(r) || memcmp(&now[RTI_READ_BYTES], &before[RTI_READ_BYTES],
	                                 (RTI_COUNTERS - RTI_READ_BYTES) * sizeof(*now)) == 0)
		return false;
	rti_discovery_update_last_pid(&r->tree->discovery, r->tree->ctx);
	return r->m->values.has_children || may_have_forked(r);
}

int rti_read_member_stat(struct rti_tree *tree, struct rti_member *m)
{
	int err = rti_member_read_stat(&tree->table, tree->ctx, m);

	tree->unchanged_samples = 0;
	if (err == 0)
		rti_discovery_check_threads(m);
	return err;
}

/* stat cannot be read, nor what is computed from it. If the process turns out to be hidden, that
 * explains why other files were refused, or seemed to be missing. */
static void drop_after_stat(struct member_read *r, uint64_t domains, int err)
{
	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		const struct rti_pid_collector *c = rti_pid_collectors[i];

		if (c->after_stat && c->provides & domains) {
			clear_domains(&r->figures, c);
			note_error(r, i, err);
		} else if (err == -EACCES &&
		           (r->figures.errors[i] == -ENOENT || r->figures.errors[i] == -EPERM)) {
			note_error(r, i, err);
		}
	}
}

int rti_reread_stat(struct rti_tree *tree, struct rti_member *m)
{
	struct member_read r = { .tree = tree, .m = m, .figures = m->values.figures };
	int err = rti_read_member_stat(tree, m);

	if (err == 0 || err == -ESRCH)
		return err;
	drop_after_stat(&r, tree->domains.after_stat, err);
	m->values.figures = r.figures;
	m->read.idle_until_ns = 0;
	rti_watch_touch(&tree->watched, &tree->table, m);
	return err;
}

/* Read stat, and then what is computed from it. */
static void read_stat(struct member_read *r)
{
	struct rti_tree *tree = r->tree;
	struct rti_member *m = r->m;
	uint64_t had_reaped = reaped_faults(m), after_stat = r->due & tree->domains.after_stat;
	int err;

	m->values.stat = stamp_now(r);
	m->values.stat_last_pid = tree->discovery.last_pid;
	err = rti_read_member_stat(tree, m);
	m->end.has_exited = err == -ESRCH;
	if (rti_is_out_of_files(err))
		r->is_short_of_files = true;
	if (err < 0) {
		drop_after_stat(r, tree->domains.after_stat, err);
		return;
	}
	/* The kernel may have added the I/O of a child to what was read just now. */
	if (tree->ledger.self_only && !had_reaped && reaped_faults(m))
		run_collectors(r, r->due & tree->domains.folds_children);
	run_collectors(r, after_stat);
}

static void read_once(struct member_read *r, const struct rti_read_facts *facts,
                      const struct rti_read_plan *plan)
{
	uint64_t before_stat = plan->domains & ~r->tree->domains.after_stat;
	bool needs_stat = facts->needs_stat || facts->is_final;

	r->figures = r->m->values.figures;
	r->is_short_of_files = r->has_error = false;
	r->due = plan->domains;
	set_target(r);
	run_collectors(r, before_stat);
	if (r->figures.row.rss_bytes > r->m->values.peak_rss_bytes)
		run_collectors(r, plan->if_rss_rose);
	/* stat shows three things. The identity of the process, which a cached statm proves as
	 * well. What it reaped, which is nothing for a process without children: asked even if
	 * stat is due, since it updates the last pid that stat is read at. And figures, which may
	 * not be wanted. */
	if (!needs_stat && !may_have_reaped(r) && plan->stat_may_wait &&
	    r->m->files.statm.fd >= 0 && r->figures.row.rss_bytes > 0) {
		run_collectors(r, r->due & RT_HAS_CPU);
		return;
	}
	/* Members of a tree learn of each other's children in tree_metrics.c. A process alone is
	 * looked at before stat is read, so that a child that is reaped in between does not go
	 * unnoticed; and only if no pid was allocated, so that the answer lasts. */
	if (!needs_stat && may_reap_first(r))
		r->m->values.has_children =
		    may_have_forked(r) || rti_discovery_has_children(r->tree, r->m);
	read_stat(r);
}

/* If descriptors run out, fewer are cached from then on, and the member is read once more. */
static void read_in_full(struct member_read *r, const struct rti_read_facts *facts,
                         const struct rti_read_plan *plan)
{
	r->tree->unchanged_samples = 0;
	read_once(r, facts, plan);
	if (r->is_short_of_files && r->tree->table.files_cached > 0) {
		rti_member_table_drop_files(&r->tree->table, r->tree->ctx);
		read_once(r, facts, plan);
	}
	if (r->m->end.has_exited)
		return;
	rti_batch_reader_count_text(&r->tree->batch_reader);
	store_read(r);
}

/* Read what changes though the process does not run. */
static void refresh(struct member_read *r, const struct rti_read_plan *plan)
{
	struct rti_member *m = r->m;

	if (plan->domains) {
		r->figures = m->values.figures;
		set_target(r);
		run_collectors(r, plan->domains);
		m->values.figures = r->figures;
	}
	m->read.idle_until_ns =
	    rti_idle_until_ns(&r->tree->domains, &r->tree->watched, m, r->wanted);
}

/* Read what a row lacks from the files, and stat after them: the pid may have been reused since the
 * row. Returns whether the process is still there. */
static bool read_beside_row(struct member_read *r)
{
	uint64_t after_stat = r->due & r->tree->domains.after_stat;
	bool needs_stat = false; /* parts of it that a row lacks */
	int err = 0;

	set_target(r);
	run_collectors(r, r->due & ~after_stat);
	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		const struct rti_pid_collector *c = rti_pid_collectors[i];

		needs_stat |= c->provides & r->due && c->after_stat && !c->from_row;
	}
	if (r->has_read_files || needs_stat)
		err = rti_read_member_stat(r->tree, r->m);
	if (err == 0)
		run_collectors(r, after_stat);
	else
		drop_after_stat(r, after_stat, err);
	return err != -ESRCH;
}

/* A row is of one moment. What it lacks is read from the files, when that is due. */
static void read_by_row(struct member_read *r, const struct rti_read_plan *plan)
{
	struct rti_member *m = r->m;
	struct rti_figures of_row;
	uint64_t in_row = 0;

	r->figures = m->values.figures;
	r->due = plan->domains;
	rti_member_apply_row(m, r->tree->ctx->platform->tick_ns);
	rti_discovery_check_threads(m);
	m->values.stat_last_pid = r->tree->discovery.last_pid;
	if (m->clock.row->has & RTI_BATCH_STATUS)
		m->values.row_status = stamp_now(r);
	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		const struct rti_pid_collector *c = rti_pid_collectors[i];

		if (!(c->provides & r->wanted) || !c->from_row)
			continue;
		clear_domains(&r->figures, c);
		note_error(r, i, 0);
		c->from_row(r->tree->ctx, m->clock.row, &r->figures);
		m->values.read[i] = stamp_now(r);
		in_row |= c->provides;
	}
	r->due &= ~in_row;
	of_row = r->figures;
	if (r->due && !read_beside_row(r)) {
		r->figures = of_row;
		m->end.has_exited = true;
	}
	store_read(r);
}

void rti_mark_exited(struct rti_tree *tree, struct rti_member *m)
{
	rti_watch_note_exit(&tree->watched, &tree->table, m);
	m->end.has_exited = true;
	m->end.at = ++tree->events;
	tree->unchanged_samples = 0;
	tree->needs_reconcile = true;
}

/* In state X it may be in its reaper's account already, so it counts as looked at when it was seen
 * before. So does one with a stat that was refused. */
static void note_alive(uint64_t *events, struct rti_member *m)
{
	uint64_t now = ++*events;

	if (m->stat.state != 'X' && !rti_has_stale_stat(m))
		m->read.alive_at = now;
}

static void finish_read(struct member_read *r)
{
	if (r->m->end.has_exited)
		rti_mark_exited(r->tree, r->m);
	else
		note_alive(&r->tree->events, r->m);
}

/* --- A trace of decisions, for debugging: why a member was read or not. Compiled out unless
 * Meson is given -Dtrace=true, which defines RTI_TRACE. --- */

#ifdef RTI_TRACE
static const char *name_of_clock(enum rti_clock_state clock)
{
	switch (clock) {
	case RTI_CLOCK_UNKNOWN:
		return "unknown";
	case RTI_CLOCK_UNCHANGED:
		return "unchanged";
	case RTI_CLOCK_MOVED:
		return "moved";
	}
	return "?";
}

/* One line on stderr for each member that is not known to be idle. Domains are RT_HAS_ bits. */
static void trace_read(int32_t pid, const struct rti_read_facts *facts,
                       const struct rti_read_plan *plan, bool has_row)
{
	fprintf(stderr,
	        "rtrack: pid %" PRId32 ": clock %s%s%s, missing %#" PRIx64 ", put off %#" PRIx64
	        " -> %s%s, domains %#" PRIx64 "%s\n",
	        pid, name_of_clock(facts->clock), facts->was_read ? "" : ", never read",
	        facts->is_final ? ", final" : "", facts->missing, facts->put_off,
	        plan->is_unchanged ? "unchanged" : "read", has_row ? " from a batch row" : "",
	        plan->domains, plan->stat_may_wait ? ", stat may wait" : "");
}
#else
#define trace_read(...) ((void)0)
#endif

/* --- The reads. --- */

void rti_read_member(struct rti_tree *tree, struct rti_member *m)
{
	struct member_read r = { .tree = tree, .m = m };
	struct rti_read_facts facts;
	struct rti_read_plan plan;

	if (!m->clock.row && rti_clock_state(m) == RTI_CLOCK_UNCHANGED && rti_is_idle(tree, m)) {
		m->read.alive_at = ++tree->events;
		rti_watch_note_idle(&tree->watched, &tree->table, m);
		return;
	}
	tree->unchanged_samples = 0;
	rti_change_note_read(tree, m);
	facts = rti_gather_read_facts(tree, m);
	r.wanted = facts.wanted;
	if (facts.clock != RTI_CLOCK_UNCHANGED)
		rti_watch_note_run(&tree->watched);
	plan = rti_plan_read(&facts);
	trace_read(m->pid, &facts, &plan, m->clock.row != NULL);
	if (m->clock.row)
		read_by_row(&r, &plan);
	else if (plan.is_unchanged)
		refresh(&r, &plan);
	else
		read_in_full(&r, &facts, &plan);
	finish_read(&r);
}

void rti_force_read_member(struct rti_tree *tree, struct rti_member *m)
{
	struct member_read r = { .tree = tree, .m = m };
	struct rti_read_facts facts;
	struct rti_read_plan plan;

	rti_change_note_read(tree, m);
	rti_read_clock(tree->ctx, m);
	facts = rti_gather_read_facts(tree, m);
	r.wanted = facts.wanted;
	if (facts.clock == RTI_CLOCK_UNCHANGED)
		facts.clock = RTI_CLOCK_MOVED; /* by up to a tick, which it does not show yet */
	plan = rti_plan_read(&facts);
	trace_read(m->pid, &facts, &plan, false);
	read_in_full(&r, &facts, &plan);
	finish_read(&r);
}

void rti_read_account(struct rti_tree *tree, struct rti_member *m)
{
	struct member_read r = { .tree = tree, .m = m, .wanted = rti_wanted_of(tree, m) };
	const struct rti_read_facts facts = { .needs_stat = true };
	const struct rti_read_plan plan = {
		.domains = r.wanted & (RT_HAS_CPU | RT_HAS_FAULTS),
	};

	rti_change_note_read(tree, m);
	read_in_full(&r, &facts, &plan);
	if (m->end.has_exited || r.has_error)
		rti_procfs_close_file(tree->ctx->procfs, &m->files.statm);
	if (!m->end.has_exited)
		note_alive(&tree->events, m);
}

/* A statm that was opened just now may belong to a process that reuses the pid. It must not stay,
 * since it would prove from now on that the member is there. A member that was not read yet is
 * proven by stat, which its first sample or rti_post_usage() reads next. */
int rti_read_statm(struct rti_tree *tree, struct rti_member *m, struct rti_pid_statm *out)
{
	struct member_read r = { .tree = tree, .m = m };
	bool is_proven = m->files.statm.fd >= 0 || !m->read.account_at;
	int err;

	set_target(&r);
	err = rti_pid_mm_read_statm(tree->ctx, &r.target, out);
	if (err == 0 && !is_proven) {
		err = rti_read_member_stat(tree, m);
		if (err < 0)
			rti_procfs_close_file(tree->ctx->procfs, &m->files.statm);
	}
	m->values.is_proven = err == 0;
	return err;
}

bool rti_take_presence(struct rti_member *m)
{
	bool is_proven = m->values.is_proven;

	m->values.is_proven = false;
	return is_proven;
}

int rti_read_status(struct rti_tree *tree, struct rti_member *m, struct rti_pid_status *out)
{
	struct member_read r = { .tree = tree, .m = m };

	set_target(&r);
	return rti_pid_status_read(tree->ctx, &r.target, out);
}

int rti_read_smaps(struct rti_tree *tree, struct rti_member *m)
{
	struct member_read r = { .tree = tree, .m = m };
	int err;

	set_target(&r);
	err = rti_pid_mm_read(tree->ctx, &r.target, "smaps", NULL);
	return err == 0 && tree->ctx->buf->len == 0 ? -ESRCH : err;
}

int rti_read_rollup(struct rti_tree *tree, struct rti_member *m, struct rti_smaps_rollup *out)
{
	struct member_read r = { .tree = tree, .m = m };

	set_target(&r);
	return rti_pid_mm_read_rollup(tree->ctx, &r.target, out);
}
