/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as /proc/PID/smaps_rollup. */
#include "fuzz.h"

#include "parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint64_t out;
	int result = rti_parse_smaps_rollup((const char *)data, len, &out);

	require_parser_result(result);
	return 0;
}
