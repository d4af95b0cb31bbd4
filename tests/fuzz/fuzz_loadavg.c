/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as /proc/loadavg. */
#include "fuzz.h"

#include "parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_loadavg out;
	int result = rti_parse_loadavg((const char *)data, len, &out);

	require_parser_result(result);
	if (result == 0)
		require(out.load_1m >= 0 && out.load_5m >= 0 && out.load_15m >= 0);
	return 0;
}
