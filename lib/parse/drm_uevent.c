/* SPDX-License-Identifier: MIT */
/* /sys/class/drm/CARD/device/uevent: the driver of a GPU, and where it is. */
#include "parse/drm_uevent.h"

#include <errno.h>

int rti_parse_drm_uevent(const char *data, size_t len, struct rti_drm_uevent *out)
{
	struct rti_scan text = rti_scan(data, len), line;

	*out = (struct rti_drm_uevent){ .pci = RTI_NO_PCI_ADDRESS };
	while (rti_scan_line(&text, &line)) {
		if (rti_scan_literal(&line, "DRIVER="))
			rti_scan_copy(&line, out->driver, sizeof(out->driver));
		else if (rti_scan_literal(&line, "PCI_SLOT_NAME="))
			rti_scan_pci_address(&line, &out->pci);
	}
	return out->driver[0] ? 0 : -EBADMSG;
}
