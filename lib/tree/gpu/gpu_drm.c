/* SPDX-License-Identifier: MIT */
/* What members use of GPUs by DRM drivers: the fdinfo of their descriptors. */
#include "tree/gpu/gpu_rows.h"

#include <errno.h>
#include <string.h>

#include "tree/gpu/gpu_files.h"
#include "tree/state/state.h"
#include "util/array.h"

/* What a look at the descriptors of one member has come to. */
enum outcome {
	READ,
	CHANGED, /* they are others than were listed */
	ENDED    /* the process is gone */
};

/* --- Reading --- */

static int read_fdinfo(const struct rti_context *ctx, struct rti_tree_gpu *gpu,
                       const struct rti_gpu_file *file)
{
	struct rti_drm_fdinfo *info;
	char name[24] = "fdinfo/";
	struct rti_path path;
	int err;

	info = rti_array_grow(gpu->info, &gpu->info_room, gpu->info_count + 1, sizeof(*info));
	if (!info)
		return -ENOMEM;
	gpu->info = info;
	strncat(name, file->fd, sizeof(name) - 8);
	path = rti_gpu_files_path(file->pid, file->tid, name);
	err = rti_procfs_read(ctx->procfs, RTI_PROC, path.text, RTI_SEQ_FILE, ctx->buf);
	if (err == 0)
		err = rti_parse_drm_fdinfo(ctx->buf->data, ctx->buf->len,
		                           &gpu->info[gpu->info_count]);
	if (err == 0)
		gpu->info_count++;
	return err;
}

/* A descriptor that is of no DRM device any more was closed, and its number used again. If it has
 * only just been listed, it is of a driver that has no figures. That of NVIDIA has none there. */
static enum outcome judge(struct rti_tree_gpu *gpu, const struct rti_member_table *table,
                          const struct rti_gpu_member *known, int err, bool is_fresh)
{
	switch (err) {
	case 0:
		return READ;
	case -ESRCH:
		return ENDED;
	case -ENOENT:
		return is_fresh ? READ : CHANGED;
	case -EBADMSG:
		if (!is_fresh)
			return CHANGED;
		if (!known->has_nvidia)
			rti_gpu_note_all_unknown(gpu, table, -EOPNOTSUPP, known->pid);
		return READ;
	default:
		rti_gpu_note_all_unknown(gpu, table, err, known->pid);
		return READ;
	}
}

static enum outcome read_all(struct rti_tree *tree, const struct rti_gpu_member *known)
{
	struct rti_tree_gpu *gpu = tree->gpu;
	bool is_fresh = known->listed_at_ns == tree->now_ns;

	gpu->info_count = 0;
	for (size_t i = 0; i < gpu->files.file_count; i++) {
		enum outcome outcome;

		if (gpu->files.file[i].pid != known->pid)
			continue;
		outcome = judge(tree->gpu, &tree->table, known,
		                read_fdinfo(tree->ctx, tree->gpu, &gpu->files.file[i]), is_fresh);
		if (outcome != READ)
			return outcome;
	}
	return READ;
}

/* --- Clients --- */

/* What is known of the card of a client, which has the same address. A GPU that works in the memory
 * of the machine has none of its own. */
static struct rti_gpu_reading reading_of(const struct rti_tree_gpu *gpu,
                                         const struct rti_drm_client *client)
{
	struct rti_gpu_reading reading = { .pci = client->pci };

	rti_gpu_fail(&reading, -EOPNOTSUPP);
	memcpy(reading.driver, client->driver, sizeof(reading.driver));
	memcpy(reading.name, client->driver, sizeof(client->driver));
	for (size_t i = 0; i < gpu->drm.gpu_count; i++) {
		const struct rti_gpu_reading *card = &gpu->drm.gpu[i];

		if (client->pci.domain != UINT32_MAX &&
		    memcmp(&card->pci, &client->pci, sizeof(card->pci)) == 0)
			reading = *card;
	}
	reading.err[RTI_GPU_BUSY] = -EOPNOTSUPP;
	if (reading.err[RTI_GPU_MEMORY] < 0 && client->has_memory && !client->has_device_region) {
		reading.err[RTI_GPU_MEMORY] = 0;
		reading.memory_used_bytes = reading.memory_total_bytes = 0;
	}
	return reading;
}

static int add_client(struct rti_tree *tree, const struct rti_member *m,
                      const struct rti_drm_fdinfo *info)
{
	struct rti_tree_gpu *gpu = tree->gpu;
	struct rti_gpu_reading reading;
	struct rti_drm_look look;
	int err = rti_drm_clients_add(&gpu->clients, info, tree->now_ns, &look), row;

	if (err < 0)
		return err;
	reading = reading_of(gpu, look.client);
	row = rti_gpu_rows_add_device(gpu, &reading);
	if (row < 0)
		return row;
	if (look.is_first && !look.client->has_time)
		rti_gpu_note_unknown(tree->gpu, &tree->table, RTI_GPU_TIME, -EOPNOTSUPP, m->pid);
	if (look.is_first && !look.client->has_memory)
		rti_gpu_note_unknown(tree->gpu, &tree->table, RTI_GPU_HELD, -EOPNOTSUPP, m->pid);
	else if (look.is_first)
		rti_gpu_note_unknown(tree->gpu, &tree->table, RTI_GPU_HELD,
		                     reading.err[RTI_GPU_MEMORY], 0);
	return rti_gpu_rows_add_client(gpu, (size_t)row, m->pid, m->starttime, &look);
}

/* The pid may have been reused since the member was read: then what was read is of another
 * process. The driver of NVIDIA writes its name alone: its library has the figures. */
static void add_clients(struct rti_tree *tree, struct rti_gpu_member *known)
{
	struct rti_tree_gpu *gpu = tree->gpu;
	struct rti_member *m = rti_member_find(&tree->table, known->pid);

	if (!m || !rti_member_is_alive(tree->ctx, m))
		return;
	for (size_t i = 0; i < gpu->info_count; i++) {
		if (strcmp(gpu->info[i].driver, "nvidia-drm") == 0) {
			known->has_nvidia = true;
			continue;
		}
		rti_gpu_note_all_unknown(tree->gpu, &tree->table,
		                         add_client(tree, m, &gpu->info[i]), m->pid);
	}
}

static void look_at(struct rti_tree *tree, size_t i)
{
	struct rti_gpu_files *files = &tree->gpu->files;
	struct rti_member *m = rti_member_find(&tree->table, files->member[i].pid);
	enum outcome outcome = read_all(tree, &files->member[i]);

	if (outcome == CHANGED && m) {
		rti_gpu_files_list(tree, m);
		/* It may have none any more. Then the last one has taken its place. */
		if (i >= files->member_count || files->member[i].pid != m->pid)
			return;
		outcome = read_all(tree, &files->member[i]);
	}
	if (outcome == READ && tree->gpu->info_count > 0)
		add_clients(tree, &files->member[i]);
}

void rti_gpu_drm_read(struct rti_tree *tree)
{
	struct rti_tree_gpu *gpu = tree->gpu;

	rti_gpu_readings_clear(&gpu->drm);
	if (gpu->files.file_count > 0)
		rti_drm_cards_read(&gpu->cards, tree->ctx, tree->ctx->platform->monotonic_ns(),
		                   &gpu->drm);
	for (size_t i = gpu->files.member_count; i-- > 0;)
		look_at(tree, i);
}
