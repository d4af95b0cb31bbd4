/* SPDX-License-Identifier: MIT */
/* The GPUs that drivers of the kernel's DRM subsystem serve, by /sys/class/drm. */
#include "gpu/drm_card.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/procfs.h"
#include "parse/drm_uevent.h"
#include "parse/scan.h"
#include "util/array.h"
#include "util/visit.h"

#define LIST_EVERY_NS UINT64_C(1000000000)
#define CARDS_MAX 128

#define FILE_INIT                                                                                  \
	{                                                                                          \
		RTI_FILE_INIT, false                                                               \
	}

struct lister {
	struct rti_drm_cards *cards;
	char names[CARDS_MAX][16];
	size_t count;
};

static struct rti_path path_of(const struct rti_drm_card *card, const char *file)
{
	return rti_class_path("drm", card->card, file);
}

/* Read what a file says in one line. Returns 0 or -errno. */
static int read_line(const struct rti_context *ctx, struct rti_drm_card *card, const char *name,
                     struct rti_drm_file *file, struct rti_scan *line)
{
	struct rti_path path = path_of(card, name);
	struct rti_scan text;
	int err;

	if (file->is_absent)
		return -EOPNOTSUPP;
	err = rti_procfs_read_cached(ctx->procfs, RTI_SYS, path.text, RTI_SINGLE_RECORD,
	                             &file->file, ctx->buf);
	if (err == -ENOENT) {
		file->is_absent = true;
		return -EOPNOTSUPP;
	}
	if (err < 0)
		return err;
	text = rti_scan(ctx->buf->data, ctx->buf->len);
	return rti_scan_line(&text, line) ? 0 : -EBADMSG;
}

static int read_number(const struct rti_context *ctx, struct rti_drm_card *card, const char *name,
                       struct rti_drm_file *file, uint64_t *out)
{
	struct rti_scan line;
	int err = read_line(ctx, card, name, file, &line);

	if (err == 0 && (!rti_scan_u64(&line, out) || line.at != line.end))
		err = -EBADMSG;
	return err;
}

static int stop_at_render_node(void *arg, const char *name)
{
	(void)arg;
	return strncmp(name, "renderD", strlen("renderD")) == 0 ? RTI_STOP : RTI_CONTINUE;
}

/* Such an error says nothing of the card. */
static bool is_shortage(int err)
{
	return err == -ENOMEM || rti_is_out_of_files(err);
}

static int read_name(const struct rti_context *ctx, struct rti_drm_card *card)
{
	struct rti_drm_file file = FILE_INIT;
	struct rti_scan line;
	int err;

	memcpy(card->known.name, card->card, sizeof(card->card));
	err = read_line(ctx, card, "device/product_name", &file, &line);
	if (err == 0 && line.at < line.end)
		rti_scan_copy(&line, card->known.name, sizeof(card->known.name));
	rti_procfs_close_file(ctx->procfs, &file.file);
	return err;
}

/* Find out what a card is. Returns 0; -ENOENT if it is no GPU, or gone; or -errno if we ran out of
 * descriptors or memory, so that this is unknown. */
static int init_card(const struct rti_context *ctx, const char *name, struct rti_drm_card *card)
{
	struct rti_drm_file once = FILE_INIT;
	struct rti_drm_uevent uevent;
	int err;

	*card = (struct rti_drm_card){ .busy = FILE_INIT, .used = FILE_INIT, .power = FILE_INIT };
	memcpy(card->card, name, sizeof(card->card));
	err = rti_procfs_read(ctx->procfs, RTI_SYS, path_of(card, "device/uevent").text,
	                      RTI_SINGLE_RECORD, ctx->buf);
	if (err == 0)
		err = rti_parse_drm_uevent(ctx->buf->data, ctx->buf->len, &uevent);
	if (err == 0) {
		err = rti_procfs_list(ctx->procfs, RTI_SYS, path_of(card, "device/drm").text,
		                      stop_at_render_node, NULL);
		err = err == RTI_CONTINUE ? -ENOENT : err;
	}
	if (err < 0)
		return is_shortage(err) ? err : -ENOENT;
	memcpy(card->known.driver, uevent.driver, sizeof(uevent.driver));
	card->known.pci = uevent.pci;
	err = read_name(ctx, card);
	if (is_shortage(err))
		return err;
	err = read_number(ctx, card, "device/mem_info_vram_total", &once,
	                  &card->known.memory_total_bytes);
	rti_procfs_close_file(ctx->procfs, &once.file);
	card->known.err[RTI_GPU_MEMORY] = err;
	return is_shortage(err) ? err : 0;
}

static void close_card(const struct rti_context *ctx, struct rti_drm_card *card)
{
	rti_procfs_close_file(ctx->procfs, &card->busy.file);
	rti_procfs_close_file(ctx->procfs, &card->used.file);
	rti_procfs_close_file(ctx->procfs, &card->power.file);
}

/* E.g.: "card0", and not its connector "card0-DP-1". */
static int note_card(void *arg, const char *name)
{
	struct lister *lister = arg;
	size_t len = strlen(name), digits;

	if (strncmp(name, "card", 4) != 0 || len >= sizeof(lister->names[0]))
		return RTI_CONTINUE;
	digits = strspn(name + 4, "0123456789");
	if (digits == 0 || 4 + digits != len)
		return RTI_CONTINUE;
	memcpy(lister->names[lister->count], name, len + 1);
	return ++lister->count < CARDS_MAX ? RTI_CONTINUE : RTI_STOP;
}

