/* SPDX-License-Identifier: MIT */
/* Reading one member of a tree: what is due of it, and in which order.
 *
 * The CPU clock comes first, in the survey of the tree: where it stands still the process has
 * not run, or has only just begun to, and what it does by itself can wait for the next sample.
 * stat comes last, and vouches for all that was read before it. */
#include "tree/member_read.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "collect/pid_mm.h"
#include "os/cpu_time.h"
#include "tree/discovery.h"
#include "util/saturate.h"

#define REFRESH_NS 1000000000u /* RSS of who does not run: others may take pages from it */
/* files that cost many times what all others do: status, and those of all threads */
#define SELDOM_NS 100000000u

/* What one reading of a member met. */
struct member_read {
	struct rti_tree *tree;
	const struct rti_context *ctx;
	struct rti_member *m;
	struct rti_target target;
	struct rti_figures figures;
	struct rti_status status;
	bool has_read_error; /* and status says which */
	uint64_t due;        /* domains that are read now; the others stay as they were */
	bool is_short_of_files;
};

/* The keeper's memory is none of the tree's. */
static uint64_t wanted_domains(const struct rti_tree *tree, const struct rti_member *m)
{
	const uint64_t memory = RT_HAS_RSS | RT_HAS_PSS | RT_HAS_PEAK_RSS;
	uint64_t want = tree->want | RT_HAS_FAULTS; /* the ledger lives on faults */

	if (m->pid == tree->supervisor_pid)
		return want & ~(memory | RT_HAS_CTXSW);
	return want & RT_HAS_PSS ? want | RT_HAS_RSS : want;
}

static bool has_passed(const struct rti_tree *tree, uint64_t last_ns, uint64_t time_ns)
{
	return !last_ns || tree->now_ns - last_ns >= time_ns;
}

static int charge_pss(struct member_read *r, uint64_t rss_bytes)
{
	const struct rti_platform *platform = r->ctx->platform;
	uint64_t started_ns = platform->thread_cpu_ns();
	int err = rti_pid_pss.collect(r->ctx, &r->target, &r->figures);

	rti_pss_spend(&r->tree->pss, rss_bytes, platform->thread_cpu_ns() - started_ns);
	if (err == 0)
		r->m->pss = (struct rti_pss){ r->figures.pss_bytes, rss_bytes, r->m->clock.total_ns,
			                      r->tree->now_ns };
	return err;
}

/* Read or carried on, as the budget says. */
static int read_or_carry_pss(struct member_read *r)
{
	struct rti_member *m = r->m;
	uint64_t rss_bytes = r->figures.rss_bytes;
	int err = 0;

	if (!(r->figures.valid & RT_HAS_RSS))
		return rti_pid_pss.collect(r->ctx, &r->target, &r->figures); /* which says why */
	if (r->tree->is_final ||
	    rti_pss_is_due(&r->tree->pss, &m->pss, rss_bytes, m->clock.total_ns)) {
		err = charge_pss(r, rss_bytes);
		r->figures.pss_source = RT_PSS_READ;
		return err;
	}
	r->figures.pss_bytes = rti_pss_carry(&m->pss, rss_bytes);
	if (m->pss.read_ns || !rss_bytes) {
		r->figures.pss_source = RT_PSS_CACHED;
		r->figures.valid |= RT_HAS_PSS;
	} else {
		r->figures.pss_source = RT_PSS_ESTIMATED;
		r->figures.partial |= RT_HAS_PSS;
	}
	return 0;
}

/* A new peak shows in RSS. Otherwise status is read now and then, for the peaks between two
 * samples, and for whether SIGCHLD is ignored. */
static bool is_peak_due(const struct member_read *r)
{
	return r->tree->is_final || r->figures.rss_bytes > r->m->peak_rss_bytes ||
	       has_passed(r->tree, r->m->status_ns, SELDOM_NS);
}

