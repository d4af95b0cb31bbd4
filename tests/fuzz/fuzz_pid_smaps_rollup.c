/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as /proc/PID/smaps_rollup. */
#include "fuzz.h"

#include "parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_smaps_rollup out;
	int result = rti_parse_smaps_rollup((const char *)data, len, &out);

	require_parser_result(result);
	if (result == 0)
		require(out.pss_anon_kib <= out.pss_kib);
	return 0;
}
