/* SPDX-License-Identifier: MIT */
/* What is to be read of a member in a sample, and why. */
#include "tree/state/read_policy.h"

/* Of our own supervisor only what it has reaped belongs
 * to the program. The ledger attributes exits by their page faults, so it needs the faults of
 * every member. */
uint64_t rti_wanted_of(const struct rti_tree *tree, const struct rti_member *m)
{
	uint64_t wanted = m->pid == tree->supervised.pid
	                      ? tree->wanted & tree->domains.of_supervisor
	                      : tree->wanted;

	return wanted | RT_HAS_FAULTS;
}

bool rti_memory_needs_stat(const struct rti_memory_state *state, const struct rti_member *m)
{
	const struct rti_memory_part *memory = &m->memory;

	if (!state->is_modelled)
		return false;
	return memory->parent || memory->forked > 0 ||
	       (!memory->is_present && m->stat.flags & RTI_PF_FORKNOEXEC);
}

enum rti_clock_state rti_clock_state(const struct rti_member *m)
{
	if (!m->clock.is_known)
		return RTI_CLOCK_UNKNOWN;
	return m->clock.now.total_ns == m->read.clock_ns ? RTI_CLOCK_UNCHANGED : RTI_CLOCK_MOVED;
}

/* What the next read may find. What is read seldom is looked for as seldom. */
static uint64_t missing_domains(const struct rti_pid_domains *domains, const struct rti_member *m,
                                uint64_t wanted, uint64_t seldom_due)
{
	const struct rti_figures *figures = &m->values.figures;
	uint64_t missing = wanted & ~figures->valid;
	uint64_t each_sample = missing & ~domains->seldom;

	return each_sample | (missing & ~figures->partial & seldom_due);
}

/* Add what depends on when the values of each collector were read last. */
static void gather_ages(const struct rti_pid_domains *domains, uint64_t now_ns,
                        const struct rti_member *m, struct rti_read_facts *facts)
{
	const uint64_t aging = domains->seldom | domains->while_idle;

	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		uint64_t provides = rti_pid_collectors[i]->provides & facts->wanted & aging;
		const struct rti_stamp *read = &m->values.read[i];

		if (!provides)
			continue;
		if (rti_stamp_is_older(read, now_ns, RTI_SELDOM_NS))
			facts->seldom_due |= provides & facts->seldom;
		if (read->clock_ns != m->read.clock_ns)
			facts->put_off |= provides & facts->seldom;
		if (rti_stamp_is_older(read, now_ns, RTI_WHILE_IDLE_NS))
			facts->idle_due |= provides & domains->while_idle;
	}
}

struct rti_read_facts rti_gather_read_facts(const struct rti_tree *tree, const struct rti_member *m)
{
	const struct rti_pid_domains *domains = &tree->domains;
	const uint64_t wanted = rti_wanted_of(tree, m);
	/* CPU time has a clock of its own. Faults that only the ledger needs may be from the
	 * last stat. So neither makes stat due. */
	uint64_t in_stat_alone = tree->want & domains->after_stat & ~(uint64_t)RT_HAS_CPU;
	struct rti_read_facts facts = {
		.clock = rti_clock_state(m),
		.is_final = tree->is_final,
		.was_read = m->read.account_at != 0,
		.needs_stat = in_stat_alone != 0 || rti_memory_needs_stat(&tree->memory, m) ||
		              rti_has_stale_stat(m),
		.is_stat_due = rti_stamp_is_older(&m->values.stat, tree->now_ns, RTI_SELDOM_NS),
		.wanted = wanted,
		.seldom = wanted & domains->seldom,
		.with_rss = wanted & domains->with_rss,
	};

	gather_ages(&tree->domains, tree->now_ns, m, &facts);
	facts.missing = missing_domains(&tree->domains, m, wanted, facts.seldom_due);
	return facts;
}

bool rti_is_idle(const struct rti_tree *tree, const struct rti_member *m)
{
	return m->read.account_at && !tree->is_final && tree->now_ns < m->read.idle_until_ns;
}

bool rti_has_stale_stat(const struct rti_member *m)
{
	return m->read.account_at && !(m->values.figures.valid & RT_HAS_FAULTS);
}

static void lower_to(uint64_t *value, uint64_t other)
{
	if (*value > other)
		*value = other;
}

uint64_t rti_idle_until_ns(const struct rti_pid_domains *domains, const struct rti_watched *w,
                           const struct rti_member *m, uint64_t wanted)
{
	uint64_t known =
	    m->values.figures.valid | m->values.figures.partial | m->values.figures.estimated;
	uint64_t until_ns = UINT64_MAX;

	if (missing_domains(domains, m, wanted, 0))
		return 0;
	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		uint64_t provides = rti_pid_collectors[i]->provides & wanted;
		const struct rti_stamp *read = &m->values.read[i];
		/* A batch read says that RSS is as it was: see rti_tree.compares_rss. */
		bool is_compared = rti_pid_collectors[i]->row_request & RTI_BATCH_RSS &&
		                   (m->clock.row || w->is_partial);
		bool is_current = read->clock_ns == m->read.clock_ns && !(provides & ~known);

		if (provides & domains->seldom && !is_current)
			lower_to(&until_ns, read->at_ns + RTI_SELDOM_NS);
		if (provides & domains->while_idle && !is_compared)
			lower_to(&until_ns, read->at_ns + RTI_WHILE_IDLE_NS);
	}
	if (m->clock.row && m->values.row_status.clock_ns != m->read.clock_ns)
		lower_to(&until_ns, m->values.row_status.at_ns + RTI_SELDOM_NS);
	return until_ns;
}

struct rti_read_plan rti_plan_read(const struct rti_read_facts *facts)
{
	struct rti_read_plan plan = { 0 };

	/* Nothing that was put off is due, and nothing is missing that may be there now. */
	if (facts->clock == RTI_CLOCK_UNCHANGED && facts->was_read && !facts->is_final &&
	    !facts->missing && !(facts->put_off & facts->seldom_due)) {
		plan.is_unchanged = true;
		plan.domains = facts->idle_due;
		return plan;
	}
	plan.domains = facts->wanted & ~facts->seldom;
	plan.domains |= facts->is_final ? facts->seldom : facts->seldom_due;
	plan.if_rss_rose = facts->with_rss & ~plan.domains;
	plan.stat_may_wait = facts->was_read && !facts->is_final && !facts->needs_stat &&
	                     facts->clock != RTI_CLOCK_UNKNOWN && !facts->is_stat_due;
	return plan;
}