static bool is_due(const struct member_read *r, const struct rti_pid_collector *collector)
{
	if (!(collector->provides & r->due))
		return false;
	if (collector->provides & RT_HAS_PEAK_RSS)
		return is_peak_due(r);
	if (collector->provides & RT_HAS_CTXSW)
		return r->tree->is_final || has_passed(r->tree, r->m->switches_ns, SELDOM_NS);
	return true;
}

static void clear_domains(struct rti_figures *figures, uint64_t domains)
{
	figures->valid &= ~domains;
	figures->partial &= ~domains;
	if (domains & RT_HAS_RSS)
		figures->rss_bytes = 0;
	if (domains & RT_HAS_PSS)
		figures->pss_bytes = figures->pss_source = 0;
	if (domains & RT_HAS_PEAK_RSS)
		figures->peak_rss_bytes = 0;
}

static void stamp_domains(struct member_read *r, uint64_t domains)
{
	if (domains & RT_HAS_PEAK_RSS) {
		r->m->status_ns = r->tree->now_ns;
		r->m->status_clock_ns = r->m->clock.total_ns;
	}
	if (domains & RT_HAS_CTXSW) {
		r->m->switches_ns = r->tree->now_ns;
		r->m->switches_clock_ns = r->m->clock.total_ns;
	}
	if (domains & RT_HAS_RSS)
		r->m->rss_ns = r->tree->now_ns;
}

static void note_read_error(struct member_read *r, uint64_t domains, int err)
{
	if (!r->has_read_error)
		r->status = (struct rti_status){ 0 };
	r->has_read_error = true;
	rti_status_note(&r->status, domains, err);
}

/* With -ESRCH there was nothing to measure, which is a complete answer. */
static void run_collector(struct member_read *r, const struct rti_pid_collector *collector)
{
	int err;

	clear_domains(&r->figures, collector->provides);
	stamp_domains(r, collector->provides);
	err = collector == &rti_pid_pss ? read_or_carry_pss(r)
	                                : collector->collect(r->ctx, &r->target, &r->figures);
	if (err == -EMFILE || err == -ENFILE)
		r->is_short_of_files = true;
	if (err == -ESRCH)
		r->figures.valid |= collector->provides & ~r->figures.partial;
	else if (err < 0)
		note_read_error(r, collector->provides & ~r->figures.valid, err);
}

static void run_collectors(struct member_read *r, int after_stat)
{
	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		const struct rti_pid_collector *collector = rti_pid_collectors[i];

		if (collector->after_stat == after_stat && is_due(r, collector))
			run_collector(r, collector);
	}
}

static void copy_counters(struct rti_account *account, const struct rti_figures *figures,
                          enum rti_counter_id first, enum rti_counter_id last)
{
	size_t count = (size_t)(last - first + 1) * sizeof(account->self[0]);

	memcpy(&account->self[first], &figures->self[first], count);
	memcpy(&account->children[first], &figures->children[first], count);
}

/* Sums over live threads fall when a thread exits; what they were stays known. */
static void raise_counters(struct rti_account *account, const struct rti_figures *figures,
                           enum rti_counter_id first, enum rti_counter_id last)
{
	for (int i = (int)first; i <= (int)last; i++) {
		if (account->self[i] < figures->self[i])
			account->self[i] = figures->self[i];
	}
}

/* Of a keeper only what it has reaped belongs to the tree. The kernel folds that into its I/O. */
static void count_children_only(struct rti_tree *tree, struct rti_figures *figures)
{
	/* looked at after io was read, so it is no less than it was then */
	const uint64_t *own = tree->shared->own_io;

	tree->supervisor_cpu_ns = figures->self[RTI_CPU_USER] + figures->self[RTI_CPU_SYSTEM];
	memset(figures->self, 0, RTI_READ_BYTES * sizeof(figures->self[0]));
	figures->self[RTI_READ_BYTES] =
	    rti_subtract_saturated(figures->self[RTI_READ_BYTES], own[2]);
	figures->self[RTI_WRITE_BYTES] =
	    rti_subtract_saturated(figures->self[RTI_WRITE_BYTES], own[3]);
	figures->self[RTI_CANCELLED_BYTES] =
	    rti_subtract_saturated(figures->self[RTI_CANCELLED_BYTES], own[4]);
	figures->self[RTI_READ_CHARS] =
	    rti_subtract_saturated(figures->self[RTI_READ_CHARS], own[0]);
	figures->self[RTI_WRITE_CHARS] =
	    rti_subtract_saturated(figures->self[RTI_WRITE_CHARS], own[1]);
	figures->valid |= RT_HAS_RSS | RT_HAS_PSS | RT_HAS_PEAK_RSS | RT_HAS_CTXSW;
	figures->threads = 0;
}

