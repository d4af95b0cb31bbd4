/* SPDX-License-Identifier: MIT */
/* Sizes of public structs: the only code that reads or writes them. */
#include "api/struct_size.h"

#include <errno.h>
#include <string.h>

#define LARGEST_STRUCT 4096

_Static_assert(sizeof(struct rt_rusage) == 128, "frozen for ever");

int rti_struct_check_size(size_t out_size, size_t v1_size)
{
	return out_size < v1_size || out_size > LARGEST_STRUCT ? -EINVAL : 0;
}

void rti_struct_copy_out(void *out, size_t out_size, const void *in, size_t in_size)
{
	uint32_t filled = (uint32_t)(out_size < in_size ? out_size : in_size);

	memcpy(out, in, filled);
	memset((char *)out + filled, 0, out_size - filled);
	memcpy(out, &filled, sizeof(filled));
}

static void copy_in(void *out, size_t out_size, const void *in, size_t in_size)
{
	size_t known = in_size < out_size ? in_size : out_size;

	memset(out, 0, out_size);
	memcpy(out, in, known);
}

int rti_struct_copy_in(void *out, size_t out_size, const void *in, size_t v1_size)
{
	const unsigned char *bytes = in;
	uint32_t in_size;

	memcpy(&in_size, in, sizeof(in_size));
	if (in_size < v1_size || in_size > LARGEST_STRUCT)
		return -EINVAL;
	for (size_t i = out_size; i < in_size; i++) {
		if (bytes[i])
			return -E2BIG;
	}
	copy_in(out, out_size, in, in_size);
	return 0;
}

int rti_struct_copy_sample_in(void *out, size_t out_size, const void *in, size_t v1_size)
{
	uint32_t in_size;

	memcpy(&in_size, in, sizeof(in_size));
	if (rti_struct_check_size(in_size, v1_size) < 0)
		return -EINVAL;
	copy_in(out, out_size, in, in_size);
	return 0;
}
