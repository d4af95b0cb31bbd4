/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/smaps_rollup. */
#include <errno.h>

#include "parse/parse.h"
#include "parse/scan.h"
#include "util/arith.h"

int rti_parse_smaps_rollup(const char *data, size_t len, struct rti_smaps_rollup *out)
{
	struct rti_scan s = rti_scan(data, len), line;
	bool has_rss = false, has_pss = false;
	uint64_t kib;

	*out = (struct rti_smaps_rollup){ 0 };
	while (rti_scan_line(&s, &line)) {
		if (rti_scan_literal(&line, "Rss:"))
			has_rss = rti_scan_u64(&line, &out->rss_kib);
		else if (rti_scan_literal(&line, "Pss:"))
			has_pss = rti_scan_u64(&line, &out->pss_kib);
		else if (rti_scan_literal(&line, "Pss_Anon:"))
			out->has_kinds = rti_scan_u64(&line, &out->pss_anon_kib);
		else if (rti_scan_literal(&line, "LazyFree:"))
			rti_scan_u64(&line, &out->lazy_free_kib);
		else if (rti_scan_literal(&line, "SwapPss:"))
			rti_scan_u64(&line, &out->swap_pss_kib);
		else if (rti_scan_literal(&line, "Swap:"))
			rti_scan_u64(&line, &out->swap_kib);
		else if ((rti_scan_literal(&line, "Private_Clean:") ||
		          rti_scan_literal(&line, "Private_Dirty:") ||
		          rti_scan_literal(&line, "Private_Hugetlb:")) &&
		         rti_scan_u64(&line, &kib))
			out->private_kib = rti_add_saturated(out->private_kib, kib);
	}
	if (out->pss_anon_kib > out->pss_kib)
		out->pss_anon_kib = out->pss_kib;
	return has_rss && has_pss ? 0 : -EBADMSG;
}
