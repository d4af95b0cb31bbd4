/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as the files of a cgroup. */
#include "fuzz.h"

#include "parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_cgroup_cpu cpu;
	struct rti_cgroup_io io;
	struct rti_scan path;

	require_parser_result(rti_parse_cgroup_cpu((const char *)data, len, &cpu));
	require_parser_result(rti_parse_cgroup_io((const char *)data, len, &io));
	require_parser_result(rti_parse_pid_cgroup((const char *)data, len, &path));
	return 0;
}
