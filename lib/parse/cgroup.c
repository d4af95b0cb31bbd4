/* SPDX-License-Identifier: MIT */
/* Parsers of the files of a cgroup, v1 and v2, and of /proc/PID/cgroup. */
#include <errno.h>
#include <string.h>

#include "parse/parse.h"
#include "util/visit.h"

enum { USAGE, USER, SYSTEM, KEYS };

static const struct rti_scan_key keys[KEYS] = {
	[USAGE] = RTI_SCAN_KEY("usage_usec "),
	[USER] = RTI_SCAN_KEY("user_usec "),
	[SYSTEM] = RTI_SCAN_KEY("system_usec "),
};

int rti_parse_cgroup_cpu(const char *data, size_t len, struct rti_cgroup_cpu *out)
{
	struct rti_scan s = rti_scan(data, len);
	uint64_t value[KEYS];
	struct rti_scan_numbers numbers = { .keys = keys, .count = KEYS, .value = value };

	if (!rti_scan_all_keys(&s, &numbers))
		return -EBADMSG;
	*out = (struct rti_cgroup_cpu){ value[USAGE], value[USER], value[SYSTEM] };
	return 0;
}

int rti_parse_cgroup_cpuacct(const char *data, size_t len, struct rti_cgroup_cpuacct *out)
{
	static const struct rti_scan_key cpuacct_keys[] = { RTI_SCAN_KEY("user "),
		                                            RTI_SCAN_KEY("system ") };
	struct rti_scan s = rti_scan(data, len);
	uint64_t value[2];
	struct rti_scan_numbers numbers = { .keys = cpuacct_keys, .count = 2, .value = value };

	if (!rti_scan_all_keys(&s, &numbers))
		return -EBADMSG;
	*out = (struct rti_cgroup_cpuacct){ value[0], value[1] };
	return 0;
}

/* There is one line per device, e.g. "8:0 rbytes=1 wbytes=2 rios=3 ...". A cgroup without I/O has
 * no lines, and a line may have no figures. */
int rti_parse_cgroup_io(const char *data, size_t len, struct rti_cgroup_io *out)
{
	struct rti_scan s = rti_scan(data, len), line, word;
	uint64_t bytes;

	*out = (struct rti_cgroup_io){ 0 };
	while (rti_scan_line(&s, &line)) {
		while (rti_scan_word(&line, &word)) {
			bool is_read = rti_scan_literal(&word, "rbytes=");
			bool is_write = !is_read && rti_scan_literal(&word, "wbytes=");

			if (!is_read && !is_write)
				continue;
			if (!rti_scan_u64(&word, &bytes))
				return -EBADMSG;
			out->devices += is_read;
			out->read_bytes += is_read ? bytes : 0;
			out->write_bytes += is_write ? bytes : 0;
		}
	}
	return 0;
}

/* There are several lines per device, e.g. "8:0 Read 4096", and a last one with the sum over all,
 * e.g. "Total 4096". */
int rti_parse_cgroup_blkio(const char *data, size_t len, struct rti_cgroup_io *out)
{
	struct rti_scan s = rti_scan(data, len), line, word;
	uint64_t bytes;

	*out = (struct rti_cgroup_io){ 0 };
	while (rti_scan_line(&s, &line)) {
		bool is_read, is_write;

		if (!rti_scan_skip_words(&line, 1) || !rti_scan_word(&line, &word))
			continue;
		is_read = rti_scan_is(&word, "Read");
		is_write = rti_scan_is(&word, "Write");
		if (!is_read && !is_write)
			continue;
		if (!rti_scan_u64(&line, &bytes))
			return -EBADMSG;
		out->devices += is_read;
		out->read_bytes += is_read ? bytes : 0;
		out->write_bytes += is_write ? bytes : 0;
	}
	return 0;
}

/* Fill *out from the keys of v1 or of v2, in the order of its fields. */
static int parse_memory(const char *data, size_t len, const struct rti_scan_key memory_keys[4],
                        struct rti_cgroup_memory_stat *out)
{
	struct rti_scan s = rti_scan(data, len);
	uint64_t value[4] = { 0 };
	struct rti_scan_numbers numbers = { .keys = memory_keys, .count = 4, .value = value };

	while (rti_scan_keyed_line(&s, &numbers))
		;
	if ((numbers.has & 3) != 3)
		return -EBADMSG;
	*out = (struct rti_cgroup_memory_stat){ value[0], value[1], value[2], value[3] };
	return 0;
}

int rti_parse_cgroup_memory(const char *data, size_t len, struct rti_cgroup_memory_stat *out)
{
	static const struct rti_scan_key v2[] = { RTI_SCAN_KEY("anon "), RTI_SCAN_KEY("file "),
		                                  RTI_SCAN_KEY("file_mapped "),
		                                  RTI_SCAN_KEY("shmem ") };

	return parse_memory(data, len, v2, out);
}

/* The keys without "total_" leave out the cgroups below. */
int rti_parse_cgroup_memory_v1(const char *data, size_t len, struct rti_cgroup_memory_stat *out)
{
	static const struct rti_scan_key v1[] = { RTI_SCAN_KEY("total_rss "),
		                                  RTI_SCAN_KEY("total_cache "),
		                                  RTI_SCAN_KEY("total_mapped_file "),
		                                  RTI_SCAN_KEY("total_shmem ") };

	return parse_memory(data, len, v1, out);
}

/* Take what precedes a ':', and the ':'. Returns false if there is none. */
static bool take_field(struct rti_scan *line, struct rti_scan *field)
{
	const char *colon = memchr(line->at, ':', (size_t)(line->end - line->at));

	if (!colon)
		return false;
	*field = (struct rti_scan){ line->at, colon };
	line->at = colon + 1;
	return true;
}

/* E.g.: "4:cpu,cpuacct:/a/b". The path may have a ':' in it. */
static bool parse_entry(struct rti_scan *line, struct rti_pid_cgroup *out)
{
	struct rti_scan number;

	if (!take_field(line, &number) || !rti_scan_u32(&number, &out->hierarchy) ||
	    number.at != number.end || !take_field(line, &out->controllers))
		return false;
	out->path = *line;
	return line->at < line->end && *line->at == '/';
}

int rti_parse_pid_cgroup(const char *data, size_t len,
                         int (*each)(void *arg, const struct rti_pid_cgroup *entry), void *arg)
{
	struct rti_scan s = rti_scan(data, len), line;
	struct rti_pid_cgroup entry;
	int err = RTI_CONTINUE;

	while (err == RTI_CONTINUE && rti_scan_line(&s, &line))
		err = parse_entry(&line, &entry) ? each(arg, &entry) : -EBADMSG;
	return err;
}
