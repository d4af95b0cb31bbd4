/* SPDX-License-Identifier: MIT */
/* What all generated headers of BPF programs have in common. */
#ifndef SKELETON_PARTS_H
#define SKELETON_PARTS_H

#include <stdint.h>

struct skeleton_map {
	int map_fd;
	uint32_t max_entries;
};

struct skeleton_program {
	int prog_fd;
};

#endif
