/* SPDX-License-Identifier: MIT */
/* A fixture root with file systems that answer statvfs(3) as the test says, and the collector on
 * top. */
#ifndef FS_FIXTURE_H
#define FS_FIXTURE_H

#include "collect/patient_worker.h"
#include "fixture.h"
#include "sampler.h"

extern const struct rti_sys_collector rti_sys_fs;

/* The fields of a line of mountinfo from the mount options up to the separator. */
#define OPTIONS " rw,relatime shared:1 - "

struct fs_fixture {
	struct fixture root;
	struct sampler sampler;
};

extern struct fs_fixture fs;

/* Make the root, and forget all answers. */
void fs_set_up(void);

/* Close the collector and remove the root. */
void fs_tear_down(void);

/* Open the collector with these flags of struct rt_opts. */
void fs_open(uint32_t flags);

/* Open the collector for this system with no flags. Its mountinfo and its release are those below
 * the root, and so are the answers. */
void fs_open_own(void);

/* Whether the kernel says that the mounts of this system have changed. true by default. */
void fs_set_changed(bool has_changed);

/* Set what statvfs(3) returns for a path below the root: err (0 or negative) and the sizes. A path
 * without an answer yields -ENXIO. */
void fs_set_answer(const char *path, int err, uint64_t total, uint64_t free_bytes,
                   uint64_t available);

/* Set the device number in the answer for a path. 0:0 by default: unknown. */
void fs_set_device(const char *path, uint32_t major, uint32_t minor);

/* Set the id of the file system in the answer for a path. 0 by default: none. */
void fs_set_id(const char *path, uint64_t id);

/* Returns the id that the last query of a path had from before. */
uint64_t fs_get_known_id(const char *path);

/* Make the answer for a path block until the descriptor has a byte to read. 0: do not block. */
void fs_set_gate(const char *path, int gate);

/* Whether the last query of a path came from another thread than that of the test. */
bool fs_is_asked_by_thread(const char *path);

/* Returns how often statvfs(3) was called so far. */
unsigned fs_count_queries(void);

/* Returns the row with this index. Asserts the count of rows. */
const struct rt_filesystem *fs_get_row(size_t at, size_t expected_count);

/* Assert the totals of the last sample. */
void fs_expect_total(uint64_t total, uint64_t used, uint64_t free_bytes, uint64_t available,
                     uint64_t filesystems);

#endif
