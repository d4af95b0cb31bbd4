/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as /proc/stat. */
#include "fuzz.h"

#include "parse/parse.h"

static int check_record(void *arg, uint32_t cpu, const struct rti_cpu_ticks *ticks)
{
	(void)cpu;
	(void)ticks;
	return fuzz_count(arg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_count count = { 0 }, again = { 0 };
	struct rti_stat out;
	int result = rti_parse_stat((const char *)data, len, &out, check_record, &count);

	require_parser_result(result);
	again.stop_at = count.records;
	result = rti_parse_stat((const char *)data, len, &out, check_record, &again);
	require_stop(result, &again);
	return 0;
}
