/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/statm. */
#include <errno.h>

#include "parse/parse.h"
#include "parse/scan.h"

int rti_parse_pid_statm(const char *data, size_t len, uint64_t *resident_pages)
{
	struct rti_scan s = rti_scan(data, len);
	uint64_t size, shared;

	/* Only if the third number is there, the second is complete. */
	if (!rti_scan_u64(&s, &size) || !rti_scan_u64(&s, resident_pages) ||
	    !rti_scan_u64(&s, &shared))
		return -EBADMSG;
	return 0;
}
