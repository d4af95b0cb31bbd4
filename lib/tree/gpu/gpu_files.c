/* SPDX-License-Identifier: MIT */
/* Which descriptors of the members are of GPUs. */
#include "tree/gpu/gpu_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/pid_mm.h"
#include "collect/pid_stat.h"
#include "os/pid_file.h"
#include "tree/gpu/gpu_rows.h"
#include "util/array.h"
#include "util/visit.h"

#define CHECK_EVERY_NS UINT64_C(1000000000)
#define LIST_EVERY_NS UINT64_C(1000000000)
#define GROWTH_BYTES (UINT64_C(1) << 20)
#define LOOKS_PER_LIST 16
#define MEMBERS_PER_LOOK 128
#define MEMBERS_PER_LIST 1024 /* where the number of descriptors is not known */

/* --- Drivers --- */

static int find_card(void *arg, const char *name)
{
	bool *has_card = arg;

	*has_card = strncmp(name, "card", 4) == 0 || strncmp(name, "renderD", 7) == 0;
	return *has_card ? RTI_STOP : RTI_CONTINUE;
}

/* A driver of NVIDIA, or of a compute device, need not have any DRM device. In a container
 * /sys may be hidden, but not the devices that it is given. */
static bool has_driver(const struct rti_context *ctx)
{
	static const struct {
		enum rti_base base;
		const char *path;
	} signs[] = {
		{ RTI_PROC, "driver/nvidia" }, { RTI_ROOT, "dev/nvidiactl" },
		{ RTI_ROOT, "dev/dri" },       { RTI_ROOT, "dev/kfd" },
		{ RTI_ROOT, "dev/dxg" },
	};
	bool has_card = false;

	rti_procfs_list(ctx->procfs, RTI_SYS, "class/drm", find_card, &has_card);
	for (size_t i = 0; !has_card && i < sizeof(signs) / sizeof(signs[0]); i++)
		has_card = rti_procfs_access(ctx->procfs, signs[i].base, signs[i].path) == 0;
	return has_card;
}

static void check_drivers(struct rti_gpu_files *files, const struct rti_context *ctx,
                          uint64_t now_ns)
{
	if (files->checked_at_ns && now_ns - files->checked_at_ns < CHECK_EVERY_NS)
		return;
	files->checked_at_ns = now_ns;
	if (has_driver(ctx) == files->is_present)
		return;
	files->is_present = !files->is_present;
	files->was_present = true;
	files->must_look_at_all = true;
	files->member_count = files->file_count = 0;
}

/* --- What is known of members --- */

/* It is where it was the last time, unless others were forgotten since. */
static struct rti_gpu_member *find_known(const struct rti_gpu_files *files, struct rti_member *m)
{
	if (!m->gpu.is_known)
		return NULL;
	if (m->gpu.index < files->member_count && files->member[m->gpu.index].pid == m->pid)
		return &files->member[m->gpu.index];
	for (size_t i = 0; i < files->member_count; i++) {
		if (files->member[i].pid != m->pid)
			continue;
		m->gpu.index = (uint32_t)i;
		return &files->member[i];
	}
	return NULL;
}

static void forget_files(struct rti_gpu_files *files, int32_t pid)
{
	size_t kept = 0;

	for (size_t i = 0; i < files->file_count; i++)
		if (files->file[i].pid != pid)
			files->file[kept++] = files->file[i];
	files->file_count = kept;
}

static void forget_member(struct rti_gpu_files *files, struct rti_gpu_member *known)
{
	forget_files(files, known->pid);
	*known = files->member[--files->member_count];
}

/* Forget what is known of processes that are no members any more, or no processes. */
static void forget_departed(struct rti_gpu_files *files, const struct rti_member_table *table)
{
	for (size_t i = files->member_count; i-- > 0;) {
		struct rti_gpu_member *known = &files->member[i];
		const struct rti_member *m = rti_member_find(table, known->pid);

		if (!m || m->end.has_exited || m->starttime != known->starttime ||
		    rti_pid_stat_is_zombie(&m->stat))
			forget_member(files, known);
	}
}

/* --- Listing --- */

struct lister {
	struct rti_tree *tree;
	struct rti_gpu_member found;
	int32_t tid;
};

