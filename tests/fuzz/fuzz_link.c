/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as a part of the kernel's list of network interfaces. */
#include "fuzz.h"

#include "parse/link.h"
#include "util/visit.h"

static int check_record(void *arg, const struct rti_link *link)
{
	require_string(link->name, sizeof(link->name));
	require(link->name[0] != '\0');
	require(link->index > 0 && link->index <= INT32_MAX);
	require(link->address_len <= sizeof(link->address));
	return fuzz_count(arg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_count count = { 0 }, again = { 0 };
	struct rti_link gone;
	int result = rti_parse_links(data, len, 1, check_record, &count);

	require(result == RTI_CONTINUE || result == RTI_STOP || (result < 0 && result > -4096));
	again.stop_at = count.records;
	result = rti_parse_links(data, len, 1, check_record, &again);
	require_stop(result, &again);
	if (rti_parse_link_gone(data, len, &gone))
		check_record(&again, &gone);
	return 0;
}
