/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as a message of the proc connector. */
#include "fuzz.h"

#include "parse/process_event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_process_event out;
	int result = rti_parse_process_event(data, len, &out);

	require(result == 0 || result == -EBADMSG);
	require(len >= RTI_EVENT_AT_DATA + 8 || result == -EBADMSG);
	require_string(out.comm, sizeof(out.comm));
	require(out.kind <= RTI_EVENT_OTHER);
	return 0;
}
