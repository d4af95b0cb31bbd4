/* SPDX-License-Identifier: MIT */
/* The ledger: what a tree of processes has used so far, from what was seen of its members. */
#include "tree/pure/ledger.h"

#include <string.h>

#include "os/cpu_time.h"
#include "util/arith.h"

/* What a process may use between its fork and its entry into the cgroup, where the kernel cannot
 * fork it there (before Linux 5.7). The account itself is in whole microseconds. */
#define CGROUP_SLACK_NS 1000000u

static uint64_t reaped_faults(const struct rti_account *a)
{
	return a->children[RTI_MINOR_FAULTS] + a->children[RTI_MAJOR_FAULTS];
}

/* The best lower bound of what a member reaped. The kernel shows CPU time in whole ticks, so the
 * last values that were seen of the reaped children may add up to more. User and system time are
 * raised together: their sum is exact, while the split is sampled. */
static void reaped_share(const struct rti_account *a, uint64_t out[RTI_COUNTERS])
{
	uint64_t members_seen = a->floor[RTI_CPU_USER] + a->floor[RTI_CPU_SYSTEM];
	uint64_t shown = a->children[RTI_CPU_USER] + a->children[RTI_CPU_SYSTEM];

	for (int i = 0; i < RTI_COUNTERS; i++)
		out[i] = rti_max(a->children[i], a->floor[i]);
	out[RTI_CPU_USER] = a->children[RTI_CPU_USER];
	out[RTI_CPU_SYSTEM] = a->children[RTI_CPU_SYSTEM];
	if (members_seen > shown) {
		uint64_t missing = members_seen - shown;
		uint64_t user = rti_min(missing, rti_subtract_saturated(a->floor[RTI_CPU_USER],
		                                                        a->children[RTI_CPU_USER]));

		out[RTI_CPU_USER] += user;
		out[RTI_CPU_SYSTEM] += missing - user;
	}
}

/* Add what a member used. reaped receives what it reaped, which is part of that unless the tree is
 * its root alone. */
static void add_share(const struct rti_account *a, bool self_only, uint64_t sum[RTI_COUNTERS],
                      uint64_t reaped[RTI_COUNTERS])
{
	reaped_share(a, reaped);
	for (int i = 0; i < RTI_COUNTERS; i++)
		sum[i] += a->self[i] + (self_only ? 0 : reaped[i]);
}

void rti_account_set(struct rti_account *account, struct rti_counter_range range,
                     const uint64_t self[RTI_COUNTERS], const uint64_t children[RTI_COUNTERS])
{
	size_t size = range.count * sizeof(self[0]);

	memcpy(&account->self[range.first], &self[range.first], size);
	memcpy(&account->children[range.first], &children[range.first], size);
}

/* A sum over live threads falls when a thread exits; what it was stays known. */
void rti_account_raise(struct rti_account *account, struct rti_counter_range range,
                       const uint64_t self[RTI_COUNTERS])
{
	for (unsigned i = range.first; i < range.first + range.count; i++)
		account->self[i] = rti_max(self[i], account->self[i]);
}

void rti_account_raise_cpu(struct rti_account *account, uint64_t user_ns, uint64_t system_ns)
{
	if (user_ns + system_ns <= account->self[RTI_CPU_USER] + account->self[RTI_CPU_SYSTEM])
		return;
	account->self[RTI_CPU_USER] = user_ns;
	account->self[RTI_CPU_SYSTEM] = system_ns;
}

void rti_account_raise_faults(struct rti_account *account, uint64_t minor, uint64_t major)
{
	account->self[RTI_MINOR_FAULTS] = rti_max(minor, account->self[RTI_MINOR_FAULTS]);
	account->self[RTI_MAJOR_FAULTS] = rti_max(major, account->self[RTI_MAJOR_FAULTS]);
}

/* The I/O of a reaped child is in its reaper's own count, as soon as that can be read. If that is
 * unreadable again later, the last value may include the child, so it is taken to. */
static void drop_counted_io(struct rti_account *account)
{
	for (int i = RTI_READ_BYTES; account->has_io && i < RTI_COUNTERS; i++)
		account->floor[i] = 0;
}

void rti_account_note_io(struct rti_account *account)
{
	account->has_io = true;
	drop_counted_io(account);
}

