/* SPDX-License-Identifier: MIT */
/* The address of a device on a PCI bus, as the kernel writes it. E.g.: "0000:03:00.0". */
#ifndef RTI_PCI_ADDRESS_H
#define RTI_PCI_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "parse/scan.h"

/* All ones: not on a PCI bus. E.g.: the GPU of a system on chip. */
struct rti_pci_address {
	uint32_t domain, bus, device, function;
};

#define RTI_NO_PCI_ADDRESS                                                                         \
	{                                                                                          \
		UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX                                     \
	}

/* Take an address that is all that is left of s. Returns false, and leaves *out alone, if it is not
 * one. */
bool rti_scan_pci_address(struct rti_scan *s, struct rti_pci_address *out);

#endif
