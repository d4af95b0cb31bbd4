/* SPDX-License-Identifier: MIT */
/* Finds a cgroup by its name, in every hierarchy that is mounted. */
#include "os/cgroup/cgroup_find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/cgroup/cgroup_mount.h"
#include "parse/parse.h"
#include "util/visit.h"

#define NAME_SIZE 1024

/* What is looked for, and in which hierarchy it must be. */
struct search {
	struct rti_cgroup_places *places;
	const struct rti_context *ctx;
	char name[NAME_SIZE]; /* as in /proc/PID/cgroup: "/" or "/a/b" */
	const char *given;    /* what the caller wrote */
	/* Of the own cgroup, /proc/self/cgroup: it may have another name in each hierarchy. Else
	 * NULL. */
	const struct rti_buf *own;
	size_t point_len; /* of the longest mount point that it begins with; 0: none */
	bool needs_hierarchy;
	uint32_t major, minor;           /* that hierarchy, once it is known */
	struct rti_scan wanted;          /* or its first controller; empty is v2 */
	bool is_by_controller, has_seen; /* wanted is set; that hierarchy is mounted */
};

/* --- The name. --- */

/* Append the next component of a path. Returns false if it is no name of a cgroup, or too long. */
static bool append_component(char out[NAME_SIZE], size_t *len, const char *at, size_t component_len)
{
	if (component_len == 0 || (component_len == 1 && at[0] == '.'))
		return true;
	if ((component_len == 2 && at[0] == '.' && at[1] == '.') ||
	    *len + 1 + component_len >= NAME_SIZE)
		return false;
	out[(*len)++] = '/';
	memcpy(out + *len, at, component_len);
	*len += component_len;
	out[*len] = '\0';
	return true;
}

/* Append a path to a name, without "." and doubled slashes. ".." is refused: the name shall say
 * where the cgroup is. */
static int append_path(char out[NAME_SIZE], const char *path, size_t path_len)
{
	const char *end = path + path_len;
	size_t len = strcmp(out, "/") == 0 ? 0 : strlen(out);

	while (path < end) {
		const char *slash = memchr(path, '/', (size_t)(end - path));
		size_t component_len = (size_t)((slash ? slash : end) - path);

		if (!append_component(out, &len, path, component_len))
			return component_len > 2 ? -ENAMETOOLONG : -EINVAL;
		path += component_len + (slash ? 1 : 0);
	}
	if (len == 0)
		memcpy(out, "/", 2);
	return 0;
}

static int take_line(void *arg, const struct rti_pid_cgroup *entry)
{
	struct search *search = arg;
	struct rti_scan controllers = entry->controllers;

	if (search->needs_hierarchy) /* a second line */
		return -EINVAL;
	search->needs_hierarchy = search->is_by_controller = true;
	if (entry->hierarchy == 0 || !rti_scan_item(&controllers, &search->wanted))
		search->wanted = (struct rti_scan){ entry->path.at, entry->path.at };
	return append_path(search->name, entry->path.at,
	                   (size_t)(entry->path.end - entry->path.at));
}

/* --- The mounts. --- */

static bool is_cgroup(const struct rti_mount *mount)
{
	return !mount->is_cut &&
	       (strcmp(mount->type, "cgroup") == 0 || strcmp(mount->type, "cgroup2") == 0);
}

/* If the caller wrote the path of a directory, it begins with a mount point. The longest one
 * belongs to the file system that the directory is on. */
static int match_point(void *arg, const struct rti_mount *mount)
{
	struct search *search = arg;
	size_t len = strlen(mount->mount_point);
	char root[NAME_SIZE];
	int err;

	if (!is_cgroup(mount) || len <= search->point_len ||
	    strncmp(search->given, mount->mount_point, len) != 0 ||
	    (search->given[len] != '/' && search->given[len] != '\0') ||
	    !rti_scan_copy_unescaped(&mount->root, root, sizeof(root)))
		return RTI_CONTINUE;
	search->name[0] = '\0';
	/* A root that lies outside of the cgroup namespace is in no name. */
	if (append_path(search->name, root, strlen(root)) < 0)
		search->name[0] = '\0';
	err = append_path(search->name, search->given + len, strlen(search->given + len));
	search->point_len = len;
	search->needs_hierarchy = search->has_seen = true;
	search->major = mount->major;
	search->minor = mount->minor;
	return err;
}