/* Counters that could not be read now keep their last value. */
static void store_figures(struct rti_member *m, const struct rti_figures *figures)
{
	uint64_t known = figures->valid | figures->partial;

	m->figures = *figures;
	if (known & RT_HAS_CPU)
		copy_counters(&m->account, figures, RTI_CPU_USER, RTI_CPU_SYSTEM);
	if (known & RT_HAS_FAULTS)
		copy_counters(&m->account, figures, RTI_MINOR_FAULTS, RTI_MAJOR_FAULTS);
	if (known & RT_HAS_CTXSW)
		raise_counters(&m->account, figures, RTI_VOLUNTARY, RTI_INVOLUNTARY);
	if (known & RT_HAS_IO)
		raise_counters(&m->account, figures, RTI_READ_BYTES, RTI_WRITE_CHARS);
	m->account.has_io = (known & RT_HAS_IO) != 0;
	if (figures->peak_rss_bytes > m->peak_rss_bytes)
		m->peak_rss_bytes = figures->peak_rss_bytes;
}

static void set_target(struct member_read *r)
{
	struct rti_member *m = r->m;
	bool may_keep = rti_member_reserve_files(&r->tree->table, r->ctx, m);

	r->target = (struct rti_target){
		.pid = m->pid,
		.stat = &m->stat,
		.memory_tid = m->memory_tid,
		.statm = may_keep ? &m->statm : NULL,
		.io = may_keep ? &m->io : NULL,
	};
}

static uint64_t reaped_faults(const struct rti_member *m)
{
	return m->stat.cminflt + m->stat.cmajflt;
}

static bool may_have_forked(const struct member_read *r)
{
	return !r->tree->table.last_pid || r->tree->table.last_pid != r->m->stat_pid;
}

/* What nothing else tells is wanted each time. */
static bool needs_stat(const struct rti_tree *tree)
{
	return tree->is_final || tree->want & (RT_HAS_FAULTS | RT_HAS_THREADS);
}

/* Of a process alone the first child that it reaps matters: from then on its I/O is read by
 * threads. */
static bool may_reap_first(const struct member_read *r)
{
	return r->tree->ledger.self_only && r->tree->want & RT_HAS_IO && !reaped_faults(r->m);
}

static bool has_io_moved(const struct member_read *r)
{
	return memcmp(&r->figures.self[RTI_READ_BYTES], &r->m->figures.self[RTI_READ_BYTES],
	              (RTI_COUNTERS - RTI_READ_BYTES) * sizeof(r->figures.self[0])) != 0;
}

/* Since stat was read. The I/O of a process alone was read just now. */
static bool may_have_reaped(struct member_read *r)
{
	if (r->tree->ledger.self_only) {
		if (!may_reap_first(r) || !has_io_moved(r))
			return false;
		r->tree->table.last_pid = rti_read_last_pid(&r->tree->table, r->ctx);
	}
	return r->m->has_children || may_have_forked(r);
}

/* stat tells who it is, which a kept statm vouches for as well; what was reaped, which for
 * somebody without children is nothing; and faults and threads, which may not be wanted. */
static bool may_skip_stat(struct member_read *r)
{
	const struct rti_member *m = r->m;

	if (needs_stat(r->tree) || may_have_reaped(r))
		return false;
	return m->account_at && m->has_clock && m->statm.fd >= 0 && r->figures.rss_bytes > 0 &&
	       !has_passed(r->tree, m->stat_ns, SELDOM_NS);
}

