/* SPDX-License-Identifier: MIT */
/* Parser of /proc/diskstats. */
#include <errno.h>
#include <stdbool.h>

#include "parse/parse.h"
#include "parse/scan.h"
#include "util/visit.h"

/* Position of each figure after major, minor and name on a full line. */
enum {
	READS = 0,
	READ_SECTORS = 2,
	WRITES = 4,
	WRITE_SECTORS = 6,
	IN_FLIGHT = 8,
	BUSY_MS = 9,
	FULL_LINE = 11
};

#define SHORT_LINE 4 /* reads, read sectors, writes, write sectors */

static bool parse_disk(struct rti_scan *line, struct rti_diskstat *out)
{
	uint64_t value[FULL_LINE];
	unsigned count = 0;
	struct rti_scan name;

	if (!rti_scan_u32(line, &out->major) || !rti_scan_u32(line, &out->minor) ||
	    !rti_scan_word(line, &name))
		return false;
	rti_scan_copy(&name, out->name, sizeof(out->name));
	while (count < FULL_LINE && rti_scan_u64(line, &value[count]))
		count++;
	if (count == FULL_LINE) {
		out->reads = value[READS];
		out->read_sectors = value[READ_SECTORS];
		out->writes = value[WRITES];
		out->write_sectors = value[WRITE_SECTORS];
		out->in_flight = value[IN_FLIGHT];
		out->busy_ms = value[BUSY_MS];
		return true;
	}
	if (count != SHORT_LINE || line->at < line->end)
		return false;
	out->reads = value[0];
	out->read_sectors = value[1];
	out->writes = value[2];
	out->write_sectors = value[3];
	out->in_flight = out->busy_ms = 0;
	return true;
}

int rti_parse_diskstats(const char *data, size_t len,
                        int (*each)(void *arg, const struct rti_diskstat *disk), void *arg)
{
	struct rti_scan s = rti_scan(data, len), line;
	int err = RTI_CONTINUE;

	while (err == RTI_CONTINUE && rti_scan_line(&s, &line)) {
		struct rti_diskstat disk;

		err = parse_disk(&line, &disk) ? each(arg, &disk) : -EBADMSG;
	}
	return err;
}