/* Returns bits of a list such as "rw,cpu,cpuacct". */
static uint32_t controllers_in(struct rti_scan list)
{
	static const char *const names[RTI_CONTROLLERS] = { "cpu", "cpuacct", "memory", "blkio",
		                                            "pids" };
	struct rti_scan item;
	uint32_t found = 0;

	while (rti_scan_item(&list, &item)) {
		for (int i = 0; i < RTI_CONTROLLERS; i++)
			found |= rti_scan_is(&item, names[i]) ? 1u << i : 0;
	}
	return found;
}

/* Returns the place of the hierarchy that a mount shows, which is added if it is new, or NULL if
 * there is no room. */
static struct rti_cgroup_place *place_of(struct rti_cgroup_places *places,
                                         const struct rti_mount *mount)
{
	for (uint32_t i = 0; i < places->count; i++) {
		struct rti_cgroup_place *place = &places->place[i];

		if (place->major == mount->major && place->minor == mount->minor)
			return place;
	}
	if (places->count == RTI_CGROUP_PLACES_MAX)
		return NULL;
	places->place[places->count] = (struct rti_cgroup_place){
		.dir = RTI_FILE_INIT,
		.error = -ENOENT,
		.is_v2 = strcmp(mount->type, "cgroup2") == 0,
		.controllers = controllers_in(mount->super_options),
		.major = mount->major,
		.minor = mount->minor,
	};
	return &places->place[places->count++];
}

/* Note the hierarchy that the caller's line was about. */
static void match_controller(struct search *search, const struct rti_mount *mount,
                             const struct rti_cgroup_place *place)
{
	struct rti_scan options = mount->super_options, item;
	size_t len = (size_t)(search->wanted.end - search->wanted.at);
	bool is_same = place->is_v2 && len == 0;

	if (!search->is_by_controller || search->has_seen)
		return;
	while (len > 0 && !place->is_v2 && !is_same && rti_scan_item(&options, &item))
		is_same = (size_t)(item.end - item.at) == len &&
		          memcmp(item.at, search->wanted.at, len) == 0;
	if (!is_same)
		return;
	search->has_seen = true;
	search->major = mount->major;
	search->minor = mount->minor;
}

/* What is looked for in /proc/self/cgroup: the line of a hierarchy. */
struct own_line {
	const struct rti_cgroup_place *place;
	char *name;
	bool is_found;
};

static int take_own_line(void *arg, const struct rti_pid_cgroup *entry)
{
	struct own_line *line = arg;
	bool is_v2 = entry->hierarchy == 0;
	size_t len = (size_t)(entry->path.end - entry->path.at);

	if (is_v2 != line->place->is_v2 ||
	    (!is_v2 && !(controllers_in(entry->controllers) & line->place->controllers)) ||
	    len >= NAME_SIZE)
		return RTI_CONTINUE;
	rti_scan_copy(&entry->path, line->name, NAME_SIZE);
	line->is_found = true;
	return RTI_STOP;
}

/* Set the name that the own cgroup has in a hierarchy. Returns false if it is not known there. */
static bool get_own_name(const struct search *search, const struct rti_cgroup_place *place,
                         char name[NAME_SIZE])
{
	struct own_line line = { .place = place, .name = name };

	rti_parse_pid_cgroup(search->own->data, search->own->len, take_own_line, &line);
	return line.is_found;
}

