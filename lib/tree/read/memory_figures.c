/* SPDX-License-Identifier: MIT */
/* The memory of a tree and of its members as public figures. */
#include "tree/read/memory_figures.h"

#include "collect/domains.h"
#include "tree/read/pss_read.h"
#include "tree/state/state.h"
#include "util/arith.h"

static void mark(struct rt_metrics *out, uint64_t want, uint64_t has, bool is_exact)
{
	if (is_exact)
		out->valid |= want & has;
	else
		out->estimated |= want & has;
}

void rti_memory_set_figures(const struct rti_memory_state *memory, uint64_t want, uint64_t now_ns,
                            struct rt_metrics *out)
{
	const struct rti_footprint *moment = &memory->moment;
	bool has_read = memory->reads_pss && moment->is_pss_read;

	if (!(want & RTI_HAS_OF_MEMORY) || !memory->is_modelled || !moment->is_known)
		return;
	out->footprint_bytes = moment->all.bytes;
	out->footprint_low_bytes = moment->all.low;
	out->footprint_high_bytes = moment->all.high;
	out->footprint_anon_bytes = moment->anon;
	out->footprint_shmem_bytes = moment->shmem;
	out->footprint_file_bytes = moment->file;
	out->footprint_hugetlb_bytes = moment->hugetlb;
	out->needed_bytes = moment->needed.bytes;
	out->needed_low_bytes = moment->needed.low;
	out->needed_high_bytes = moment->needed.high;
	out->swap_bytes = moment->swap;
	out->pss_bytes = want & RT_HAS_PSS ? moment->pss_bytes : 0;
	if (want & RT_HAS_PSS)
		out->pss_source = has_read ? RT_PSS_READ : RT_PSS_ESTIMATED;
	mark(out, want, RT_HAS_FOOTPRINT, moment->is_exact);
	mark(out, want, RT_HAS_NEEDED, moment->is_needed_exact);
	mark(out, want, RT_HAS_TREE_SWAP, moment->is_swap_exact);
	mark(out, want, RT_HAS_PSS | RT_HAS_USS, has_read);
	if (want & RT_HAS_PSS && !has_read && moment->oldest_ns)
		out->pss_age_ns = now_ns - moment->oldest_ns;
}

static bool was_read_since(const struct rti_member *m, uint64_t since_ns)
{
	return m->pss.at_ns && m->pss.at_ns >= since_ns && m->pss.rollup.error >= 0;
}

/* A member that shares anonymous pages has a part of them: all that do have alike parts. So do all
 * that map files. E.g.: four that share 100 MiB have 25 MiB each. */
static uint64_t estimate_member(const struct rti_memory_state *memory,
                                const struct rti_context *ctx, const struct rti_member *m)
{
	const struct rti_memory_look *look = &m->memory.look;
	double anon = (double)rti_memory_anon_pages(look);

	if (m->memory.has_parents_space)
		return 0;
	if (was_read_since(m, memory->moment.fresh_ns))
		return rti_pss_now(ctx, m);
	if (rti_memory_shares_anon(&m->memory))
		anon *= memory->moment.anon_share;
	return rti_pages_to_bytes(
	    ctx, (uint64_t)(anon + (double)look->shared_pages * memory->moment.mapped_share));
}

/* What smaps_rollup says of it alone. */
static void set_own(const struct rti_tree *tree, const struct rti_member *m, struct rt_process *out)
{
	bool is_read = m->pss.at_ns && m->pss.rollup.error >= 0;

	if (!(tree->want & RT_HAS_USS) || (m->memory.is_present && !is_read))
		return;
	if (!m->memory.is_present) {
		out->valid |= RT_HAS_USS; /* a zombie has none */
		return;
	}
	out->uss_bytes = m->pss.uss_bytes;
	out->swap_bytes = m->pss.row_swap_bytes;
	if (was_read_since(m, tree->sampled_ns))
		out->valid |= RT_HAS_USS;
	else
		out->estimated |= RT_HAS_USS;
}

void rti_memory_set_row(const struct rti_tree *tree, const struct rti_member *m,
                        struct rt_process *out)
{
	if (!(m->values.figures.valid & RT_HAS_RSS))
		return;
	set_own(tree, m, out);
	if (!(tree->want & RT_HAS_PSS))
		return;
	if (was_read_since(m, tree->sampled_ns)) {
		out->pss_bytes = rti_pss_now(tree->ctx, m);
		out->pss_source = RT_PSS_READ;
		out->valid |= RT_HAS_PSS;
	} else if (m->memory.is_present) {
		out->pss_bytes = estimate_member(&tree->memory, tree->ctx, m);
		out->pss_source = RT_PSS_ESTIMATED;
		out->estimated |= RT_HAS_PSS;
	} else {
		out->valid |= RT_HAS_PSS; /* a zombie has none */
	}
}
