/* SPDX-License-Identifier: MIT */
/* What members have mapped, by smaps: which ones to read now. */
#ifndef RTI_IMAGE_READ_H
#define RTI_IMAGE_READ_H

#include <stdbool.h>

struct rti_tree;

/* Read smaps of members, as far as that is due and the budget allows it. After the members were
 * summed up. Returns whether any was read: then they are to be summed up again. */
bool rti_images_read_due(struct rti_tree *tree);

/* Sum up what members have mapped. */
void rti_images_sum(struct rti_tree *tree);

#endif