/* Members of a tree find out about each other. A process alone is asked before stat is, lest a
 * child that is reaped in between goes unnoticed, and only where it is quiet enough for the
 * answer to last. */
static void note_children(struct member_read *r)
{
	if (may_reap_first(r) && !needs_stat(r->tree))
		r->m->has_children =
		    may_have_forked(r) || rti_member_has_children(&r->tree->table, r->ctx, r->m);
}

static void read_once(struct member_read *r)
{
	struct rti_member *m = r->m;
	uint64_t had_reaped;
	int err;

	r->figures = m->figures;
	r->is_short_of_files = r->has_read_error = false;
	m->memory_tid = rti_pid_mm_thread(r->ctx, m->pid, &m->stat);
	set_target(r);
	r->target.clock = m->has_clock ? &m->clock : NULL;
	run_collectors(r, 0);
	if (may_skip_stat(r)) {
		r->due &= RT_HAS_CPU;
		run_collectors(r, 1);
		return;
	}
	note_children(r);
	m->stat_ns = r->tree->now_ns;
	m->stat_pid = r->tree->table.last_pid;
	had_reaped = reaped_faults(m);
	err = rti_member_read_stat(&r->tree->table, r->ctx, m);
	/* The kernel may have folded the I/O of a child into what was read just now. */
	if (err == 0 && r->tree->ledger.self_only && r->due & RT_HAS_IO && !had_reaped &&
	    reaped_faults(m))
		run_collector(r, &rti_pid_io);
	if (err == 0) {
		run_collectors(r, 1);
	} else {
		clear_domains(&r->figures, RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_THREADS);
		note_read_error(r, r->due & (RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_THREADS), err);
	}
	if (err == -EMFILE || err == -ENFILE)
		r->is_short_of_files = true;
	m->has_exited = err == -ESRCH;
}

/* What was put off while it ran is due once its time has come, even if it does not run any more. */
static bool is_overdue(const struct rti_tree *tree, const struct rti_member *m)
{
	uint64_t want = wanted_domains(tree, m);

	return (want & RT_HAS_PEAK_RSS && m->account_clock_ns != m->status_clock_ns &&
	        has_passed(tree, m->status_ns, SELDOM_NS)) ||
	       (want & RT_HAS_CTXSW && m->account_clock_ns != m->switches_clock_ns &&
	        has_passed(tree, m->switches_ns, SELDOM_NS));
}

/* Nothing was missing when it was last read that may be there now: unless it runs, there is
 * nothing more to know. */
static bool is_fresh(const struct rti_tree *tree, const struct rti_member *m)
{
	uint64_t may_miss = RT_HAS_CTXSW | RT_HAS_PSS | RT_HAS_PROCESSES;

	return m->account_at && !tree->is_final && !is_overdue(tree, m) &&
	       !(wanted_domains(tree, m) & ~(m->figures.valid | may_miss));
}

/* Its clock stands where it stood then. */
static bool is_unchanged(const struct rti_tree *tree, const struct rti_member *m)
{
	return m->has_clock && m->clock.total_ns == m->account_clock_ns && is_fresh(tree, m);
}

static bool is_refresh_due(const struct rti_tree *tree, const struct rti_member *m)
{
	return wanted_domains(tree, m) & RT_HAS_RSS && has_passed(tree, m->rss_ns, REFRESH_NS);
}

/* Rows tell what status tells of SIGCHLD whether its peak is wanted or not. */
static bool is_status_due(const struct rti_tree *tree, const struct rti_member *m)
{
	return tree->is_final || has_passed(tree, m->status_ns, SELDOM_NS);
}

