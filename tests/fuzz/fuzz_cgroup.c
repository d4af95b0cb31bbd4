/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as the files of a cgroup. */
#include "fuzz.h"

#include "parse/parse.h"
#include "util/visit.h"

/* Every text lies within the data. */
static int check_entry(void *arg, const struct rti_pid_cgroup *entry)
{
	const struct rti_scan *data = arg;
	struct rti_scan list = entry->controllers, item;

	require(entry->path.at >= data->at && entry->path.end <= data->end);
	require(entry->path.at < entry->path.end && *entry->path.at == '/');
	while (rti_scan_item(&list, &item))
		require(item.at >= entry->controllers.at && item.end <= entry->controllers.end);
	return RTI_CONTINUE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_cgroup_cpu cpu;
	struct rti_cgroup_io io;
	struct rti_cgroup_cpuacct cpuacct;
	struct rti_cgroup_memory_stat memory;
	struct rti_scan all = rti_scan((const char *)data, len);

	require_parser_result(rti_parse_cgroup_cpu((const char *)data, len, &cpu));
	require_parser_result(rti_parse_cgroup_io((const char *)data, len, &io));
	require_parser_result(rti_parse_cgroup_cpuacct((const char *)data, len, &cpuacct));
	require_parser_result(rti_parse_cgroup_blkio((const char *)data, len, &io));
	require_parser_result(rti_parse_cgroup_memory((const char *)data, len, &memory));
	require_parser_result(rti_parse_cgroup_memory_v1((const char *)data, len, &memory));
	require_parser_result(rti_parse_pid_cgroup((const char *)data, len, check_entry, &all));
	return 0;
}
