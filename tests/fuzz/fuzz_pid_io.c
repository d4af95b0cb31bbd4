/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as /proc/PID/io. */
#include "fuzz.h"

#include "parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_pid_io out;
	int result = rti_parse_pid_io((const char *)data, len, &out);

	require_parser_result(result);
	return 0;
}
