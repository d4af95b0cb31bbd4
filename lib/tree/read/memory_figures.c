/* SPDX-License-Identifier: MIT */
/* The memory of a tree and of its members as public figures. */
#include "tree/read/memory_figures.h"

#include "tree/read/pss_read.h"
#include "tree/state/state.h"
#include "util/arith.h"

void rti_memory_set_figures(const struct rti_memory_state *memory, uint64_t want, uint64_t now_ns,
                            struct rt_metrics *out)
{
	const struct rti_memory_moment *moment = &memory->moment;

	if (!(want & RT_HAS_PSS) || !moment->source || !moment->is_known)
		return;
	out->pss_bytes = moment->bytes;
	out->pss_low_bytes = moment->low_bytes;
	out->pss_high_bytes = moment->high_bytes;
	out->pss_source = moment->source;
	if (moment->oldest_ns)
		out->pss_age_ns = now_ns - moment->oldest_ns;
	if (moment->is_exact)
		out->valid |= RT_HAS_PSS;
	else
		out->estimated |= RT_HAS_PSS;
}

/* Whether what was read of a member has not moved since, by what members have done. */
static bool is_read_usable(const struct rti_memory_state *memory, const struct rti_rows_state *rows,
                           const struct rti_context *ctx, const struct rti_member *m)
{
	uint64_t doubt = rti_pages_to_bytes(ctx, memory->drift - m->pss.drift);

	if (!m->pss.at_ns || m->pss.error < 0)
		return false;
	return rows->is_pss_exact || doubt <= m->pss.pss_bytes / RTI_PSS_DOUBT;
}

static bool is_read_exact(const struct rti_rows_state *rows, uint64_t sampled_ns,
                          const struct rti_member *m)
{
	return rows->is_pss_exact || sampled_ns - m->pss.at_ns < RTI_PSS_OUTSIDE_NS;
}

void rti_memory_scale_shares(struct rti_memory_state *state, struct rti_member_table *table,
                             bool is_exact)
{
	uint64_t shares = 0;

	if (state->has_share_scale || !state->is_modelled)
		return;
	state->has_share_scale = true;
	state->share_scale = 1;
	rti_memory_count_relatives(table);
	if (is_exact)
		return;
	for (size_t i = 0; i < table->count; i++) {
		const struct rti_member *m = &table->members[i];

		if (rti_memory_counts(&m->memory))
			shares += rti_memory_anon_share(table, m);
	}
	if (shares > 0)
		state->share_scale = (double)state->sums.anon_pages / (double)shares;
}

static uint64_t estimate_member(const struct rti_memory_state *state,
                                const struct rti_member_table *table, const struct rti_context *ctx,
                                const struct rti_member *m)
{
	const struct rti_memory_part *memory = &m->memory;
	double anon, shared;

	if (memory->has_parents_space)
		return 0;
	anon = (double)rti_memory_anon_share(table, m) * state->share_scale;
	shared = (double)memory->look.shared_pages *
	         rti_executables_share(&state->executables, memory->executable);
	return rti_pages_to_bytes(ctx, (uint64_t)(anon + shared));
}

void rti_memory_set_row(const struct rti_tree *tree, const struct rti_member *m,
                        struct rt_process *out)
{
	if (!(tree->want & RT_HAS_PSS) || !(m->values.figures.valid & RT_HAS_RSS))
		return;
	if (is_read_usable(&tree->memory, &tree->rows, tree->ctx, m)) {
		out->pss_bytes = rti_pss_now(tree->ctx, m);
		out->pss_age_ns = rti_subtract_saturated(tree->sampled_ns, m->pss.at_ns);
		if (is_read_exact(&tree->rows, tree->sampled_ns, m)) {
			out->pss_source =
			    m->pss.at_ns < tree->sampled_ns ? RT_PSS_CACHED : RT_PSS_READ;
			out->valid |= RT_HAS_PSS;
		} else {
			out->pss_source = RT_PSS_ESTIMATED;
			out->estimated |= RT_HAS_PSS;
		}
	} else if (m->memory.is_present) {
		out->pss_bytes = estimate_member(&tree->memory, &tree->table, tree->ctx, m);
		out->pss_source = RT_PSS_ESTIMATED;
		out->estimated |= RT_HAS_PSS;
	} else {
		out->valid |= RT_HAS_PSS; /* a zombie has none */
	}
}
