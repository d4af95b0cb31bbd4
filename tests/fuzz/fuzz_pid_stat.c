/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as /proc/PID/stat. */
#include "fuzz.h"

#include "parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_pid_stat out;
	int result = rti_parse_pid_stat((const char *)data, len, &out);

	require_parser_result(result);
	if (result == 0)
		require_string(out.comm, sizeof(out.comm));
	return 0;
}
