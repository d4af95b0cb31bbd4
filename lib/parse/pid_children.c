/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/task/TID/children. */
#include <errno.h>

#include "parse/parse.h"
#include "parse/scan.h"
#include "util/visit.h"

static int parse_line(struct rti_scan *line, int (*each)(void *arg, int32_t pid), void *arg)
{
	struct rti_scan word;

	while (rti_scan_word(line, &word)) {
		int32_t pid;
		int err;

		if (!rti_scan_i32(&word, &pid) || word.at < word.end || pid <= 0)
			return -EBADMSG;
		err = each(arg, pid);
		if (err != RTI_CONTINUE)
			return err;
	}
	return RTI_CONTINUE;
}

int rti_parse_children(const char *data, size_t len, int (*each)(void *arg, int32_t pid), void *arg)
{
	struct rti_scan s = rti_scan(data, len), line;
	int err = RTI_CONTINUE;

	while (err == RTI_CONTINUE && rti_scan_line(&s, &line))
		err = parse_line(&line, each, arg);
	return err;
}