struct rti_path rti_gpu_files_path(int32_t pid, int32_t tid, const char *file)
{
	return tid ? rti_task_path(pid, tid, file) : rti_pid_path(pid, file);
}

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static int add_file(struct lister *l, const char *fd)
{
	struct rti_gpu_files *files = &l->tree->gpu->files;
	struct rti_gpu_file *file =
	    rti_array_grow(files->file, &files->file_room, files->file_count + 1, sizeof(*file));

	if (!file)
		return -ENOMEM;
	files->file = file;
	file = &files->file[files->file_count++];
	*file = (struct rti_gpu_file){ .pid = l->found.pid, .tid = l->tid };
	strncat(file->fd, fd, sizeof(file->fd) - 1);
	return RTI_CONTINUE;
}

/* A descriptor that was closed meanwhile is none. */
static int look_at_descriptor(void *arg, const char *fd)
{
	struct lister *l = arg;
	char name[24] = "fd/", target[32];
	struct rti_path path;
	ssize_t n;

	strncat(name, fd, sizeof(name) - 4);
	path = rti_gpu_files_path(l->found.pid, l->tid, name);
	n = rti_procfs_readlink(l->tree->ctx->procfs, RTI_PROC, path.text, target, sizeof(target));
	if (n < 0)
		return n == -ENOENT ? RTI_CONTINUE : (int)n;
	if (begins_with(target, "/dev/dri/"))
		return add_file(l, fd);
	l->found.has_nvidia |= begins_with(target, "/dev/nvidia");
	/* ROCm works past the driver's clients, and so does what WSL passes through. */
	l->found.has_unreported |=
	    begins_with(target, "/dev/kfd") || begins_with(target, "/dev/dxg");
	return RTI_CONTINUE;
}

static void keep(struct rti_tree_gpu *gpu, const struct rti_member_table *table,
                 struct rti_member *m, const struct rti_gpu_member *found, size_t files_before)
{
	struct rti_gpu_files *files = &gpu->files;
	struct rti_gpu_member *known = find_known(files, m);

	m->gpu.is_known = found->err < 0 || found->has_nvidia || found->has_unreported ||
	                  files->file_count > files_before;
	if (!m->gpu.is_known) {
		if (known)
			forget_member(files, known);
		return;
	}
	if (!known) {
		known = rti_array_grow(files->member, &files->member_room, files->member_count + 1,
		                       sizeof(*known));
		if (!known) {
			files->file_count = files_before;
			files->must_look_at_all = true;
			m->gpu.is_known = false;
			rti_gpu_note_all_unknown(gpu, table, -ENOMEM, m->pid);
			return;
		}
		files->member = known;
		m->gpu.index = (uint32_t)files->member_count;
		known = &files->member[files->member_count++];
	}
	*known = *found;
}

static int list(struct lister *l)
{
	struct rti_path path = rti_gpu_files_path(l->found.pid, l->tid, "fd");

	return rti_procfs_list(l->tree->ctx->procfs, RTI_PROC, path.text, look_at_descriptor, l);
}

void rti_gpu_files_list(struct rti_tree *tree, struct rti_member *m)
{
	struct rti_gpu_files *files = &tree->gpu->files;
	struct lister l = {
		.tree = tree,
		.found = { .pid = m->pid, .starttime = m->starttime, .listed_at_ns = tree->now_ns }
	};
	struct rti_pid_stat stat;
	size_t files_before;
	int err;

	m->gpu.was_listed = true;
	m->gpu.clock_ns = m->clock.now.total_ns;
	m->gpu.descriptors = rti_procfs_count_descriptors(tree->ctx->procfs, m->pid);
	m->gpu.size_bytes = m->values.figures.size_bytes;
	if (m->gpu.is_known)
		forget_files(files, m->pid);
	files_before = files->file_count;
	err = list(&l);
	if (err == -ESRCH || err == -ENOENT) {
		/* The leader may have exited while other threads live on, which share its
		 * descriptors. Otherwise the process has ended, or hidepid hides it: that is an
		 * obstacle. */
		files->file_count = files_before;
		if (rti_pid_stat_read(tree->ctx, m->pid, NULL, &stat) == 0)
			l.tid = rti_pid_mm_thread(tree->ctx, m->pid, &stat);
		if (l.tid)
			err = list(&l);
		else
			err = rti_pid_file_is_hidden(tree->ctx, m->pid) ? -EACCES : 0;
	}
	if (err < 0 && err != -ESRCH && err != -ENOENT)
		l.found.err = err;
	keep(tree->gpu, &tree->table, m, &l.found, files_before);
}

/* --- When to list --- */