void rti_request_sample(const void *arg, const struct rti_member *m, struct rti_batch_request *out)
{
	const struct rti_tree *tree = arg;
	uint64_t want = wanted_domains(tree, m);
	int owes_status = is_status_due(tree, m) && m->account_clock_ns != m->status_clock_ns;

	*out = (struct rti_batch_request){
		.pid = m->pid,
		.want = (want & RT_HAS_RSS ? RTI_BATCH_RSS : 0) |
		        (want & RT_HAS_PEAK_RSS ? RTI_BATCH_PEAK : 0) |
		        (want & RT_HAS_IO ? RTI_BATCH_IO : 0) |
		        (is_status_due(tree, m) ? RTI_BATCH_STATUS : 0),
	};
	if (is_fresh(tree, m) && !owes_status && !is_refresh_due(tree, m))
		out->idle_ns = m->account_clock_ns;
}

static void refresh_memory(struct member_read *r)
{
	if (!is_refresh_due(r->tree, r->m))
		return;
	r->figures = r->m->figures;
	set_target(r);
	run_collector(r, &rti_pid_mem);
	if (r->due & RT_HAS_PSS)
		run_collector(r, &rti_pid_pss);
	r->m->figures = r->figures;
}

/* What was read is what is known from now on. */
static void store_read(struct member_read *r)
{
	if (r->m->pid == r->tree->supervisor_pid)
		count_children_only(r->tree, &r->figures);
	store_figures(r->m, &r->figures);
	r->m->account_at = r->tree->events + 1;
	r->tree->needs_reconcile |= rti_ledger_has_grown(&r->m->account);
	r->m->account_clock_ns = r->m->clock.total_ns;
}

/* Running out of descriptors is mended by keeping fewer, once. */
static void read_in_full(struct member_read *r)
{
	read_once(r);
	if (r->is_short_of_files && r->tree->table.files_cached > 0) {
		rti_member_table_drop_files(&r->tree->table, r->ctx);
		read_once(r);
	}
	if (r->m->has_exited)
		return;
	r->tree->table.batch_reader.text_readings++;
	store_read(r);
}

static void set_counters(struct rti_figures *f, const struct rti_batch_row *row)
{
	const uint64_t reaped[RTI_COUNTERS] = { row->reaped_user_ns, row->reaped_system_ns,
		                                row->cminflt, row->cmajflt };

	rti_split_cpu(row->cpu_ns, row->user_part_ns, row->user_part_ns + row->system_part_ns,
	              &f->self[RTI_CPU_USER], &f->self[RTI_CPU_SYSTEM]);
	f->self[RTI_MINOR_FAULTS] = row->minflt;
	f->self[RTI_MAJOR_FAULTS] = row->majflt;
	f->self[RTI_VOLUNTARY] = row->voluntary_switches;
	f->self[RTI_INVOLUNTARY] = row->involuntary_switches;
	f->self[RTI_READ_BYTES] = row->read_bytes;
	f->self[RTI_WRITE_BYTES] = row->write_bytes;
	f->self[RTI_CANCELLED_BYTES] = row->cancelled_write_bytes;
	f->self[RTI_READ_CHARS] = row->rchar;
	f->self[RTI_WRITE_CHARS] = row->wchar;
	memcpy(f->children, reaped, sizeof(reaped));
}

/* All but PSS is in the row, which is of one moment. */
static void set_figures_from_row(struct member_read *r, const struct rti_batch_row *row)
{
	const uint64_t in_row = RT_HAS_CPU | RT_HAS_RSS | RT_HAS_PEAK_RSS | RT_HAS_IO |
	                        RT_HAS_FAULTS | RT_HAS_CTXSW | RT_HAS_THREADS;
	struct rti_figures *f = &r->figures;

	clear_domains(f, in_row);
	stamp_domains(r, RT_HAS_RSS | RT_HAS_CTXSW);
	f->valid |= in_row & r->due;
	set_counters(f, row);
	f->rss_bytes = row->rss_pages * r->ctx->platform->page_size;
	f->peak_rss_bytes = row->peak_rss_pages * r->ctx->platform->page_size;
	f->threads = row->threads;
	if (row->has & RTI_BATCH_STATUS) {
		stamp_domains(r, RT_HAS_PEAK_RSS);
		f->ignores_sigchld = (row->has & RTI_BATCH_IGNORES_SIGCHLD) != 0;
	}
}

