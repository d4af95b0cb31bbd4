/* SPDX-License-Identifier: MIT */
/* The address of a device on a PCI bus, as the kernel writes it. E.g.: "0000:03:00.0". */
#include "parse/pci_address.h"

static bool scan_hex(struct rti_scan *s, uint32_t *out)
{
	const char *first = s->at;

	for (*out = 0; s->at < s->end && s->at - first < 8; s->at++) {
		const char *digits = "0123456789abcdef";
		const char *digit = *s->at ? strchr(digits, *s->at) : NULL;

		if (!digit)
			break;
		*out = *out * 16 + (uint32_t)(digit - digits);
	}
	return s->at > first;
}

bool rti_scan_pci_address(struct rti_scan *s, struct rti_pci_address *out)
{
	struct rti_pci_address pci;

	if (!scan_hex(s, &pci.domain) || !rti_scan_literal(s, ":") || !scan_hex(s, &pci.bus) ||
	    !rti_scan_literal(s, ":") || !scan_hex(s, &pci.device) || !rti_scan_literal(s, ".") ||
	    !scan_hex(s, &pci.function) || s->at != s->end)
		return false;
	*out = pci;
	return true;
}
