/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as /proc/meminfo. */
#include "fuzz.h"

#include "parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_meminfo out;
	int result = rti_parse_meminfo((const char *)data, len, &out);

	require_parser_result(result);
	if (result == 0)
		require((out.has & 3) == 3 && out.has >> RTI_MEM_KEYS == 0);
	return 0;
}
