/* SPDX-License-Identifier: MIT */
/* The collectors of members, sorted by what their table entries say. */
#include "collect/domains.h"

struct rti_pid_domains rti_pid_domains(void)
{
	struct rti_pid_domains domains = { 0 };

	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		const struct rti_pid_collector *c = rti_pid_collectors[i];

		domains.all |= c->provides;
		domains.seldom |= c->cadence == RTI_TEN_HZ ? c->provides : 0;
		domains.while_idle |= c->changes_while_idle ? c->provides : 0;
		domains.of_status |= c->reads_status ? c->provides : 0;
		domains.with_rss |= c->rises_with_rss ? c->provides : 0;
		domains.often_partial |= c->is_often_partial ? c->provides : 0;
		domains.folds_children |= c->folds_children ? c->provides : 0;
		domains.after_stat |= c->after_stat ? c->provides : 0;
		domains.of_supervisor |= c->keep_children_share ? c->provides : 0;
		domains.counters |= c->counters.count ? c->provides : 0;
	}
	return domains;
}

/* From the last to the first: a collector stands behind the ones that it needs. */
uint64_t rti_pid_domains_needed(uint64_t want)
{
	for (size_t i = rti_pid_collector_count; i-- > 0;)
		want |= want & rti_pid_collectors[i]->provides ? rti_pid_collectors[i]->needs : 0;
	return want;
}