static struct rti_drm_card *find_card(const struct rti_drm_cards *cards, const char *name)
{
	for (size_t i = 0; i < cards->count; i++)
		if (strcmp(cards->card[i].card, name) == 0)
			return &cards->card[i];
	return NULL;
}

static int add_card(struct rti_drm_cards *cards, const struct rti_context *ctx, const char *name)
{
	struct rti_drm_card card, *array;
	int err = init_card(ctx, name, &card);

	if (err < 0)
		return err == -ENOENT ? 0 : err;
	array = rti_array_grow(cards->card, &cards->room, cards->count + 1, sizeof(*array));
	if (!array) {
		close_card(ctx, &card);
		return -ENOMEM;
	}
	card.round = cards->round;
	cards->card = array;
	cards->card[cards->count++] = card;
	return 0;
}

static void remove_unlisted(struct rti_drm_cards *cards, const struct rti_context *ctx)
{
	size_t left = 0;

	for (size_t i = 0; i < cards->count; i++) {
		if (cards->card[i].round == cards->round)
			cards->card[left++] = cards->card[i];
		else
			close_card(ctx, &cards->card[i]);
	}
	cards->count = left;
}

/* The names are kept apart, since to add a card uses the buffer of the list. */
static int list_cards(struct rti_drm_cards *cards, const struct rti_context *ctx)
{
	struct lister lister = { .cards = cards };
	int err = rti_procfs_list(ctx->procfs, RTI_SYS, "class/drm", note_card, &lister);

	if (err < 0)
		lister.count = 0;
	cards->round++;
	for (size_t i = 0; i < lister.count; i++) {
		struct rti_drm_card *card = find_card(cards, lister.names[i]);
		int failed = 0;

		if (card && !card->is_gone)
			card->round = cards->round;
		else
			failed = add_card(cards, ctx, lister.names[i]);
		err = failed < 0 ? failed : err;
	}
	remove_unlisted(cards, ctx);
	return err < 0 ? err : 0;
}

/* A card that is put to sleep does nothing. To read how busy it is would wake it before Linux
 * 6.12: pm_runtime_get_sync() in drivers/gpu/drm/amd/pm/amdgpu_pm.c. */
static int read_busy(const struct rti_context *ctx, struct rti_drm_card *card, uint32_t *percent)
{
	struct rti_scan line;
	uint64_t number = 0;
	int err = 0;

	if (card->busy.is_absent)
		return -EOPNOTSUPP;
	if (read_line(ctx, card, "device/power/runtime_status", &card->power, &line) < 0 ||
	    !rti_scan_is(&line, "suspended"))
		err = read_number(ctx, card, "device/gpu_busy_percent", &card->busy, &number);
	if (err == 0 && number > 100)
		err = -EBADMSG;
	if (err == 0)
		*percent = (uint32_t)number;
	return err;
}

static int read_memory(const struct rti_context *ctx, struct rti_drm_card *card, uint64_t *used)
{
	uint64_t number = 0;
	int err = card->known.err[RTI_GPU_MEMORY];

	if (err == 0)
		err = read_number(ctx, card, "device/mem_info_vram_used", &card->used, &number);
	if (err == 0 && number > card->known.memory_total_bytes)
		err = -EBADMSG;
	if (err == 0)
		*used = number;
	return err;
}

static int read_card(const struct rti_context *ctx, struct rti_drm_card *card,
                     struct rti_gpu_readings *readings)
{
	struct rti_gpu_reading *gpu = rti_gpu_add_reading(readings);

	if (!gpu)
		return -ENOMEM;
	*gpu = card->known;
	gpu->err[RTI_GPU_BUSY] = read_busy(ctx, card, &gpu->busy_percent);
	gpu->err[RTI_GPU_MEMORY] = read_memory(ctx, card, &gpu->memory_used_bytes);
	gpu->err[RTI_GPU_ENERGY] = -EOPNOTSUPP;
	card->is_gone = gpu->err[RTI_GPU_BUSY] == -ENODEV || gpu->err[RTI_GPU_MEMORY] == -ENODEV;
	return 0;
}

int rti_drm_cards_read(struct rti_drm_cards *cards, const struct rti_context *ctx, uint64_t now_ns,
                       struct rti_gpu_readings *readings)
{
	int err = 0;

	if (cards->round == 0 || cards->must_list ||
	    now_ns - cards->listed_at_ns >= LIST_EVERY_NS) {
		cards->err = list_cards(cards, ctx);
		cards->listed_at_ns = now_ns;
	}
	cards->must_list = false;
	for (size_t i = 0; i < cards->count; i++) {
		cards->card[i].known.at_ns = now_ns;
		if (read_card(ctx, &cards->card[i], readings) < 0)
			err = -ENOMEM;
		cards->must_list |= cards->card[i].is_gone;
	}
	return err < 0 ? err : cards->err;
}

void rti_drm_cards_free(struct rti_drm_cards *cards, const struct rti_context *ctx)
{
	for (size_t i = 0; i < cards->count; i++)
		close_card(ctx, &cards->card[i]);
	free(cards->card);
	*cards = (struct rti_drm_cards){ 0 };
}
