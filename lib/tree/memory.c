/* SPDX-License-Identifier: MIT */
/* The memory of a tree at one moment: by PSS that was read where that is known well enough, else by
 * the model. */
#include "tree/memory.h"

#include <errno.h>

#include "os/procfs_path.h"
#include "tree/discovery.h"
#include "tree/member_read.h"
#include "tree/pss_read.h"
#include "tree/state.h"
#include "util/saturate.h"

/* A sum of reads that may have moved by less, as a part of it, is better than the model. */
#define USABLE_DOUBT 20
/* By how much RSS moves at least between the reads of a look that is torn. */
#define TORN_PAGES 32u
/* By how much statm and smaps_rollup may differ. */
#define SLACK_PAGES 16u
/* What is older is not exact: processes outside the tree change what is shared, too. */
#define OLDEST_NS (3 * RTI_PSS_REFRESH_NS)
/* What was read contradicts the model for this long: then it is the model that is wrong. */
#define MODEL_IS_WRONG_NS 1000000000u
/* Peak polls read PSS only after so long without. */
#define SAMPLES_ARE_RARE_NS UINT64_C(2000000000)

static uint64_t to_bytes(const struct rti_tree *tree, uint64_t pages)
{
	return pages > UINT64_MAX / tree->ctx->platform->page_size
	           ? UINT64_MAX
	           : pages * tree->ctx->platform->page_size;
}

static uint64_t hash_text(const char *text, size_t len)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
	return hash;
}

/* Names the program that a member runs: by its file, else by its name. */
static uint64_t program_of(const struct rti_tree *tree, const struct rti_member *m)
{
	struct rti_path exe = rti_pid_path(m->pid, "exe");
	char target[4096];
	ssize_t len =
	    rti_procfs_readlink(tree->ctx->procfs, RTI_PROC, exe.text, target, sizeof(target));

	return len > 0 ? hash_text(target, (size_t)len)
	               : hash_text(m->stat.comm, sizeof(m->stat.comm));
}

static void enter_program(struct rti_tree *tree, struct rti_member *m,
                          const struct rti_member *parent)
{
	struct rti_executables *table = &tree->memory.executables;

	if (parent) {
		m->memory.executable = parent->memory.executable;
		rti_executables_enter_again(table, m->memory.executable);
	} else {
		m->memory.executable = rti_executables_enter(table, program_of(tree, m));
	}
}

/* A fork leaves the stack where it was, and an exec moves it. Where it is shows only to a caller
 * that may trace the process. Without that, the parent or the same program must do. */
static bool may_share(const struct rti_tree *tree, const struct rti_member *m,
                      const struct rti_memory_look *look, const struct rti_member *other)
{
	const struct rti_memory_part *memory = &other->memory;

	if (other == m || !memory->is_present)
		return false;
	if (look->stack && memory->look.stack)
		return look->stack == memory->look.stack;
	return other->pid == m->stat.ppid ||
	       memory->executable ==
	           rti_executables_find(&tree->memory.executables, program_of(tree, m));
}

/* The member that a forked one has its memory from: its parent. If that has ended, as that of a
 * daemon has, another one that has its memory from there, too. */
static struct rti_member *find_parent(const struct rti_tree *tree, const struct rti_member *m,
                                      const struct rti_memory_look *look)
{
	struct rti_member *parent =
	    look->is_forked ? rti_member_find(&tree->table, m->stat.ppid) : NULL;

	if (!look->is_forked || (parent && may_share(tree, m, look, parent)))
		return parent;
	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *other = &tree->table.members[i];

		if (may_share(tree, m, look, other))
			return other;
	}
	return NULL;
}

/* vfork(2) lets the child use the memory of its parent, so all that it maps is its parent's. */
static bool shares_space(const struct rti_tree *tree, const struct rti_member *m,
                         const struct rti_member *parent, const struct rti_memory_look *look)
{
	const struct rti_platform *platform = tree->ctx->platform;

	return rti_memory_looks_alike(look, &parent->memory.look) && platform->have_same_memory &&
	       platform->have_same_memory(m->pid, parent->pid);
}

/* The faults of a member without relatives may be older than its pages, as they did not matter. */
static void begin_counting_faults(struct rti_tree *tree, struct rti_member *parent)
{
	struct rti_memory_part *memory = &parent->memory;

	if (parent->clock.row || rti_memory_needs_stat(tree, parent))
		return;
	if (rti_read_member_stat(tree, parent) == 0)
		memory->look.faults = memory->counted.faults = parent->stat.minflt;
}

