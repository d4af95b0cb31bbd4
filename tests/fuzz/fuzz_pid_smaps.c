/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as /proc/PID/smaps. */
#include "fuzz.h"

#include "parse/parse.h"
#include "util/visit.h"

static int check_range(void *arg, const struct rti_smaps_range *range)
{
	struct fuzz_count *count = arg;

	(void)range;
	return ++count->records == count->stop_at ? RTI_STOP : RTI_CONTINUE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_count all = { 0 }, again = { 0 };
	int result = rti_parse_smaps((const char *)data, len, check_range, &all);

	require_parser_result(result);
	/* Each range takes a line. */
	require(all.records <= len);
	again.stop_at = all.records;
	require(rti_parse_smaps((const char *)data, len, check_range, &again) == 0 ||
	        all.records == 0);
	require(again.records == all.records);
	return 0;
}
