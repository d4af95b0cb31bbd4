/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as /proc/PID/fdinfo/FD of a GPU. */
#include "fuzz.h"

#include <string.h>

#include "parse/drm_fdinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_drm_fdinfo out;
	int result = rti_parse_drm_fdinfo((const char *)data, len, &out);

	require_parser_result(result);
	if (result < 0)
		return 0;
	require(out.engine_count <= RTI_DRM_ENGINES_MAX);
	for (unsigned i = 0; i < out.engine_count; i++) {
		require(out.engines[i].capacity > 0);
		require(out.engines[i].kind < RTI_DRM_ENGINE_KINDS);
		require(memchr(out.engines[i].name, 0, sizeof(out.engines[i].name)) != NULL);
	}
	return 0;
}
