/* SPDX-License-Identifier: MIT */
/* How much memory the events of a trace may wait in.
 *
 * The kernel charges the whole ring to the cgroup of the caller, at once. A ring that fits in, but
 * leaves too little for what is traced, would have the kernel kill that. */
#include "trace/ring_size.h"

#include <errno.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "os/procfs.h"
#include "util/arith.h"

#define LEAST 65536u      /* a page, on any machine */
#define USUAL (32u << 20) /* for 131,072 calls */
#define USUAL_LEAST (1u << 20)
#define SHARE 8 /* of the memory that is left, the ring takes at most one part of so many */

uint32_t rti_ring_size_within(uint64_t used_bytes, uint64_t limit_bytes)
{
	uint64_t share = rti_subtract_saturated(limit_bytes, used_bytes) / SHARE;
	uint32_t bytes = USUAL;

	while (bytes > USUAL_LEAST && bytes > share)
		bytes /= 2;
	return bytes;
}

/* Returns the line of /proc/self/cgroup for memory: of v1 if memory is there, else of v2. NULL:
 * none. */
static char *memory_line(char *text)
{
	char *v2 = NULL;

	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		const char *controllers = strchr(line, ':');

		*end = '\0';
		if (controllers && strncmp(controllers, ":memory:", 8) == 0)
			return line;
		if (strncmp(line, "0::", 3) == 0)
			v2 = line;
	}
	return v2;
}

/* Returns 0, or -errno if the limits are not known. */
static int read_own_limit(uint64_t *used_bytes, uint64_t *limit_bytes)
{
	const struct rt_opts opts = { .size = sizeof(opts), .want = RT_HAS_CGROUP_MEMORY };
	struct rti_buf buf = { 0 };
	struct rti_procfs procfs;
	struct rt_tracker *tracker;
	struct rt_metrics m = { 0 };
	char *line;
	int err;

	rti_procfs_use_names(&procfs, &rti_procfs_linux);
	err = rti_procfs_read(&procfs, RTI_PROC, "self/cgroup", RTI_SEQ_FILE, &buf);
	line = err == 0 ? memory_line(buf.data) : NULL;
	if (err == 0)
		err = line ? rt_cgroup_tracker_new(&tracker, line, &opts) : -ENOENT;
	rti_buf_free(&buf);
	if (err < 0)
		return err;
	err = rt_sample(tracker, &m, sizeof(m));
	rt_tracker_free(tracker);
	if (err == 0 && !((m.valid | m.partial) & RT_HAS_CGROUP_MEMORY))
		err = -ENODATA;
	*used_bytes = m.cgroup_memory_bytes;
	*limit_bytes = rti_min(m.cgroup_memory_limit_bytes, m.cgroup_memory_high_bytes);
	return err;
}

struct rti_ring_size rti_ring_size(uint32_t asked)
{
	struct rti_ring_size size = { .bytes = LEAST };
	uint64_t used_bytes, limit_bytes;

	if (!asked)
		return (struct rti_ring_size){
			.bytes = read_own_limit(&used_bytes, &limit_bytes) < 0
			             ? USUAL
			             : rti_ring_size_within(used_bytes, limit_bytes),
			.min_bytes = USUAL_LEAST
		};
	while (size.bytes < asked)
		size.bytes *= 2;
	return size;
}
