/* SPDX-License-Identifier: MIT */
/* What an outcome may claim, from any figures: a value lies within its own bounds. */
#include "input.h"

#include "command/completeness.h"
#include "command/cpu_bounds.h"
#include "command/late_report.h"
#include "os/cpu_time.h"

static void try_bounds(struct fuzz_input *in)
{
	struct rti_cpu_bounds_known known = {
		.low_ns = take_u64(in),
		.growth_ns = rti_cpu_bounds_growth(take_u64(in), take_u64(in)),
		.overhead_ns = take_u64(in),
		.lag_ns = take_u64(in),
		.is_covered_by_cgroup = take_u8(in) % 2,
		.is_running = take_u8(in) % 2,
		.is_waited_for = take_u8(in) % 2,
		.error_ns = take_u64(in),
	};
	struct rti_cpu_bounds bounds = rti_cpu_bounds(&known);

	require(bounds.low_ns <= bounds.high_ns);
	require(bounds.low_ns >= known.low_ns);
}

static void try_completeness(struct fuzz_input *in)
{
	struct rti_completeness_known known = {
		.reasons = (uint32_t)take_u64(in),
		.total_ns = take_u64(in),
		.accounted_ns = take_u64(in),
		.unproven_ns = take_u64(in),
		.unwaited_ns = take_u64(in),
		.threads = take_u64(in),
		.processes = take_u64(in),
		.growth_ns = take_u64(in),
		.overhead_ns = take_u64(in),
		.lag_ns = take_u64(in),
		.tick_ns = take_u64(in),
		.is_covered_by_cgroup = take_u8(in) % 2,
		.is_above_cgroup = take_u8(in) % 2,
		.is_supervisor_lost = take_u8(in) % 2,
		.left_cgroup = (uint32_t)take_u64(in),
		.is_running = take_u8(in) % 2,
		.has_threads = take_u8(in) % 2,
	};
	struct rti_completeness found = rti_completeness(&known);

	require(found.low_ns <= found.high_ns);
}

static void try_split(struct fuzz_input *in)
{
	uint64_t total_ns = take_u64(in), user_ns = 0, system_ns = 0;
	uint64_t user_part_ns = take_u64(in), both_parts_ns = take_u64(in);

	rti_split_cpu(total_ns, user_part_ns, both_parts_ns, &user_ns, &system_ns);
	require(user_ns <= total_ns && user_ns + system_ns == total_ns);
}

static void try_late_report(struct fuzz_input *in)
{
	struct rti_late_report late = { 0 };
	struct rti_platform platform;
	uint64_t now_ns = take_u64(in) / 4; /* of a clock that is not about to overflow */

	rti_platform_init(&platform, false);
	rti_late_report_begin(&late, &platform.waits, now_ns, take_u64(in));
	while (!has_ended(in)) {
		now_ns += take_u64(in) % 1000000000;
		if (rti_late_report_is_given_up(&late, now_ns, take_u64(in), take_u8(in) % 2))
			return;
		rti_late_report_is_late(&late, now_ns);
		require(rti_late_report_next_ns(&late, now_ns) >= now_ns);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = fuzz_input(data, len);

	switch (take_below(&in, 4)) {
	case 0:
		try_bounds(&in);
		break;
	case 1:
		try_split(&in);
		break;
	case 2:
		try_late_report(&in);
		break;
	default:
		try_completeness(&in);
		break;
	}
	return 0;
}
