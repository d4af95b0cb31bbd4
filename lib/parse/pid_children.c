/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/task/TID/children. */
#include <errno.h>

#include "parse/parse.h"
#include "parse/scan.h"

static int parse_line(struct rti_scan *line, int (*each)(void *arg, int32_t pid), void *arg)
{
	struct rti_scan word;

	while (rti_scan_word(line, &word)) {
		int32_t pid;
		int err;

		if (!rti_scan_i32(&word, &pid) || word.at < word.end || pid <= 0)
			return -EBADMSG;
		err = each(arg, pid);
		if (err)
			return err;
	}
	return 0;
}

int rti_parse_children(const char *data, size_t len, int (*each)(void *arg, int32_t pid), void *arg)
{
	struct rti_scan s = rti_scan(data, len), line;
	int err = 0;

	while (err == 0 && rti_scan_line(&s, &line))
		err = parse_line(&line, each, arg);
	return err;
}