/* A start time in clock ticks is at most a tick before the exact one. */
static bool was_forked_before(const struct rti_tree *tree, const struct rti_member *m,
                              uint64_t monotonic_ns)
{
	const struct rti_platform *platform = tree->ctx->platform;
	uint64_t start_ns = m->starttime * platform->tick_ns;
	struct rti_now now;

	platform->now(&now);
	return m->has_starttime && start_ns < monotonic_ns + now.boottime_ns - now.monotonic_ns;
}

static void join(struct rti_tree *tree, struct rti_member *m, const struct rti_memory_look *look)
{
	struct rti_member *parent = find_parent(tree, m, look);
	struct rti_memory_look first = *look;
	uint64_t shared;

	if (parent) {
		begin_counting_faults(tree, parent);
		first.is_late = parent->pid != m->stat.ppid ||
		                was_forked_before(tree, m, parent->memory.before_at_ns);
	}
	shared = rti_memory_join(&m->memory, &first, parent);

	enter_program(tree, m, parent);
	if (parent && shares_space(tree, m, parent, look))
		m->memory.has_parents_space = true;
	else
		tree->memory.drift += shared;
	if (look->is_forked && m == tree->table.members && !tree->supervised.pid)
		tree->memory.has_outside_sharer = true;
}

static void leave(struct rti_tree *tree, struct rti_member *m)
{
	bool had_space = !m->memory.has_parents_space;
	uint64_t shared = rti_memory_leave(&tree->table, m);

	tree->memory.drift += had_space ? shared : 0;
	rti_executables_leave(&tree->memory.executables, m->memory.executable);
	m->memory.executable = -1;
	m->pss = (struct rti_pss_part){ 0 };
}

static bool has_executed(const struct rti_memory_look *last, const struct rti_memory_look *now)
{
	return (last->is_forked && !now->is_forked) ||
	       (last->stack && now->stack && last->stack != now->stack);
}

/* Whether it has moved on from the address space that it had at its last look. */
static bool has_other_space(const struct rti_tree *tree, const struct rti_member *m,
                            const struct rti_memory_look *look)
{
	const struct rti_member *parent = rti_member_find(&tree->table, m->memory.parent);

	if (has_executed(&m->memory.look, look))
		return true;
	return m->memory.has_parents_space && !(parent && shares_space(tree, m, parent, look));
}

int rti_memory_look_again(struct rti_tree *tree, struct rti_member *m, struct rti_memory_look *look)
{
	struct rti_pid_statm statm;
	int err = rti_read_statm(tree, m, &statm);

	if (err < 0)
		return err;
	look->is_torn = statm.resident_pages > look->rss_pages + TORN_PAGES ||
	                look->rss_pages > statm.resident_pages + TORN_PAGES;
	look->rss_pages = statm.resident_pages;
	look->shared_pages = statm.shared_pages;
	look->size_pages = statm.size_pages;
	return 0;
}

void rti_memory_note(struct rti_tree *tree, struct rti_member *m,
                     const struct rti_memory_look *look)
{
	struct rti_memory_part *memory = &m->memory;
	struct rti_memory_look now = *look;

	now.at_ns = tree->now_ns;
	if (!tree->memory.is_modelled) {
		memory->look = *look;
		memory->is_present = look->rss_pages > 0;
		return;
	}
	/* stat, which shows an exec, is read after statm, which may be of before the exec. */
	if (has_executed(&memory->look, look) && !m->clock.row)
		rti_memory_look_again(tree, m, &now);
	if (memory->is_present && (now.rss_pages == 0 || has_other_space(tree, m, &now)))
		leave(tree, m);
	if (now.rss_pages == 0)
		return;
	if (memory->is_present)
		tree->memory.drift += rti_memory_update(memory, &now);
	else
		join(tree, m, &now);
}

void rti_memory_forget(struct rti_tree *tree, struct rti_member *m)
{
	const struct rti_memory_look nothing = { 0 };

	rti_memory_note(tree, m, &nothing);
}

static bool is_far(uint64_t a, uint64_t b)
{
	return a > b + TORN_PAGES || b > a + TORN_PAGES;
}

/* Whether the process may have run between the reads of statm and stat. */
static bool may_be_torn(const struct rti_memory_look *last, const struct rti_memory_look *now)
{
	return is_far(last->rss_pages, now->rss_pages) || is_far(last->faults, now->faults);
}