static void open_place(const struct search *search, struct rti_cgroup_place *place,
                       const char *point, const char *below)
{
	size_t len = strlen(point), below_len = strlen(below);
	char path[2 * NAME_SIZE];

	if (len + below_len >= sizeof(path))
		return;
	memcpy(path, point, len);
	memcpy(path + len, below, below_len + 1);
	place->error = rti_procfs_open_dir(search->ctx->procfs, RTI_ROOT, path + 1, &place->dir);
	place->depth = 0;
	for (; *below; below++)
		place->depth += *below == '/';
}

/* The name may be as /proc/PID/cgroup has it, or begin below the mount. Both are the same unless
 * the mount shows a part of the hierarchy alone, as in containers of cgroup v1. That of the own
 * cgroup is as /proc/PID/cgroup has it. E.g.: "/" of a cgroup namespace, where a mount from outside
 * of it shows the cgroups of others. */
static int open_in_mount(void *arg, const struct rti_mount *mount)
{
	struct search *search = arg;
	struct rti_cgroup_place *place = is_cgroup(mount) ? place_of(search->places, mount) : NULL;
	const char *below;

	if (!place || place->dir.fd >= 0 || mount->mount_point[0] != '/')
		return RTI_CONTINUE;
	if (search->own && !get_own_name(search, place, search->name))
		return RTI_CONTINUE;
	match_controller(search, mount, place);
	below = rti_cgroup_below_mount(search->name, &mount->root);
	if (below)
		open_place(search, place, mount->mount_point, below);
	if (place->dir.fd < 0 && !search->own && !rti_scan_is(&mount->root, "/"))
		open_place(search, place, mount->mount_point,
		           strcmp(search->name, "/") == 0 ? "" : search->name);
	return RTI_CONTINUE;
}

/* --- Which of the places counts. --- */

/* v2 first, then hierarchies that account for something. */
static unsigned rank(const struct rti_cgroup_place *place)
{
	if (place->is_v2)
		return 2;
	return place->controllers ? 1 : 0;
}

/* No cgroup has a name that is too long. A place that may not be searched may have it. */
static int error_of(const struct rti_cgroup_places *places)
{
	for (uint32_t i = 0; i < places->count; i++) {
		int err = places->place[i].error;

		if (err < 0 && err != -ENOENT && err != -ENOTDIR && err != -ENAMETOOLONG)
			return err;
	}
	return places->count ? -ENOENT : -EOPNOTSUPP;
}

static int choose_main(struct search *search)
{
	struct rti_cgroup_places *places = search->places;
	bool is_found = false;

	for (uint32_t i = 0; i < places->count; i++) {
		const struct rti_cgroup_place *place = &places->place[i];
		bool is_wanted = !search->needs_hierarchy ||
		                 (search->has_seen && place->major == search->major &&
		                  place->minor == search->minor);

		if (place->dir.fd < 0 || !is_wanted)
			continue;
		if (!is_found || rank(place) > rank(&places->place[places->main]))
			places->main = i;
		is_found = true;
	}
	return is_found ? 0 : error_of(places);
}

/* Another root may belong to a host, with the mounts of its init. */
static int read_mounts(const struct rti_context *ctx)
{
	int err = -ENOENT;

	if (ctx->procfs->is_foreign)
		err = rti_procfs_read(ctx->procfs, RTI_PROC, "1/mountinfo", RTI_SEQ_FILE, ctx->buf);
	if (err < 0 && err != -ENOMEM && !rti_is_out_of_files(err))
		err = rti_procfs_read(ctx->procfs, RTI_PROC, "self/mountinfo", RTI_SEQ_FILE,
		                      ctx->buf);
	return err;
}

