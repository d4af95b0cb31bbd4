/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as the files of a cgroup that have its limits. */
#include "fuzz.h"

#include "parse/cgroup_stat.h"
#include "util/visit.h"

static int check_pid(void *arg, int32_t pid)
{
	(void)arg;
	require(pid >= 0);
	return RTI_CONTINUE;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const char *data = (const char *)bytes;
	struct rti_cgroup_throttle throttle;
	struct rti_cgroup_cpu_max cpu_max = { 0, 0 };
	struct rti_cgroup_memory_events events;
	struct rti_cgroup_memory_detail memory;
	uint64_t number;
	int err;

	require_parser_result(rti_parse_cgroup_throttle(data, len, &throttle));
	err = rti_parse_cgroup_cpu_max(data, len, &cpu_max);
	require_parser_result(err);
	require(err < 0 || cpu_max.period_us > 0);
	require_parser_result(rti_parse_cgroup_limit(data, len, &number));
	require_parser_result(rti_parse_cgroup_memory_events(data, len, &events));
	require_parser_result(rti_parse_cgroup_oom_control(data, len, &number));
	require_parser_result(rti_parse_cgroup_memory_detail(data, len, &memory));
	require_parser_result(rti_parse_cgroup_memory_detail_v1(data, len, &memory));
	require_parser_result(rti_parse_cgroup_procs(data, len, check_pid, NULL));
	require_parser_result(rti_parse_cgroup_descendants(data, len, &number));
	return 0;
}
