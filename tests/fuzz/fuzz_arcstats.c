/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as arcstats of ZFS. */
#include "fuzz.h"

#include "parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_arcstats out = { 0 };
	int result = rti_parse_arcstats((const char *)data, len, &out);

	require_parser_result(result);
	/* Both names stand in an input that has the figures. */
	if (result == 0)
		require(memmem(data, len, "size", 4) && memmem(data, len, "c_min", 5));
	return 0;
}
