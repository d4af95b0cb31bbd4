/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/smaps_rollup. */
#include <errno.h>

#include "parse/parse.h"
#include "parse/scan.h"

int rti_parse_smaps_rollup(const char *data, size_t len, uint64_t *pss_kib)
{
	struct rti_scan s = rti_scan(data, len), line;

	while (rti_scan_line(&s, &line))
		if (rti_scan_literal(&line, "Pss:"))
			return rti_scan_u64(&line, pss_kib) ? 0 : -EBADMSG;
	return -EBADMSG;
}
