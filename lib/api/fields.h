/* SPDX-License-Identifier: MIT */
/* Places and roles of all public fields. */
#ifndef RTI_FIELDS_H
#define RTI_FIELDS_H

#include <stdint.h>

struct rti_field {
	uint64_t has;
	uint16_t offset, length;
	uint16_t strings; /* offset of its name, for fields.c alone */
	uint8_t type, role;
};

/* Returns the fields of a struct, in its order, and sets their number: 0 for an unknown struct. */
const struct rti_field *rti_fields_of(uint32_t struct_id, uint32_t *count);

#endif