static void note_figures(struct rti_tree *tree, struct rti_member *m)
{
	const struct rti_figures *f = &m->values.figures;
	uint64_t page_size = tree->ctx->platform->page_size;
	struct rti_memory_look look = {
		.rss_pages = f->row.rss_bytes / page_size,
		.shared_pages = f->shared_bytes / page_size,
		.size_pages = f->size_bytes / page_size,
		.shmem_pages = f->shmem_bytes / page_size,
		.faults = m->stat.minflt,
		.stack = m->stat.stack,
		.is_forked = m->stat.flags & RTI_PF_FORKNOEXEC,
	};

	if (m->end.has_exited) {
		rti_memory_forget(tree, m);
		return;
	}
	if (rti_is_supervisor(tree, m))
		return;
	/* What could not be read is not 0: it stays as it was. */
	m->memory.is_unknown = !(f->valid & RT_HAS_RSS);
	if (m->memory.is_unknown)
		return;
	if (rti_memory_needs_stat(tree, m) && !m->clock.row && may_be_torn(&m->memory.look, &look))
		rti_memory_look_again(tree, m, &look);
	rti_memory_note(tree, m, &look);
}

static bool has_memory(const struct rti_member *m)
{
	return m->memory.is_present && !m->memory.has_parents_space;
}

static void sum_model(struct rti_tree *tree)
{
	struct rti_memory_state *state = &tree->memory;

	rti_memory_sum(&tree->table, &state->sums);
	rti_executables_open(&state->executables);
	for (size_t i = 0; i < tree->table.count; i++) {
		const struct rti_memory_part *m = &tree->table.members[i].memory;

		if (has_memory(&tree->table.members[i]))
			rti_executables_add(&state->executables, m->executable,
			                    m->look.shared_pages);
	}
}

/* Learn from the members that were read at this moment. */
static void learn_sharing(struct rti_tree *tree)
{
	struct rti_executables *executables = &tree->memory.executables;

	for (size_t i = 0; i < tree->table.count; i++) {
		const struct rti_member *m = &tree->table.members[i];
		const struct rti_pss_part *pss = &m->pss;

		if (has_memory(m) && pss->at_ns == tree->now_ns && pss->has_kinds)
			rti_executables_measure(
			    executables, m->memory.executable, m->memory.look.shared_pages,
			    (pss->pss_bytes - pss->anon_bytes) / tree->ctx->platform->page_size);
	}
	rti_executables_learn(executables);
}

/* A sum must not be less than what the members hold for themselves, nor more than they can. It is
 * if a process was being forked, or ended, while they were read. If it still is a second later, and
 * no member has come, the model is wrong. */
static bool is_contradicted(struct rti_tree *tree, const struct rti_pss_sum *sum)
{
	struct rti_memory_state *state = &tree->memory;
	uint64_t own = to_bytes(tree, state->sums.anon_pages_min),
		 most = to_bytes(tree, state->sums.anon_pages_max);
	uint64_t slack = to_bytes(tree, SLACK_PAGES);
	bool is_possible = sum->anon_bytes + slack >= own - own / RTI_PSS_DOUBT &&
	                   sum->anon_bytes <= most + most / RTI_PSS_DOUBT + slack;

	if (!sum->has_kinds || state->has_outside_sharer || tree->ledger.self_only || is_possible) {
		state->contradicted_ns = 0;
		return false;
	}
	if (!state->contradicted_ns || state->contradicted_added != tree->table.added) {
		state->contradicted_ns = tree->now_ns;
		state->contradicted_added = tree->table.added;
	}
	if (tree->now_ns - state->contradicted_ns >= MODEL_IS_WRONG_NS)
		return false;
	state->drift += state->sums.rss_pages; /* read it all again */
	return true;
}

static bool is_exact(struct rti_tree *tree, const struct rti_pss_sum *sum)
{
	if (!sum->has_all || !rti_pss_is_within_doubt(sum) ||
	    tree->now_ns - sum->oldest_ns > OLDEST_NS)
		return false;
	return sum->oldest_ns == tree->now_ns || !tree->memory.needs_fresh_reads;
}

static void set_exact(struct rti_tree *tree, const struct rti_pss_sum *sum)
{
	tree->memory.moment = (struct rti_memory_moment){
		.is_known = true,
		.bytes = sum->bytes,
		.low_bytes = sum->bytes,
		.high_bytes = sum->bytes,
		.source = sum->oldest_ns == tree->now_ns ? RT_PSS_READ : RT_PSS_CACHED,
		.is_exact = true,
		.oldest_ns = sum->oldest_ns,
	};
}