void rti_gpu_files_note_read(struct rti_tree_gpu *gpu, struct rti_member *m)
{
	struct rti_gpu_files *files;
	uint64_t now = m->values.figures.size_bytes, then = m->gpu.size_bytes;
	int32_t *due;

	if (!gpu || m->gpu.is_due || !gpu->files.is_present)
		return;
	if (m->gpu.was_listed && (now > then ? now - then : then - now) < GROWTH_BYTES)
		return;
	files = &gpu->files;
	due = rti_array_grow(files->due, &files->due_room, files->due_count + 1, sizeof(*due));
	if (!due) {
		files->must_look_at_all = true;
		return;
	}
	files->due = due;
	files->due[files->due_count++] = m->pid;
	m->gpu.is_due = true;
}

static bool is_readable(const struct rti_supervised_state *supervised, const struct rti_member *m)
{
	return !m->end.has_exited && m->pid != supervised->pid && !rti_pid_stat_is_zombie(&m->stat);
}

/* List if the number of descriptors has changed, or is not known. */
static void look_at_member(struct rti_tree *tree, struct rti_member *m)
{
	uint64_t count;

	m->gpu.is_due = false;
	if (!is_readable(&tree->supervised, m))
		return;
	m->gpu.clock_ns = m->clock.now.total_ns;
	m->gpu.size_bytes = m->values.figures.size_bytes;
	count = m->gpu.was_listed ? rti_procfs_count_descriptors(tree->ctx->procfs, m->pid) : 0;
	if (count == 0 || count != m->gpu.descriptors)
		rti_gpu_files_list(tree, m);
}

static void look_at_due(struct rti_tree *tree)
{
	struct rti_gpu_files *files = &tree->gpu->files;

	for (size_t i = 0; i < files->due_count; i++) {
		struct rti_member *m = rti_member_find(&tree->table, files->due[i]);

		if (m)
			look_at_member(tree, m);
	}
	files->due_count = 0;
}

static void look_at_all(struct rti_tree *tree)
{
	tree->gpu->files.must_look_at_all = false;
	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];

		m->gpu.is_due = false;
		if (is_readable(&tree->supervised, m))
			rti_gpu_files_list(tree, m);
	}
	tree->gpu->files.due_count = 0;
}

/* A process that has not run has opened nothing. Another one that shares its descriptors
 * (CLONE_FILES) has then, and shows it as well. */
static void look_in_turn(struct rti_tree *tree)
{
	struct rti_gpu_files *files = &tree->gpu->files;
	size_t count = tree->table.count, looks = 1 + count / MEMBERS_PER_LOOK;

	for (size_t i = 0; count > 0 && i < looks; i++) {
		struct rti_member *m = &tree->table.members[files->next++ % count];
		bool has_run = !m->gpu.was_listed || !m->clock.is_known ||
		               m->clock.now.total_ns != m->gpu.clock_ns;

		if (!has_run || !is_readable(&tree->supervised, m))
			continue;
		if (m->gpu.descriptors == 0)
			looks = 1 + count / MEMBERS_PER_LIST;
		if (++m->gpu.looks % LOOKS_PER_LIST == 0)
			rti_gpu_files_list(tree, m);
		else
			look_at_member(tree, m);
	}
}

/* Where the kernel does not say how many descriptors there are, they are listed once a second. */
static void look_at_users(struct rti_tree *tree)
{
	struct rti_gpu_files *files = &tree->gpu->files;

	for (size_t i = files->member_count; i-- > 0;) {
		const struct rti_gpu_member *known = &files->member[i];
		struct rti_member *m = rti_member_find(&tree->table, known->pid);
		bool is_old = tree->now_ns - known->listed_at_ns >= LIST_EVERY_NS;

		if (!m || known->listed_at_ns == tree->now_ns)
			continue;
		if (is_old ||
		    (m->gpu.descriptors &&
		     rti_procfs_count_descriptors(tree->ctx->procfs, m->pid) != m->gpu.descriptors))
			rti_gpu_files_list(tree, m);
	}
}

void rti_gpu_files_update(struct rti_tree *tree)
{
	struct rti_gpu_files *files = &tree->gpu->files;

	check_drivers(files, tree->ctx, tree->now_ns);
	if (!files->is_present)
		return;
	forget_departed(files, &tree->table);
	if (files->must_look_at_all)
		look_at_all(tree);
	look_at_due(tree);
	look_in_turn(tree);
	look_at_users(tree);
}

void rti_gpu_files_free(struct rti_gpu_files *files)
{
	free(files->member);
	free(files->file);
	free(files->due);
	*files = (struct rti_gpu_files){ 0 };
}