void rti_ledger_merge_into_reaper(const struct rti_account *exited, struct rti_account *reaper)
{
	uint64_t reaped[RTI_COUNTERS];

	add_share(exited, false, reaper->floor, reaped);
	drop_counted_io(reaper);
}

static uint64_t children_growth(const struct rti_account *a)
{
	return reaped_faults(a) - a->closed_faults;
}

bool rti_ledger_has_grown(const struct rti_account *a)
{
	return children_growth(a) > 0;
}

bool rti_ledger_has_reaped(const struct rti_account *a)
{
	return a->closed_faults || a->closed_cpu_ns;
}

static uint64_t reaped_cpu_ns(const struct rti_account *a)
{
	return a->children[RTI_CPU_USER] + a->children[RTI_CPU_SYSTEM];
}

/* Two times were cut to whole microseconds: getrusage(2) has them so. */
bool rti_ledger_is_covered_by(const struct rti_account *a, const uint64_t reaped[RTI_COUNTERS])
{
	return reaped_faults(a) <= reaped[RTI_MINOR_FAULTS] + reaped[RTI_MAJOR_FAULTS] &&
	       reaped_cpu_ns(a) <= reaped[RTI_CPU_USER] + reaped[RTI_CPU_SYSTEM] + 2 * RTI_US_NS;
}

/* By how much an account may have grown: it shows two times in whole ticks. */
static uint64_t cpu_growth_max(const struct rti_account *a)
{
	return reaped_cpu_ns(a) - a->closed_cpu_ns + 2 * RTI_TICK_MAX_NS;
}

/* As last read, without the floor: it may have members that no process waited for. */
static struct rti_evidence seen_of(const struct rti_account *a)
{
	return (struct rti_evidence){
		.faults = a->self[RTI_MINOR_FAULTS] + a->self[RTI_MAJOR_FAULTS] + reaped_faults(a),
		.cpu_ns = a->self[RTI_CPU_USER] + a->self[RTI_CPU_SYSTEM] + reaped_cpu_ns(a),
	};
}

struct rti_evidence rti_ledger_evidence(const struct rti_account *a)
{
	uint64_t members_faults = a->floor[RTI_MINOR_FAULTS] + a->floor[RTI_MAJOR_FAULTS],
		 members_cpu_ns = a->floor[RTI_CPU_USER] + a->floor[RTI_CPU_SYSTEM];
	struct rti_evidence all = seen_of(a);

	all.faults += rti_subtract_saturated(members_faults, reaped_faults(a));
	all.cpu_ns += rti_subtract_saturated(members_cpu_ns, reaped_cpu_ns(a));
	return all;
}

/* A process that shares the memory of its parent (vfork, CLONE_VM) may have no fault. Its CPU
 * time is the only evidence then, so what other members explain does not count. */
bool rti_ledger_may_hold(const struct rti_ledger *ledger, const struct rti_account *reaper,
                         const struct rti_account *exited)
{
	struct rti_evidence seen = seen_of(exited);
	uint64_t explained_ns = seen.faults ? 0 : reaper->attributed_cpu_ns;

	if (ledger->self_only || cpu_growth_max(reaper) < seen.cpu_ns + explained_ns)
		return false;
	return !seen.faults ||
	       (children_growth(reaper) > 0 && children_growth(reaper) >= seen.faults);
}

static uint64_t take(uint64_t *missing, uint64_t there)
{
	uint64_t taken = rti_min(*missing, there);

	*missing -= taken;
	return taken;
}

bool rti_ledger_attribute(struct rti_account *reaper, struct rti_evidence *missing)
{
	reaper->attributed_faults +=
	    take(&missing->faults, children_growth(reaper) - reaper->attributed_faults);
	reaper->attributed_cpu_ns +=
	    take(&missing->cpu_ns, cpu_growth_max(reaper) - reaper->attributed_cpu_ns);
	return missing->faults == 0 && missing->cpu_ns == 0;
}

void rti_ledger_note_exit(struct rti_ledger *ledger)
{
	ledger->has_exits = true;
}

void rti_ledger_note_unwaited(struct rti_ledger *ledger)
{
	ledger->has_unwaited = true;
}