static void clamp_to_bounds(struct rti_memory_moment *moment)
{
	if (moment->bytes > moment->high_bytes)
		moment->bytes = moment->high_bytes;
	if (moment->bytes < moment->low_bytes)
		moment->bytes = moment->low_bytes;
}

static void set_estimate(struct rti_tree *tree, const struct rti_pss_sum *sum)
{
	struct rti_memory_state *state = &tree->memory;
	const struct rti_memory_sums *sums = &state->sums;
	struct rti_memory_moment *moment = &state->moment;
	bool is_usable = sum->has_all && (sum->doubt_bytes <= sum->bytes / USABLE_DOUBT ||
	                                  state->needs_fresh_reads);
	uint64_t own_pages = state->needs_fresh_reads ? 0 : sums->anon_pages_min;

	*moment = (struct rti_memory_moment){
		.is_known = sum->known > 0 || sum->unknown == 0,
		.bytes = is_usable ? sum->bytes
		                   : to_bytes(tree, sums->anon_pages +
		                                        rti_executables_pages(&state->executables)),
		.low_bytes = to_bytes(tree, own_pages + sums->shmem_pages_max),
		.high_bytes = sum->unknown
		                  ? UINT64_MAX
		                  : to_bytes(tree, sums->anon_pages_max + sums->shared_pages),
		.source = RT_PSS_ESTIMATED,
		.oldest_ns = sum->has_all ? sum->oldest_ns : 0,
		.error = sum->error ? sum->error : -EDQUOT,
	};
	clamp_to_bounds(moment);
}

/* What was read at this moment corrects the model, which stands in until the next time. */
static void learn(struct rti_tree *tree, const struct rti_pss_sum *sum)
{
	learn_sharing(tree);
	if (sum->has_all && sum->has_kinds && sum->oldest_ns == tree->now_ns &&
	    rti_pss_is_within_doubt(sum))
		rti_memory_calibrate(&tree->table, &tree->memory.sums,
		                     sum->anon_bytes / tree->ctx->platform->page_size);
	sum_model(tree);
}

static void set_sums(struct rti_tree *tree)
{
	struct rti_memory_moment *moment = &tree->memory.moment;

	moment->rss_bytes = to_bytes(tree, tree->memory.sums.rss_pages);
	moment->shared_max_bytes = to_bytes(tree, tree->memory.sums.shared_pages_max);
}

static void measure(struct rti_tree *tree, bool has_read)
{
	struct rti_pss_sum sum;
	bool is_contrary;

	rti_pss_sum(tree, &sum);
	is_contrary = has_read && is_contradicted(tree, &sum);
	if (has_read && !is_contrary)
		learn(tree, &sum);
	if (!is_contrary && is_exact(tree, &sum))
		set_exact(tree, &sum);
	else
		set_estimate(tree, &sum);
	set_sums(tree);
}

/* Nothing has to be read again yet if nothing has changed. */
static bool is_recent(const struct rti_tree *tree)
{
	const struct rti_memory_moment *moment = &tree->memory.moment;

	return moment->is_exact && tree->now_ns - moment->oldest_ns < RTI_PSS_REFRESH_NS;
}

/* The process is not alone with what it has, but tracked alone: its children come and go unseen. */
static bool has_unseen_sharers(struct rti_tree *tree)
{
	struct rti_member *root = tree->table.members;

	if (tree->memory.has_outside_sharer)
		return true;
	return tree->ledger.self_only && tree->table.count > 0 &&
	       (root->stat.cminflt + root->stat.cmajflt > 0 ||
	        rti_discovery_has_children(tree, root));
}

/* For the rows of the members, which are those of samples. */
static void scale_shares(struct rti_tree *tree)
{
	struct rti_memory_state *state = &tree->memory;
	uint64_t shares = 0;

	state->share_scale = 1;
	for (size_t i = 0; !state->moment.is_exact && i < tree->table.count; i++) {
		const struct rti_member *m = &tree->table.members[i];

		if (has_memory(m))
			shares += rti_memory_anon_share(&tree->table, m);
	}
	if (shares > 0)
		state->share_scale = (double)state->sums.anon_pages / (double)shares;
}

static bool read_due(struct rti_tree *tree)
{
	struct rti_memory_state *state = &tree->memory;

	if (!state->may_read || tree->now_ns < state->next_try_ns)
		return false;
	state->tried_ns = tree->now_ns;
	return rti_pss_read_due(tree);
}

