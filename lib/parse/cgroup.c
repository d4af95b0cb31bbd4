/* SPDX-License-Identifier: MIT */
/* Parsers of cgroup v2 files, and of /proc/PID/cgroup. */
#include "parse/parse.h"

#include <errno.h>

int rti_parse_cgroup_cpu(const char *data, size_t len, struct rti_cgroup_cpu *out)
{
	struct rti_scan s = rti_scan(data, len), line;
	int found = 0;

	while (rti_scan_line(&s, &line)) {
		if (rti_scan_literal(&line, "usage_usec "))
			found += rti_scan_u64(&line, &out->usage_us);
		else if (rti_scan_literal(&line, "user_usec "))
			found += rti_scan_u64(&line, &out->user_us);
		else if (rti_scan_literal(&line, "system_usec "))
			found += rti_scan_u64(&line, &out->system_us);
	}
	return found == 3 ? 0 : -EBADMSG;
}

int rti_parse_pid_cgroup(const char *data, size_t len, struct rti_scan *path)
{
	struct rti_scan s = rti_scan(data, len);

	while (rti_scan_line(&s, path)) {
		if (rti_scan_literal(path, "0::"))
			return path->at < path->end && *path->at == '/' ? 0 : -EBADMSG;
	}
	return -EBADMSG;
}
