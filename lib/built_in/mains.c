/* SPDX-License-Identifier: MIT */
/* The helpers as functions of one program. */
#include "built_in/mains.h"

#include <string.h>

#include "os/protocol/supervisor_protocol.h"
#include "os/protocol/tracer_protocol.h"

bool rti_be_helper(int argc, char **argv, int *status)
{
	static const struct {
		const char *first;
		int (*main)(int argc, char **argv);
	} helpers[] = {
		{ RTI_SUPERVISOR_NAME, rts_main },
		{ RTI_TRACER_TRACE, rtt_main },
		{ RTI_TRACER_START, rtt_main },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(helpers) / sizeof(helpers[0]); i++) {
		if (strcmp(argv[1], helpers[i].first) == 0) {
			*status = helpers[i].main(argc, argv);
			return true;
		}
	}
	return false;
}