void rti_memory_sample(struct rti_tree *tree)
{
	struct rti_memory_state *state = &tree->memory;
	bool has_read = false, is_settled;

	if (tree->unchanged_samples == 0) {
		for (size_t i = 0; i < tree->table.count; i++)
			note_figures(tree, &tree->table.members[i]);
		sum_model(tree);
	}
	if (!state->is_modelled) {
		set_sums(tree);
		return;
	}
	state->needs_fresh_reads = has_unseen_sharers(tree);
	is_settled = tree->unchanged_samples > 0 && !state->needs_fresh_reads;
	if (!is_settled || !is_recent(tree))
		has_read = read_due(tree);
	if (has_read || !is_settled) {
		measure(tree, has_read);
		scale_shares(tree);
	} else if (state->moment.source == RT_PSS_READ) {
		state->moment.source = RT_PSS_CACHED;
	}
}

void rti_memory_poll(struct rti_tree *tree, uint64_t peak_bytes)
{
	struct rti_memory_state *state = &tree->memory;

	sum_model(tree);
	if (!state->is_modelled) {
		set_sums(tree);
		return;
	}
	measure(tree, false);
	if (!state->moment.is_exact && state->moment.bytes > peak_bytes &&
	    tree->now_ns - state->tried_ns >= SAMPLES_ARE_RARE_NS && read_due(tree))
		measure(tree, true);
}

/* Why PSS is not exact: what kept statm from being read comes first. */
static int error_of(const struct rti_tree *tree, const struct rti_status *status)
{
	int of_rss = rti_status_get(status, RT_HAS_RSS);

	return of_rss < 0 ? of_rss : tree->memory.moment.error;
}

void rti_memory_set_figures(const struct rti_tree *tree, struct rti_status *status,
                            struct rt_metrics *out)
{
	const struct rti_memory_moment *moment = &tree->memory.moment;

	if (!(tree->want & RT_HAS_PSS) || !moment->source)
		return;
	if (!moment->is_exact)
		rti_status_note(status, RT_HAS_PSS, error_of(tree, status));
	if (!moment->is_known)
		return;
	out->pss_bytes = moment->bytes;
	out->pss_low_bytes = moment->low_bytes;
	out->pss_high_bytes = moment->high_bytes;
	out->pss_source = moment->source;
	if (moment->oldest_ns)
		out->pss_age_ns = tree->now_ns - moment->oldest_ns;
	if (moment->is_exact)
		out->valid |= RT_HAS_PSS;
	else
		out->estimated |= RT_HAS_PSS;
}

static bool is_read_good(const struct rti_tree *tree, const struct rti_member *m)
{
	uint64_t doubt = to_bytes(tree, tree->memory.drift - m->pss.drift);

	if (!m->pss.at_ns || m->pss.error < 0)
		return false;
	return tree->memory.moment.is_exact || doubt <= m->pss.pss_bytes / RTI_PSS_DOUBT;
}

static uint64_t estimate_member(const struct rti_tree *tree, const struct rti_member *m)
{
	const struct rti_memory_part *memory = &m->memory;
	double anon, shared;

	if (memory->has_parents_space)
		return 0;
	anon = (double)rti_memory_anon_share(&tree->table, m) * tree->memory.share_scale;
	shared = (double)memory->look.shared_pages *
	         rti_executables_share(&tree->memory.executables, memory->executable);
	return to_bytes(tree, (uint64_t)(anon + shared));
}

void rti_memory_set_row(const struct rti_tree *tree, const struct rti_member *m,
                        struct rt_process *out)
{
	if (!(tree->want & RT_HAS_PSS) || !(m->values.figures.valid & RT_HAS_RSS))
		return;
	if (is_read_good(tree, m)) {
		out->pss_bytes = rti_pss_now(tree, m);
		out->pss_source = m->pss.at_ns < tree->sampled_ns ? RT_PSS_CACHED : RT_PSS_READ;
		out->pss_age_ns = rti_subtract_saturated(tree->sampled_ns, m->pss.at_ns);
		out->valid |= RT_HAS_PSS;
	} else if (m->memory.is_present) {
		out->pss_bytes = estimate_member(tree, m);
		out->pss_source = RT_PSS_ESTIMATED;
		out->estimated |= RT_HAS_PSS;
	} else {
		out->valid |= RT_HAS_PSS; /* a zombie has none */
	}
}

void rti_memory_free(struct rti_tree *tree)
{
	rti_executables_free(&tree->memory.executables);
}