void rti_ledger_keep_last_seen(struct rti_ledger *ledger, const struct rti_account *exited)
{
	rti_ledger_keep_final(ledger, exited);
	ledger->has_unwaited = true;
}

bool rti_ledger_account_exit(struct rti_ledger *ledger, const struct rti_account *exited,
                             struct rti_account *reaper)
{
	struct rti_evidence missing = rti_ledger_evidence(exited);

	ledger->has_exits = true;
	if (!rti_ledger_may_hold(ledger, reaper, exited))
		return false;
	rti_ledger_merge_into_reaper(exited, reaper);
	if (!rti_ledger_attribute(reaper, &missing))
		ledger->has_unwaited = true;
	return true;
}

void rti_ledger_keep_final(struct rti_ledger *ledger, const struct rti_account *exited)
{
	uint64_t reaped[RTI_COUNTERS];

	ledger->has_exits = true;
	add_share(exited, ledger->self_only, ledger->retained, reaped);
}

void rti_ledger_open(struct rti_ledger *ledger)
{
	memcpy(ledger->sum, ledger->retained, sizeof(ledger->sum));
}

void rti_ledger_add(struct rti_ledger *ledger, struct rti_account *member)
{
	uint64_t reaped[RTI_COUNTERS];

	add_share(member, ledger->self_only, ledger->sum, reaped);
	memcpy(member->floor, reaped, sizeof(reaped));
	member->closed_faults = reaped_faults(member);
	member->attributed_faults = 0;
	member->closed_cpu_ns = reaped_cpu_ns(member);
	member->attributed_cpu_ns = 0;
}

void rti_ledger_get_share(const struct rti_ledger *ledger, const struct rti_account *member,
                          uint64_t share[RTI_COUNTERS])
{
	uint64_t reaped[RTI_COUNTERS];

	memset(share, 0, RTI_COUNTERS * sizeof(*share));
	add_share(member, ledger->self_only, share, reaped);
}

void rti_ledger_subtract(struct rti_ledger *ledger, const uint64_t share[RTI_COUNTERS])
{
	for (int i = 0; i < RTI_COUNTERS; i++)
		ledger->sum[i] -= share[i];
}

void rti_ledger_set_floor_from_cgroup(struct rti_ledger *ledger, uint64_t user_ns,
                                      uint64_t system_ns, uint64_t lag_ns)
{
	/* E.g.: 0 was written to cpuacct.usage (v1). */
	if (user_ns + system_ns + RTI_TICK_MAX_NS < ledger->cgroup_read_ns) {
		ledger->is_account_reset = true;
		ledger->lost_user_ns = ledger->cgroup_user_ns;
		ledger->lost_system_ns = ledger->cgroup_system_ns;
	}
	ledger->has_cgroup = true;
	ledger->cgroup_lag_ns = lag_ns;
	ledger->cgroup_read_ns = user_ns + system_ns;
	ledger->cgroup_user_ns = ledger->lost_user_ns + user_ns;
	ledger->cgroup_system_ns = ledger->lost_system_ns + system_ns;
}

/* If members have used more than their cgroup, by more than its account may lag, a process has left
 * the cgroup. That stays so: what other processes used in the cgroup may make up for it later.
 * E.g.: a process uses 0.5 s outside, and another one, which no process waits for, 0.6 s inside. */
static void apply_cgroup(struct rti_ledger *ledger, uint64_t sum[RTI_COUNTERS])
{
	uint64_t cgroup_ns = ledger->cgroup_user_ns + ledger->cgroup_system_ns,
		 sum_ns = sum[RTI_CPU_USER] + sum[RTI_CPU_SYSTEM];

	if (ledger->has_cgroup && !ledger->is_account_reset &&
	    sum_ns > cgroup_ns + ledger->cgroup_lag_ns + CGROUP_SLACK_NS)
		ledger->has_left_cgroup = true;
	ledger->is_covered_by_cgroup = ledger->has_cgroup && !ledger->has_left_cgroup &&
	                               !ledger->is_account_reset &&
	                               cgroup_ns + CGROUP_SLACK_NS >= sum_ns;
	if (ledger->has_cgroup && cgroup_ns > sum_ns) {
		sum[RTI_CPU_USER] = ledger->cgroup_user_ns;
		sum[RTI_CPU_SYSTEM] = ledger->cgroup_system_ns;
	}
	ledger->has_cgroup = false;
}

