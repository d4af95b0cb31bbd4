/* SPDX-License-Identifier: MIT */
/* Cgroups by any name among any mounts: nothing is opened outside of a mount, nothing stays open,
 * and what is found is a cgroup. */
#include "input.h"
#include "memory_files.h"

#include <stdio.h>

#include "os/cgroup/cgroup.h"
#include "os/cgroup/cgroup_find.h"
#include "os/cgroup/cgroup_members.h"

#define MOUNTS_MAX 6
#define TEXT_BYTES 16384

static const char *const points[] = {
	"/sys/fs/cgroup",
	"/sys/fs/cgroup/memory",
	"/sys/fs/cgroup/unified",
	"/sys/fs/cgroup/a",
	"/mnt/with\\040space",
	"/mnt/line\\012break",
	"/sys/fs/cgroup/cpu,cpuacct",
	"/",
};
static const char *const roots[] = { "/",    "/a",      "/a/b",         "/..",     "/../x",
	                             "/..a", "/a/../b", "/docker/0123", "/a\\040b" };
static const char *const types[] = { "cgroup2", "cgroup", "cgroup", "tmpfs", "cgroup3" };
static const char *const options[] = { "rw",        "rw,memory",       "ro,cpu,cpuacct",
	                               "rw,cpuset", "rw,name=systemd", "rw,blkio,pids",
	                               "," };
static const char *const names[] = { "/",
	                             "/a",
	                             "/a/b",
	                             "//a/./b/",
	                             "/..",
	                             "/a/..",
	                             "/..a",
	                             "/a b",
	                             "0::/a",
	                             "4:memory:/a",
	                             "1:name=systemd:/",
	                             "0::/../x",
	                             "a",
	                             "",
	                             "/sys/fs/cgroup/memory/a",
	                             "/sys/fs/cgroup",
	                             "/mnt/with space/a",
	                             "0::/a (deleted)" };
static const char *const listed[] = { "0::/a\n",
	                              "0::/\n",
	                              "4:memory:/a/b\n",
	                              "0::/../x\n",
	                              "3:cpu,cpuacct:/a\n",
	                              "2:pids,blkio:/\n",
	                              "1:name=systemd:/a\n",
	                              ":::\n",
	                              "9:cpuset:/a b\n" };

#define PICK(in, list) (list)[take_below((in), sizeof(list) / sizeof((list)[0]))]

static uint8_t directories; /* which there are */

static bool has_parent(const char *path)
{
	for (const char *at = strstr(path, "/.."); at; at = strstr(at + 1, "/.."))
		if (at[3] == '\0' || at[3] == '/')
			return true;
	return false;
}

/* Every path that is not a file comes by. */
static bool has_directory(const char *path)
{
	require(!has_parent(path));
	return strncmp(path, "/proc", 5) != 0 && directories >> (strlen(path) % 8) & 1;
}

static size_t make_mounts(struct fuzz_input *in, char *out)
{
	size_t len = 0;

	for (uint32_t i = take_below(in, MOUNTS_MAX + 1); i > 0; i--) {
		const char *root = PICK(in, roots), *point = PICK(in, points),
			   *type = PICK(in, types);
		uint32_t minor = take_below(in, 4);

		len += (size_t)snprintf(out + len, TEXT_BYTES - len,
		                        "%u 1 0:%u %s %s %s shared:1 - %s x %s\n", i, minor, root,
		                        point, PICK(in, options), type, PICK(in, options));
	}
	return len;
}

static size_t make_list(struct fuzz_input *in, char *out)
{
	size_t len = 0;

	for (uint32_t i = take_below(in, 5); i > 0; i--)
		len += (size_t)snprintf(out + len, TEXT_BYTES - len, "%s", PICK(in, listed));
	return len;
}

/* Change a few bytes, but make no file of what is no text. */
static void disturb(struct fuzz_input *in, char *text, size_t len)
{
	for (uint8_t changes = take_u8(in) >= 200 ? take_u8(in) % 4 : 0; changes > 0 && len;
	     changes--)
		text[take_below(in, (uint32_t)len)] = (char)take_u8(in);
}

static int visit_pid(void *arg, int32_t pid)
{
	(void)arg;
	return pid == 7;
}

static void try_find(struct fuzz_input *in, const struct rti_context *ctx)
{
	struct rti_cgroup_places places;
	struct rti_cgroup_members members;
	char name[64];
	int err;

	snprintf(name, sizeof(name), "%s", PICK(in, names));
	if (take_u8(in) >= 224)
		disturb(in, name, strlen(name));
	err = rti_cgroup_find(&places, ctx, name);
	if (err < 0)
		return;
	require(places.count <= RTI_CGROUP_PLACES_MAX && places.main < places.count);
	require(places.place[places.main].dir.fd >= 0);
	rti_cgroup_members_init(&members);
	rti_cgroup_members_check_pids(&members, ctx, &places.place[places.main]);
	rti_cgroup_members_list(&members, ctx, &places.place[places.main], visit_pid, NULL);
	rti_cgroup_members_free(&members, ctx);
	rti_cgroup_places_close(&places, ctx);
}

static void try_enclosing(struct fuzz_input *in, const struct rti_context *ctx)
{
	struct rti_cgroup group = RTI_CGROUP_INIT;
	int err = rti_cgroup_enclosing(&group, ctx);

	require(err == 0 || err == -EOPNOTSUPP);
	if (err < 0)
		return;
	require(group.count > 0 && group.count <= RTI_CGROUP_DIRS_MAX);
	for (uint32_t i = 0; i < group.count; i++) {
		require_string(group.dir[i].path, sizeof(group.dir[i].path));
		require(group.dir[i].path[0] == '/' && !has_parent(group.dir[i].path));
		require(!strchr(group.dir[i].path, '\n'));
	}
	rti_cgroup_check_process(&group, ctx, 7, take_below(in, 3));
	rti_cgroup_close(&group, ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char stat[] = "7 (a) S 1 1 1 0 -1 0 1 0 1 0 3 4 5 6 20 0 1 0 1 1000 100 0\n";
	static char mounts[TEXT_BYTES], own[TEXT_BYTES], other[TEXT_BYTES];
	struct fuzz_input in = fuzz_input(data, len);
	struct rti_procfs procfs;
	struct rti_platform platform;
	struct rti_buf buf = { 0 };
	struct rti_context ctx = { .procfs = &procfs, .platform = &platform, .buf = &buf };
	size_t mounts_len = make_mounts(&in, mounts), own_len = make_list(&in, own),
	       other_len = make_list(&in, other);

	disturb(&in, mounts, mounts_len);
	disturb(&in, own, own_len);
	directories = take_u8(&in);
	memory_files_begin();
	memory_files_set("/proc/self/mountinfo", mounts, mounts_len);
	memory_files_set("/proc/self/cgroup", own, own_len);
	memory_files_set("/proc/7/cgroup", other, other_len);
	memory_files_set("/proc/7/stat", stat, sizeof(stat) - 1);
	memory_files_has_directory = has_directory;
	require(rti_procfs_open(&procfs, NULL, &memory_files) == 0);
	rti_platform_init(&platform, false);
	if (take_u8(&in) % 2)
		try_find(&in, &ctx);
	else
		try_enclosing(&in, &ctx);
	rti_buf_free(&buf);
	rti_procfs_close(&procfs);
	require(memory_files_open() == 0);
	return 0;
}
