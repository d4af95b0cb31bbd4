/* SPDX-License-Identifier: MIT */
/* A collector of no use, and a registry that has it besides the real ones. Since this file
 * defines all that lib/collect/registry.c does, the linker leaves that one out. */
#include "fake_collector.h"

#include <errno.h>
#include <string.h>

#include "suite.h"

extern const struct rti_pid_collector rti_pid_cpu, rti_pid_ctxsw, rti_pid_faults, rti_pid_io,
    rti_pid_mem, rti_pid_peak;

struct fake fake;

static size_t index_of(int32_t pid)
{
	size_t i = 0;

	while (i < FAKE_MEMBERS_MAX && fake.seen[i].pid && fake.seen[i].pid != pid)
		i++;
	ck_assert_uint_lt(i, FAKE_MEMBERS_MAX);
	fake.seen[i].pid = pid;
	return i;
}

static int collect(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_figures *out)
{
	size_t i = index_of(target->pid);

	(void)ctx;
	if (fake.on_collect)
		fake.on_collect(target->pid);
	fake.seen[i].calls++;
	fake.seen[i].utime = target->stat->utime;
	if (fake.error && (!fake.failing_pid || fake.failing_pid == target->pid))
		return fake.error;
	out->row.reserved = (uint32_t)fake.value;
	*(fake.returns_partial ? &out->partial : &out->valid) |= FAKE_DOMAIN;
	return fake.returns_partial ? -ENODATA : 0;
}

static void reset(struct rti_figures *out)
{
	out->row.reserved = 0;
}

static void add(const struct rti_figures *member, struct rt_metrics *sum)
{
	fake.sum = sum->processes == 0 ? member->row.reserved : fake.sum + member->row.reserved;
}

struct rti_pid_collector rti_pid_fake;

void fake_reset(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.value = 1;
	rti_pid_fake = (struct rti_pid_collector){
		.provides = FAKE_DOMAIN,
		.cadence = RTI_EACH_SAMPLE,
		.collect = collect,
		.reset = reset,
		.add = add,
	};
}

unsigned fake_calls(int32_t pid)
{
	return fake.seen[index_of(pid)].calls;
}

uint64_t fake_utime(int32_t pid)
{
	return fake.seen[index_of(pid)].utime;
}

/* Instead of lib/collect/registry.c. A new collector need not be added: what holds for these holds
 * for any. */
const struct rti_pid_collector *const rti_pid_collectors[] = {
	&rti_pid_mem, &rti_pid_peak,   &rti_pid_io,   &rti_pid_ctxsw,
	&rti_pid_cpu, &rti_pid_faults, &rti_pid_fake,
};
const size_t rti_pid_collector_count = sizeof(rti_pid_collectors) / sizeof(rti_pid_collectors[0]);

const struct rti_sys_collector *const rti_sys_collectors[] = { NULL };
const size_t rti_sys_collector_count = 0;