void rti_ledger_set_account(struct rti_ledger *ledger, const uint64_t account[RTI_COUNTERS],
                            bool is_final)
{
	memcpy(ledger->account, account, sizeof(ledger->account));
	ledger->has_account = true;
	ledger->is_account_final = is_final;
}

/* User and system time are one figure that was split: they are taken together. */
static void apply_account(struct rti_ledger *ledger, uint64_t sum[RTI_COUNTERS])
{
	const uint64_t *account = ledger->account;
	bool is_cpu_more = account[RTI_CPU_USER] + account[RTI_CPU_SYSTEM] >
	                   sum[RTI_CPU_USER] + sum[RTI_CPU_SYSTEM];

	for (int i = 0; ledger->has_account && i < RTI_COUNTERS; i++) {
		bool is_cpu = i == RTI_CPU_USER || i == RTI_CPU_SYSTEM;

		if (ledger->is_account_final || (is_cpu ? is_cpu_more : account[i] > sum[i]))
			sum[i] = account[i];
	}
	ledger->has_account = false;
}

void rti_ledger_close(struct rti_ledger *ledger)
{
	uint64_t *total = ledger->total, sum[RTI_COUNTERS], cpu;

	memcpy(sum, ledger->sum, sizeof(sum));
	apply_cgroup(ledger, sum);
	apply_account(ledger, sum);
	cpu = rti_max(sum[RTI_CPU_USER] + sum[RTI_CPU_SYSTEM],
	              total[RTI_CPU_USER] + total[RTI_CPU_SYSTEM]);
	/* The split may move between two samples while the sum grows: neither part may fall. */
	sum[RTI_CPU_USER] =
	    rti_clamp(sum[RTI_CPU_USER], total[RTI_CPU_USER], cpu - total[RTI_CPU_SYSTEM]);
	sum[RTI_CPU_SYSTEM] = cpu - sum[RTI_CPU_USER];
	for (int i = 0; i < RTI_COUNTERS; i++)
		total[i] = rti_max(sum[i], total[i]);
}

void rti_ledger_raise_children(struct rti_account *member, const uint64_t reaped[RTI_COUNTERS])
{
	uint64_t known[RTI_COUNTERS];

	reaped_share(member, known);
	for (int i = RTI_MINOR_FAULTS; i < RTI_READ_BYTES; i++)
		member->floor[i] = rti_max(known[i], reaped[i]);
	/* The split belongs to its sum. */
	if (reaped[RTI_CPU_USER] + reaped[RTI_CPU_SYSTEM] >
	    known[RTI_CPU_USER] + known[RTI_CPU_SYSTEM])
		memcpy(known, reaped, sizeof(known));
	member->floor[RTI_CPU_USER] = known[RTI_CPU_USER];
	member->floor[RTI_CPU_SYSTEM] = known[RTI_CPU_SYSTEM];
}

/* User and system time are subtracted as one: their sum is exact, while the split of a running
 * process wavers. E.g.: 6 + 2 ms were read, and wait4(2) says 4 + 4 ms. Nothing is missing. */
void rti_ledger_raise_to_sum(struct rti_account *member, const uint64_t sum[RTI_COUNTERS])
{
	const uint64_t *self = member->self;
	uint64_t cpu_ns = rti_subtract_saturated(sum[RTI_CPU_USER] + sum[RTI_CPU_SYSTEM],
	                                         self[RTI_CPU_USER] + self[RTI_CPU_SYSTEM]);
	uint64_t reaped[RTI_COUNTERS];

	for (int i = RTI_READ_BYTES; i < RTI_COUNTERS; i++) {
		member->self[i] = rti_max(member->self[i] + member->floor[i], sum[i]);
		member->floor[i] = 0;
	}
	for (int i = 0; i < RTI_COUNTERS; i++)
		reaped[i] = rti_subtract_saturated(sum[i], self[i]);
	reaped[RTI_CPU_USER] = rti_min(reaped[RTI_CPU_USER], cpu_ns);
	reaped[RTI_CPU_SYSTEM] = cpu_ns - reaped[RTI_CPU_USER];
	rti_ledger_raise_children(member, reaped);
}
