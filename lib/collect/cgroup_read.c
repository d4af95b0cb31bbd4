/* SPDX-License-Identifier: MIT */
/* Reads the files of a cgroup, and notes why one cannot be read. */
#include <errno.h>

#include "collect/cgroup_collector.h"
#include "parse/cgroup_stat.h"

/* As the kernel calls them in v2, except for what v2 has without a controller. */
static const char *const controllers[RTI_CONTROLLERS] = {
	[RTI_CONTROLLER_CPU] = "cpu",       [RTI_CONTROLLER_CPUACCT] = "cpuacct",
	[RTI_CONTROLLER_MEMORY] = "memory", [RTI_CONTROLLER_IO] = "io",
	[RTI_CONTROLLER_PIDS] = "pids",
};

void rti_cgroup_note(struct rti_cgroup_look *look, const struct rti_cgroup_source *source,
                     uint64_t has, enum rti_cause cause, int err)
{
	const struct rti_cgroup_place *place =
	    rti_cgroup_place_of(look->places, source->controller);
	const char *file = place && !place->is_v2 && source->v1 ? source->v1 : source->v2;
	struct rti_cgroup_obstacles *obstacles = look->obstacles;

	look->is_gone |= err == -ENODEV;
	for (uint64_t left = has; left; left &= left - 1) {
		int bit = rti_status_bit(left & -left);

		obstacles->of[bit].cause = cause;
		obstacles->of[bit].error = err;
		obstacles->of[bit].file = file ? file : "";
		obstacles->of[bit].controller = controllers[source->controller];
	}
	obstacles->met |= has;
}

bool rti_cgroup_is_v1(const struct rti_cgroup_look *look, enum rti_controller controller)
{
	const struct rti_cgroup_place *place = rti_cgroup_place_of(look->places, controller);

	return place && !place->is_v2;
}

bool rti_cgroup_is_root(const struct rti_cgroup_look *look, enum rti_controller controller)
{
	const struct rti_cgroup_place *place = rti_cgroup_place_of(look->places, controller);

	return place && place->depth == 0;
}

/* A file that is missing where a directory is there. */
static enum rti_cause cause_of(const struct rti_cgroup_place *place, int err)
{
	if (err == -EOPNOTSUPP)
		return RTI_CAUSE_NO_FIGURE;
	if (err != -ENOENT)
		return RTI_CAUSE_READ;
	if (place->depth == 0)
		return RTI_CAUSE_CGROUP_ROOT;
	return place->is_v2 ? RTI_CAUSE_CGROUP_CONTROLLER : RTI_CAUSE_NO_FIGURE;
}

int rti_cgroup_read(struct rti_cgroup_look *look, const struct rti_cgroup_source *source,
                    struct rti_file *file, uint64_t has)
{
	const struct rti_cgroup_place *place =
	    rti_cgroup_place_of(look->places, source->controller);
	enum rti_cause cause = RTI_CAUSE_CGROUP_UNMOUNTED;
	int err = -ENOENT;

	if (place && place->dir.fd < 0) {
		err = place->error;
		cause = err == -ENOENT ? RTI_CAUSE_CGROUP_DIRECTORY : RTI_CAUSE_READ;
	} else if (place && !(place->is_v2 ? source->v2 : source->v1)) {
		err = -EOPNOTSUPP;
		cause = RTI_CAUSE_CGROUP_VERSION;
	} else if (place) {
		err = rti_procfs_read_in(look->ctx->procfs, &place->dir,
		                         place->is_v2 ? source->v2 : source->v1, RTI_SEQ_FILE, file,
		                         look->ctx->buf);
		cause = cause_of(place, err);
	}
	if (err < 0)
		rti_cgroup_note(look, source, has, cause, err);
	return err;
}

int rti_cgroup_read_number(struct rti_cgroup_look *look, const struct rti_cgroup_source *source,
                           struct rti_file *file, uint64_t has, uint64_t *out)
{
	int err = rti_cgroup_read(look, source, file, has);

	if (err < 0)
		return err;
	err = rti_parse_cgroup_limit(look->ctx->buf->data, look->ctx->buf->len, out);
	if (err < 0)
		rti_cgroup_note(look, source, has, RTI_CAUSE_READ, err);
	return err;
}

/* --- Limits on all levels. --- */

void rti_cgroup_levels_init(struct rti_cgroup_levels *levels)
{
	for (int i = 0; i < RTI_LEVELS_KEPT; i++)
		levels->file[i] = (struct rti_file)RTI_FILE_INIT;
}

void rti_cgroup_levels_close(struct rti_cgroup_levels *levels, const struct rti_context *ctx)
{
	for (int i = 0; i < RTI_LEVELS_KEPT; i++)
		rti_procfs_close_file(ctx->procfs, &levels->file[i]);
}

/* The caller has read another file of the same controller, so the directory is there. */
int rti_cgroup_read_level(struct rti_cgroup_look *look, const struct rti_cgroup_source *source,
                          unsigned level, struct rti_cgroup_levels *levels, uint64_t has)
{
	const struct rti_cgroup_place *place =
	    rti_cgroup_place_of(look->places, source->controller);
	const char *name = place->is_v2 ? source->v2 : source->v1;
	struct rti_file once = RTI_FILE_INIT;
	int err;

	if (level > place->depth)
		return -ENOENT;
	err = rti_procfs_read_above(look->ctx->procfs, &place->dir, level, name, RTI_SINGLE_RECORD,
	                            level < RTI_LEVELS_KEPT ? &levels->file[level] : &once,
	                            look->ctx->buf);
	rti_procfs_close_file(look->ctx->procfs, &once);
	if (err < 0 && (err != -ENOENT || level < place->depth))
		rti_cgroup_note(look, source, has, cause_of(place, err), err);
	return err == -ENOENT && level < place->depth ? -EIO : err;
}

int rti_cgroup_read_least(struct rti_cgroup_look *look, const struct rti_cgroup_source *source,
                          struct rti_cgroup_levels *levels, uint64_t has,
                          int (*parse)(const char *data, size_t len, uint64_t *out),
                          uint64_t *least)
{
	*least = RTI_NO_LIMIT;
	for (unsigned i = 0;; i++) {
		uint64_t limit = RTI_NO_LIMIT;
		int err = rti_cgroup_read_level(look, source, i, levels, has);

		if (err == -ENOENT)
			return 0;
		if (err < 0)
			return err;
		err = parse(look->ctx->buf->data, look->ctx->buf->len, &limit);
		if (err < 0) {
			rti_cgroup_note(look, source, has, RTI_CAUSE_READ, err);
			return err;
		}
		*least = limit < *least ? limit : *least;
	}
}
