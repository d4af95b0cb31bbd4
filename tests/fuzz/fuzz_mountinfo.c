/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as /proc/PID/mountinfo. */
#include "fuzz.h"

#include "parse/parse.h"

static int check_record(void *arg, const struct rti_mount *mount)
{
	require_string(mount->mount_point, sizeof(mount->mount_point));
	require_string(mount->type, sizeof(mount->type));
	require_string(mount->source, sizeof(mount->source));
	return fuzz_count(arg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_count count = { 0 }, again = { 0 };
	struct rti_mount mount;
	int result = rti_parse_mountinfo((const char *)data, len, &mount, check_record, &count);

	require_parser_result(result);
	again.stop_at = count.records;
	result = rti_parse_mountinfo((const char *)data, len, &mount, check_record, &again);
	require_stop(result, &again);
	return 0;
}
