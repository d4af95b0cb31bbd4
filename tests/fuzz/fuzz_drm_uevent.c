/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as the uevent of a GPU. */
#include "fuzz.h"

#include <string.h>

#include "parse/drm_uevent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_drm_uevent out;
	int result = rti_parse_drm_uevent((const char *)data, len, &out);

	require_parser_result(result);
	if (result == 0)
		require(out.driver[0] && memchr(out.driver, 0, sizeof(out.driver)) != NULL);
	return 0;
}