static void apply_row(struct member_read *r)
{
	struct rti_member *m = r->m;

	r->figures = m->figures;
	rti_member_apply_row(m, r->ctx->platform->tick_ns);
	m->stat_pid = r->tree->table.last_pid;
	set_figures_from_row(r, m->row);
	if (r->due & RT_HAS_PSS) {
		m->memory_tid = rti_pid_mm_thread(r->ctx, m->pid, &m->stat);
		set_target(r);
		run_collector(r, &rti_pid_pss);
	}
	store_read(r);
}

static void read_member(struct rti_tree *tree, const struct rti_context *ctx, struct rti_member *m,
                        struct rti_status *status, bool may_be_idle)
{
	struct member_read r = { .tree = tree, .ctx = ctx, .m = m, .due = wanted_domains(tree, m) };

	if (may_be_idle && m->row)
		apply_row(&r);
	else if (may_be_idle && is_unchanged(tree, m))
		refresh_memory(&r);
	else
		read_in_full(&r);
	if (m->has_exited) {
		tree->needs_reconcile = true;
		m->exited_at = ++tree->events;
		return;
	}
	m->read_at = ++tree->events;
	if (r.has_read_error)
		rti_status_add(status, &r.status);
}

void rti_read_member(struct rti_tree *tree, const struct rti_context *ctx, struct rti_member *m,
                     struct rti_status *status)
{
	read_member(tree, ctx, m, status, 1);
}

void rti_force_read_member(struct rti_tree *tree, const struct rti_context *ctx,
                           struct rti_member *m, struct rti_status *status)
{
	m->has_clock = ctx->platform->cpu_clock && ctx->platform->cpu_clock(m->pid, &m->clock) == 0;
	read_member(tree, ctx, m, status, 0);
}

void rti_read_account(struct rti_tree *tree, const struct rti_context *ctx, struct rti_member *m)
{
	struct member_read r = { .tree = tree, .ctx = ctx, .m = m };

	r.due = wanted_domains(tree, m) & (RT_HAS_CPU | RT_HAS_FAULTS);
	read_in_full(&r);
	if (!m->has_exited)
		m->read_at = ++tree->events;
}

/* RSS as of the last glance will do. */
static bool is_poll_fresh(const struct rti_tree *tree, const struct rti_member *m)
{
	return m->poll_ns && !has_passed(tree, m->poll_ns, REFRESH_NS);
}

void rti_request_peak_poll(const void *tree, const struct rti_member *m,
                           struct rti_batch_request *out)
{
	*out = (struct rti_batch_request){
		.pid = m->pid,
		.want = RTI_BATCH_RSS,
		.idle_ns = is_poll_fresh(tree, m) ? m->poll_clock_ns : 0,
	};
}

uint64_t rti_read_rss(struct rti_tree *tree, const struct rti_context *ctx, struct rti_member *m)
{
	struct member_read r = { .tree = tree, .ctx = ctx, .m = m };

	if (m->has_clock && m->clock.total_ns == m->poll_clock_ns && is_poll_fresh(tree, m))
		return m->poll_rss_bytes;
	m->poll_ns = tree->now_ns;
	m->poll_clock_ns = m->clock.total_ns;
	if (m->row)
		return m->row->rss_pages * ctx->platform->page_size;
	set_target(&r);
	return rti_pid_mem.collect(ctx, &r.target, &r.figures) == 0 ? r.figures.rss_bytes : 0;
}

int rti_read_pss(struct rti_tree *tree, const struct rti_context *ctx, struct rti_member *m,
                 uint64_t rss_bytes)
{
	struct member_read r = { .tree = tree, .ctx = ctx, .m = m };

	set_target(&r);
	return charge_pss(&r, rss_bytes);
}
