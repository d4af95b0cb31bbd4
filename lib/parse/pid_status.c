/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/status. */
#include <errno.h>

#include "parse/parse.h"
#include "parse/scan.h"

enum { VOLUNTARY = 1 << 0, INVOLUNTARY = 1 << 1, BOTH_SWITCHES = VOLUNTARY | INVOLUNTARY };

static void parse_line(struct rti_scan *line, struct rti_pid_status *out, unsigned *switches)
{
	switch (line->at < line->end ? *line->at : '\0') {
	case 'T':
		if (rti_scan_literal(line, "Tgid:") && rti_scan_i32(line, &out->tgid))
			out->has |= RTI_STATUS_TGID;
		break;
	case 'U':
		if (rti_scan_literal(line, "Uid:") && rti_scan_u32(line, &out->uid))
			out->has |= RTI_STATUS_UID;
		break;
	case 'R':
		if (rti_scan_literal(line, "RssShmem:") && rti_scan_u64(line, &out->rss_shmem_kib))
			out->has |= RTI_STATUS_SHMEM;
		break;
	case 'V':
		if (rti_scan_literal(line, "VmHWM:") && rti_scan_u64(line, &out->vm_hwm_kib))
			out->has |= RTI_STATUS_HWM;
		else if (rti_scan_literal(line, "VmSwap:"))
			rti_scan_u64(line, &out->swap_kib);
		break;
	case 'H':
		if (rti_scan_literal(line, "HugetlbPages:"))
			rti_scan_u64(line, &out->hugetlb_kib);
		break;
	case 'v':
		if (rti_scan_literal(line, "voluntary_ctxt_switches:") &&
		    rti_scan_u64(line, &out->voluntary_switches))
			*switches |= VOLUNTARY;
		break;
	case 'n':
		if (rti_scan_literal(line, "nonvoluntary_ctxt_switches:") &&
		    rti_scan_u64(line, &out->involuntary_switches))
			*switches |= INVOLUNTARY;
		break;
	}
}

int rti_parse_pid_status(const char *data, size_t len, struct rti_pid_status *out)
{
	struct rti_scan s = rti_scan(data, len), line;
	unsigned switches = 0;

	*out = (struct rti_pid_status){ 0 };
	while (rti_scan_line(&s, &line))
		parse_line(&line, out, &switches);
	if (switches == BOTH_SWITCHES)
		out->has |= RTI_STATUS_SWITCHES;
	return out->has ? 0 : -EBADMSG;
}
