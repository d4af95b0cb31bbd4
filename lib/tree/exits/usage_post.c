/* SPDX-License-Identifier: MIT */
/* What members have used by a peak poll, into their accounts. */
#include "tree/exits/usage_post.h"

#include "os/cpu_time.h"
#include "tree/read/member_read.h"
#include "tree/read/member_row.h"

/* A clock is read by pid, so it may belong to a process that reuses the pid. A batch row has the
 * start time. A cached statm cannot be read any more once its process was reaped; without one, stat
 * shows the start time, and the faults. */
static bool is_clock_of_member(struct rti_tree *tree, struct rti_member *m, bool is_proven)
{
	if (m->clock.row || is_proven)
		return true;
	if (rti_procfs_read_if_open(tree->ctx->procfs, RTI_ONE_LINE, &m->files.statm,
	                            tree->ctx->buf) == 0)
		return tree->ctx->buf->len > 0;
	rti_rows_keep(tree);
	if (rti_read_member_stat(tree, m) < 0)
		return false;
	rti_account_raise_faults(&m->account, m->stat.minflt, m->stat.majflt);
	return true;
}

void rti_post_usage(struct rti_tree *tree, struct rti_member *m)
{
	const struct rti_cpu_clock *clock = &m->clock.now;
	const uint64_t *self = m->account.self;
	bool is_proven = rti_take_presence(m);
	uint64_t user_ns, system_ns;

	if (!m->read.account_at) {
		rti_read_account(tree, m);
		return;
	}
	if (!(tree->wanted & RT_HAS_CPU) || m->pid == tree->supervised.pid || !m->clock.is_known ||
	    clock->total_ns <= self[RTI_CPU_USER] + self[RTI_CPU_SYSTEM] ||
	    !is_clock_of_member(tree, m, is_proven))
		return;
	rti_split_cpu(clock->total_ns, clock->user_part_ns, clock->both_parts_ns, &user_ns,
	              &system_ns);
	rti_account_raise_cpu(&m->account, user_ns, system_ns);
	if (m->clock.row)
		rti_account_raise_faults(&m->account, m->clock.row->minflt, m->clock.row->majflt);
}
