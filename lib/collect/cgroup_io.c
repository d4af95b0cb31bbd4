/* SPDX-License-Identifier: MIT */
/* Storage I/O of a cgroup: io.stat (v2), or blkio.throttle.io_service_bytes_recursive (v1). */
#include <errno.h>

#include "collect/cgroup_collector.h"
#include "parse/parse.h"
#include "util/arith.h"

static const struct rti_cgroup_source source = { RTI_CONTROLLER_IO, "io.stat",
	                                         "blkio.throttle.io_service_bytes_recursive" };

struct state {
	struct rti_file file;
	uint64_t read_bytes, write_bytes; /* as reported last */
	uint32_t devices;                 /* with figures, in the sample before */
	bool has_lost;                    /* a device is gone, with its counts */
};

static void io_open(void *state)
{
	struct state *st = state;

	st->file = (struct rti_file)RTI_FILE_INIT;
}

/* In v1, a file without a device does not say whether the kernel counts at all. E.g.: Linux 6.18
 * counts only on devices with a limit in some cgroup. */
static int parse(const struct rti_buf *buf, bool is_v1, struct rti_cgroup_io *out)
{
	int err = is_v1 ? rti_parse_cgroup_blkio(buf->data, buf->len, out)
	                : rti_parse_cgroup_io(buf->data, buf->len, out);

	return err == 0 && is_v1 && out->devices == 0 ? -ENODATA : err;
}

static void io_collect(void *state, struct rti_cgroup_look *look)
{
	struct state *st = state;
	bool is_v1 = rti_cgroup_is_v1(look, RTI_CONTROLLER_IO);
	struct rti_cgroup_io io = { 0 };
	int err = rti_cgroup_read(look, &source, &st->file, RT_HAS_CGROUP_IO);

	if (err < 0)
		return;
	err = parse(look->ctx->buf, is_v1, &io);
	if (err < 0) {
		rti_cgroup_note(look, &source, RT_HAS_CGROUP_IO,
		                err == -ENODATA ? RTI_CAUSE_CGROUP_VERSION : RTI_CAUSE_READ, err);
		return;
	}
	/* A device that has figures keeps its line until it is removed. */
	st->has_lost |= io.devices < st->devices || io.read_bytes < st->read_bytes ||
	                io.write_bytes < st->write_bytes;
	st->devices = io.devices;
	st->read_bytes = rti_max(io.read_bytes, st->read_bytes);
	st->write_bytes = rti_max(io.write_bytes, st->write_bytes);
	look->out->cgroup_read_bytes = st->read_bytes;
	look->out->cgroup_write_bytes = st->write_bytes;
	if (!is_v1 && !st->has_lost) {
		look->out->valid |= RT_HAS_CGROUP_IO;
		return;
	}
	rti_cgroup_note(look, &source, RT_HAS_CGROUP_IO,
	                is_v1 ? RTI_CAUSE_CGROUP_VERSION : RTI_CAUSE_CGROUP_DEVICE, -ENODATA);
	look->out->partial |= RT_HAS_CGROUP_IO;
}

static void io_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	rti_procfs_close_file(ctx->procfs, &st->file);
}

const struct rti_cgroup_collector rti_cgroup_io = {
	.provides = RT_HAS_CGROUP_IO,
	.state_size = sizeof(struct state),
	.open = io_open,
	.collect = io_collect,
	.close = io_close,
};
