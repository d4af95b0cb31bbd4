/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/statm. */
#include "parse/parse.h"
#include "parse/scan.h"

#include <errno.h>

int rti_parse_pid_statm(const char *data, size_t len, struct rti_pid_statm *out)
{
	struct rti_scan s = rti_scan(data, len);

	if (!rti_scan_u64(&s, &out->size) || !rti_scan_u64(&s, &out->resident) || !rti_scan_u64(&s, &out->shared))
		return -EBADMSG;
	return 0;
}