int rti_cgroup_find(struct rti_cgroup_places *out, const struct rti_context *ctx, const char *name)
{
	struct search search = { .places = out, .ctx = ctx, .given = name };
	struct rti_mount *mount = malloc(sizeof(*mount));
	size_t len = strlen(name);
	int err = mount ? 0 : -ENOMEM;

	*out = (struct rti_cgroup_places){ 0 };
	if (err == 0)
		err = name[0] == '/' ? append_path(search.name, name, len)
		                     : rti_parse_pid_cgroup(name, len, take_line, &search);
	if (err == -EBADMSG || (err == 0 && len == 0)) /* neither a path nor a line of its file */
		err = -EINVAL;
	if (err == 0)
		err = read_mounts(ctx);
	if (err == 0 && name[0] == '/')
		err =
		    rti_parse_mountinfo(ctx->buf->data, ctx->buf->len, mount, match_point, &search);
	if (err == 0)
		err = rti_parse_mountinfo(ctx->buf->data, ctx->buf->len, mount, open_in_mount,
		                          &search);
	free(mount);
	if (err == 0)
		err = choose_main(&search);
	if (err < 0)
		rti_cgroup_places_close(out, ctx);
	return err == -ENAMETOOLONG ? -ENOENT : err;
}

/* A quota holds for the cgroup that has it. CPU time of a cgroup with another name says nothing
 * about it, so forget where that would come from.
 * E.g.: a hybrid system keeps services in v2, and all of them in "/" of cpu. */
static void keep_account_of_quota(struct search *search, const struct rti_context *ctx)
{
	struct rti_cgroup_places *places = search->places;
	const struct rti_cgroup_place *quota = rti_cgroup_place_of(places, RTI_CONTROLLER_CPU);
	char name[NAME_SIZE];

	if (!quota || !get_own_name(search, quota, search->name))
		return;
	for (uint32_t i = 0; i < places->count; i++) {
		struct rti_cgroup_place *place = &places->place[i];
		bool has_time = place->is_v2 || place->controllers >> RTI_CONTROLLER_CPUACCT & 1;

		if (has_time && place != quota && get_own_name(search, place, name) &&
		    strcmp(name, search->name) != 0)
			rti_procfs_close_file(ctx->procfs, &place->dir);
	}
}

int rti_cgroup_find_own(struct rti_cgroup_places *out, const struct rti_context *ctx)
{
	struct rti_buf own = { 0 };
	struct search search = { .places = out, .ctx = ctx, .own = &own };
	struct rti_mount *mount = malloc(sizeof(*mount));
	int err = mount ? 0 : -ENOMEM;

	*out = (struct rti_cgroup_places){ 0 };
	if (err == 0)
		err = rti_procfs_read(ctx->procfs, RTI_PROC, "self/cgroup", RTI_SEQ_FILE, &own);
	if (err == 0)
		err = read_mounts(ctx);
	if (err == 0)
		err = rti_parse_mountinfo(ctx->buf->data, ctx->buf->len, mount, open_in_mount,
		                          &search);
	if (err == 0)
		keep_account_of_quota(&search, ctx);
	free(mount);
	rti_buf_free(&own);
	if (err < 0)
		rti_cgroup_places_close(out, ctx);
	return err;
}

void rti_cgroup_places_close(struct rti_cgroup_places *places, const struct rti_context *ctx)
{
	for (uint32_t i = 0; i < places->count; i++)
		rti_procfs_close_file(ctx->procfs, &places->place[i].dir);
	*places = (struct rti_cgroup_places){ 0 };
}

const struct rti_cgroup_place *rti_cgroup_place_of(const struct rti_cgroup_places *places,
                                                   enum rti_controller controller)
{
	const struct rti_cgroup_place *v2 = NULL;

	for (uint32_t i = 0; i < places->count; i++) {
		if (places->place[i].controllers >> controller & 1)
			return &places->place[i];
		if (places->place[i].is_v2)
			v2 = &places->place[i];
	}
	return v2;
}

const struct rti_cgroup_place *rti_cgroup_place_v2(const struct rti_cgroup_places *places)
{
	for (uint32_t i = 0; i < places->count; i++)
		if (places->place[i].is_v2 && places->place[i].dir.fd >= 0)
			return &places->place[i];
	return NULL;
}
