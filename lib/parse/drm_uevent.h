/* SPDX-License-Identifier: MIT */
/* /sys/class/drm/CARD/device/uevent: the driver of a GPU, and where it is. */
#ifndef RTI_DRM_UEVENT_H
#define RTI_DRM_UEVENT_H

#include <stddef.h>

#include "parse/pci_address.h"

struct rti_drm_uevent {
	char driver[32];
	struct rti_pci_address pci;
};

/* Returns 0, or -EBADMSG if no driver is named: none serves the device. */
int rti_parse_drm_uevent(const char *data, size_t len, struct rti_drm_uevent *out);

#endif
