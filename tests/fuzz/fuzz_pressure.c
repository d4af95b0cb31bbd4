/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as /proc/pressure/X. */
#include "fuzz.h"

#include "parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_pressure out;
	int result = rti_parse_pressure((const char *)data, len, &out);

	require_parser_result(result);
	if (result == 0)
		require(out.has_full || out.full_us == 0);
	return 0;
}
