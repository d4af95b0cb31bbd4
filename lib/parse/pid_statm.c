/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/statm. */
#include <errno.h>

#include "parse/parse.h"
#include "parse/scan.h"

int rti_parse_pid_statm(const char *data, size_t len, struct rti_pid_statm *out)
{
	struct rti_scan s = rti_scan(data, len);
	uint64_t text;

	/* Only if the fourth number is there, the third is complete. */
	if (!rti_scan_u64(&s, &out->size_pages) || !rti_scan_u64(&s, &out->resident_pages) ||
	    !rti_scan_u64(&s, &out->shared_pages) || !rti_scan_u64(&s, &text))
		return -EBADMSG;
	if (out->shared_pages > out->resident_pages) /* read at different moments */
		out->shared_pages = out->resident_pages;
	return 0;
}
