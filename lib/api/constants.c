/* SPDX-License-Identifier: MIT */
/* Names, values and meanings of all public constants, for bindings: those of constants.def, and
 * of the bits and structs of fields.def. */
#include "api/constants.h"

#include <errno.h>

#include <rtrack/rtrack.h>

#include "api/struct_size.h"

/* An argument of # is not expanded: it is what the list has. */
#define NAMED(of, number, title, meaning)                                                          \
	{ .size = sizeof(struct rt_constant),                                                      \
	  .group = RT_CONSTANTS_##of,                                                              \
	  .value = (int64_t)(number),                                                              \
	  .name = title,                                                                           \
	  .text = meaning },
static const struct rt_constant constants[] = {
#define DOMAIN(bit, kinds, text) NAMED(HAS, bit, #bit, text)
#define STRUCT(name, id) NAMED(OTHER, id, #id, "struct rt_" #name)
#include "api/fields.def"
#define CONSTANT(of, constant, text) NAMED(of, constant, #constant, text)
#include "api/constants.def"
};

const char *rti_constant_name(uint32_t group, uint64_t value)
{
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
		if (constants[i].group == group && (uint64_t)constants[i].value == value)
			return constants[i].name;
	}
	return NULL;
}

int rt_constant_get(uint32_t index, struct rt_constant *out, size_t out_size)
{
	if (!out)
		return -EFAULT;
	if (rti_struct_check_size(out_size, RTI_CONSTANT_V1) < 0 ||
	    index >= sizeof(constants) / sizeof(constants[0]))
		return -EINVAL;
	rti_struct_copy_out(out, out_size, &constants[index], sizeof(constants[0]));
	return 0;
}
