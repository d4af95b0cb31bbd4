/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as /proc/net/dev. */
#include "fuzz.h"

#include "parse/parse.h"

static int check_record(void *arg, const struct rti_netdev *dev)
{
	require_string(dev->name, sizeof(dev->name));
	return fuzz_count(arg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_count count = { 0 }, again = { 0 };
	int result = rti_parse_netdev((const char *)data, len, check_record, &count);

	require_parser_result(result);
	again.stop_at = count.records;
	result = rti_parse_netdev((const char *)data, len, check_record, &again);
	require_stop(result, &again);
	return 0;
}
