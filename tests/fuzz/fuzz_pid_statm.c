/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as /proc/PID/statm. */
#include "fuzz.h"

#include "parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint64_t resident_pages;
	int result = rti_parse_pid_statm((const char *)data, len, &resident_pages);

	require_parser_result(result);
	return 0;
}
