/* SPDX-License-Identifier: MIT */
/* How much memory the events of a trace may wait in.
 *
 * The kernel charges the whole ring to the cgroup of the caller, at once. A ring that fits in, but
 * leaves too little for what is traced, would have the kernel kill that. */
#include "trace/ring_size.h"

#include <string.h>

#include <rtrack/rtrack.h>

#include "os/procfs.h"
#include "parse/parse.h"
#include "parse/scan.h"
#include "util/arith.h"
#include "util/visit.h"

#define LEAST 65536u      /* a page, on any machine */
#define USUAL (32u << 20) /* for 113,359 calls */
#define USUAL_LEAST (1u << 20)
#define SHARE 8 /* of the memory that is left, the ring takes at most one part of so many */

uint32_t rti_ring_size_within(uint64_t left_bytes)
{
	uint32_t bytes = USUAL;

	while (bytes > USUAL_LEAST && bytes > left_bytes / SHARE)
		bytes /= 2;
	return bytes;
}

/* Keep the path for memory: of the hierarchy of v1 that has memory, perhaps with other controllers,
 * else of v2. */
static int note_path(void *arg, const struct rti_pid_cgroup *entry)
{
	struct rti_scan *path = arg, controllers = entry->controllers, item;

	if (entry->hierarchy == 0 && !path->at)
		*path = entry->path;
	while (rti_scan_item(&controllers, &item)) {
		if (rti_scan_is(&item, "memory")) {
			*path = entry->path;
			return RTI_STOP;
		}
	}
	return RTI_CONTINUE;
}

/* Returns what a cgroup and those above it may still use, by its own use. If it is not known,
 * UINT64_MAX. */
static uint64_t left_in(const char *line)
{
	const struct rt_opts opts = { .size = sizeof(opts), .want = RT_HAS_CGROUP_MEMORY };
	struct rt_metrics m = { 0 };
	struct rt_tracker *tracker;
	uint64_t limit_bytes;

	if (rt_cgroup_tracker_new(&tracker, line, &opts) < 0)
		return UINT64_MAX;
	if (rt_sample(tracker, &m, sizeof(m)) < 0)
		m.valid = m.partial = 0;
	rt_tracker_free(tracker);
	limit_bytes = rti_min(m.cgroup_memory_limit_bytes, m.cgroup_memory_high_bytes);
	return (m.valid | m.partial) & RT_HAS_CGROUP_MEMORY && limit_bytes != UINT64_MAX
	           ? rti_subtract_saturated(limit_bytes, m.cgroup_memory_bytes)
	           : UINT64_MAX;
}

/* The cgroups above have others below them, which use their memory, too. */
static uint64_t left_for_caller(void)
{
	uint64_t least = UINT64_MAX;
	struct rti_scan path = { NULL, NULL };
	struct rti_buf buf = { 0 };
	struct rti_procfs procfs;
	char *line = NULL, *end;

	rti_procfs_use_names(&procfs, &rti_procfs_linux);
	if (rti_procfs_read(&procfs, RTI_PROC, "self/cgroup", RTI_SEQ_FILE, &buf) == 0)
		rti_parse_pid_cgroup(buf.data, buf.len, note_path, &path);
	if (path.at) {
		/* The whole line: it names the hierarchy. */
		buf.data[path.end - buf.data] = '\0';
		line = buf.data + (path.at - buf.data);
		while (line > buf.data && line[-1] != '\n')
			line--;
	}
	while (line && (end = strrchr(line, '/')) && end[1] != '\0') {
		least = rti_min(least, left_in(line));
		*end = '\0';
	}
	rti_buf_free(&buf);
	return least;
}

struct rti_ring_size rti_ring_size(uint32_t asked)
{
	struct rti_ring_size size = { .bytes = LEAST };

	if (!asked)
		return (struct rti_ring_size){ .bytes = rti_ring_size_within(left_for_caller()),
			                       .min_bytes = USUAL_LEAST };
	while (size.bytes < asked)
		size.bytes *= 2;
	return size;
}
