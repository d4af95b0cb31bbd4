/* SPDX-License-Identifier: MIT */
/* What a collector of a cgroup is: one account of the kernel, one file, one table entry.
 *
 * It differs from a collector of the system in where it reads: in the directories that the cgroup
 * has in each hierarchy, which may lack the controller. So each domain may be missing for a reason
 * of its own. */
#ifndef RTI_CGROUP_COLLECTOR_H
#define RTI_CGROUP_COLLECTOR_H

#include <rtrack/rtrack.h>

#include "collect/status.h"
#include "os/cgroup/cgroup_find.h"

/* Why domains are missing in this sample. Written by cgroup_read.c. */
struct rti_cgroup_obstacles {
	uint64_t met; /* RT_HAS_ bits; an entry means something only if its bit is set */
	struct {
		enum rti_cause cause;
		int error;              /* -errno */
		const char *file;       /* in the directory of the cgroup */
		const char *controller; /* that has it */
	} of[64];                       /* by bit number of RT_HAS_ */
};

/* What a collector works with in one sample. */
struct rti_cgroup_look {
	const struct rti_context *ctx;
	const struct rti_cgroup_places *places;
	uint64_t want; /* RT_HAS_ bits */
	struct rti_cgroup_obstacles *obstacles;
	bool is_gone; /* a directory has been removed */
	struct rt_metrics *out;
};

/* collect() writes its fields first and sets their bits last, each in one of the three masks. */
struct rti_cgroup_collector {
	uint64_t provides;
	size_t state_size;
	void (*open)(void *state); /* gets zeroed memory */
	void (*collect)(void *state, struct rti_cgroup_look *look);
	void (*close)(void *state, const struct rti_context *ctx);
};

extern const struct rti_cgroup_collector *const rti_cgroup_collectors[];
extern const size_t rti_cgroup_collector_count;

/* RT_HAS_ bits that they provide. */
uint64_t rti_cgroup_domains(void);

/* --- For collectors (cgroup_read.c). --- */

/* A file of both versions. NULL: that version has none. */
struct rti_cgroup_source {
	enum rti_controller controller;
	const char *v2, *v1;
};

/* Read a file into the scratch buffer of the context. If it cannot be read, note that as the
 * obstacle of has. Returns 0 or -errno. */
int rti_cgroup_read(struct rti_cgroup_look *look, const struct rti_cgroup_source *source,
                    struct rti_file *file, uint64_t has);

/* The same, and take the one number that it consists of. "max" is UINT64_MAX. */
int rti_cgroup_read_number(struct rti_cgroup_look *look, const struct rti_cgroup_source *source,
                           struct rti_file *file, uint64_t has, uint64_t *out);

/* Note an obstacle of a source that was read. */
void rti_cgroup_note(struct rti_cgroup_look *look, const struct rti_cgroup_source *source,
                     uint64_t has, enum rti_cause cause, int err);

/* Whether the figures of a controller come from v1. */
bool rti_cgroup_is_v1(const struct rti_cgroup_look *look, enum rti_controller controller);

/* Whether the directory of the cgroup is the root of the mount of a controller. */
bool rti_cgroup_is_root(const struct rti_cgroup_look *look, enum rti_controller controller);

/* Files of a cgroup and of the cgroups above it, which stay open. Files of further levels are
 * opened each time. Filled with RTI_FILE_INIT at first. */
#define RTI_LEVELS_KEPT 16
struct rti_cgroup_levels {
	struct rti_file file[RTI_LEVELS_KEPT];
};

void rti_cgroup_levels_init(struct rti_cgroup_levels *levels);
void rti_cgroup_levels_close(struct rti_cgroup_levels *levels, const struct rti_context *ctx);

/* Read the file of one level into the scratch buffer: 0 is the cgroup itself. A level without the
 * file is the root. Returns 0; -ENOENT at the root; or another -errno, with the obstacle of has
 * noted. */
int rti_cgroup_read_level(struct rti_cgroup_look *look, const struct rti_cgroup_source *source,
                          unsigned level, struct rti_cgroup_levels *levels, uint64_t has);

/* Take the least of a limit on all levels. parse() takes it from a file. The root has none. Returns
 * 0; or -errno, with the obstacle of has noted. */
int rti_cgroup_read_least(struct rti_cgroup_look *look, const struct rti_cgroup_source *source,
                          struct rti_cgroup_levels *levels, uint64_t has,
                          int (*parse)(const char *data, size_t len, uint64_t *out),
                          uint64_t *least);

#endif
