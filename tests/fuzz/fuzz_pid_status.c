/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as /proc/PID/status. */
#include "fuzz.h"

#include "parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_pid_status out;
	int result = rti_parse_pid_status((const char *)data, len, &out);

	require_parser_result(result);
	if (result == 0)
		require(out.has != 0);
	return 0;
}
