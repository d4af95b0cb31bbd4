/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as /proc/PID/statm. */
#include "fuzz.h"

#include "parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_pid_statm out;
	int result = rti_parse_pid_statm((const char *)data, len, &out);

	require_parser_result(result);
	if (result == 0)
		require(out.shared_pages <= out.resident_pages);
	return 0;
}
