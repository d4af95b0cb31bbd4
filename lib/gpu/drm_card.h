/* SPDX-License-Identifier: MIT */
/* The GPUs that drivers of the kernel's DRM subsystem serve, by /sys/class/drm.
 *
 * A card that cannot render is none. E.g.: the display of a server's management controller. Of the
 * figures, amdgpu alone has files: gpu_busy_percent and mem_info_vram_*, see
 * Documentation/gpu/amdgpu/thermal.rst and driver-misc.rst. */
#ifndef RTI_DRM_CARD_H
#define RTI_DRM_CARD_H

#include "gpu/reading.h"
#include "os/context.h"

struct rti_drm_file {
	struct rti_file file;
	bool is_absent; /* the driver has no such file */
};

/* Written by drm_card.c. */
struct rti_drm_card {
	char card[16];                /* name in /sys */
	struct rti_gpu_reading known; /* what does not change; err[RTI_GPU_MEMORY] is for the
	                                 total */
	struct rti_drm_file busy, used, power;
	bool is_gone;   /* its files no longer answer */
	uint64_t round; /* the list in which it was last found */
};

/* Zeroed memory is a valid start. */
struct rti_drm_cards {
	struct rti_drm_card *card;
	size_t count, room;
	uint64_t round, listed_at_ns;
	int err;        /* of the last list: 0 or -errno */
	bool must_list; /* a card has gone */
};

/* Add the readings of all cards. Lists the cards once a second, and after one has gone. A card that
 * sleeps is 0 % busy, and is not woken for that.
 *
 * Returns 0, also without a card; -ENOENT if there is no list of cards; or another -errno, with
 * which some cards may be missing. */
int rti_drm_cards_read(struct rti_drm_cards *cards, const struct rti_context *ctx, uint64_t now_ns,
                       struct rti_gpu_readings *readings);

void rti_drm_cards_free(struct rti_drm_cards *cards, const struct rti_context *ctx);

#endif
