/* SPDX-License-Identifier: MIT */
/* Parser of /proc/loadavg. */
#include <errno.h>

#include "parse/parse.h"
#include "parse/scan.h"

int rti_parse_loadavg(const char *data, size_t len, struct rti_loadavg *out)
{
	struct rti_scan s = rti_scan(data, len);

	if (!rti_scan_decimal(&s, &out->load_1m) || !rti_scan_decimal(&s, &out->load_5m) ||
	    !rti_scan_decimal(&s, &out->load_15m))
		return -EBADMSG;
	if (!rti_scan_u64(&s, &out->running) || !rti_scan_literal(&s, "/") ||
	    !rti_scan_u64(&s, &out->threads) || !rti_scan_u64(&s, &out->last_pid))
		return -EBADMSG;
	return 0;
}
