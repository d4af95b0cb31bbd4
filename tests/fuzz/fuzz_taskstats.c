/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as a message of generic netlink: an exit account, or an answer. */
#include "fuzz.h"

#include "parse/netlink.h"
#include "parse/taskstats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_task_exit out;
	uint16_t family = 0;
	int result = rti_parse_taskstats(data, len, &out), error;

	require(result == 0 || result == -EBADMSG || result == -EOPNOTSUPP);
	require(result < 0 || len >= RTI_TASKSTATS_BYTES_MIN);
	require_string(out.comm, sizeof(out.comm));
	require(result == 0 || (out.pid == 0 && out.cpu_ns == 0));
	error = rti_parse_netlink_ack(data, len);
	require(error <= 0 && error > -4096);
	result = rti_parse_genl_family(data, len, &family);
	require(result <= 0 && result > -4096);
	require(result == 0 || family == 0);
	return 0;
}
