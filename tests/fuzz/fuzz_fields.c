/* SPDX-License-Identifier: MIT */
/* The tables of fields and constants, asked with any numbers and any sizes. */
#include "input.h"

#include <rtrack/rtrack.h>

#define LARGEST_STRUCT 4096 /* larger ones are refused */

/* What is known goes to the beginning, and the rest of the caller's struct is 0. */
static void check_copy(const uint8_t *copy, size_t size, const void *whole, size_t whole_size)
{
	uint32_t filled;

	memcpy(&filled, copy, sizeof(filled));
	require(filled == (size < whole_size ? size : whole_size));
	require(memcmp(copy + 4, (const uint8_t *)whole + 4, filled - 4) == 0);
	for (size_t i = filled; i < size; i++)
		require(copy[i] == 0);
}

static void check_field(uint32_t id, uint32_t index, uint8_t *block, size_t size)
{
	struct rt_field whole = { 0 };
	int err = rt_field_get(id, index, &whole, sizeof(whole));

	require(err == (index < rt_field_count(id) ? 0 : -EINVAL));
	err = rt_field_get(id, index, (void *)block, size);
	require(err == 0 || err == -EINVAL);
	if (err < 0)
		return;
	check_copy(block, size, &whole, sizeof(whole));
	require(whole.offset + whole.length <= rt_field_struct_size(id));
	require_string(whole.name, sizeof(whole.name));
	require_string(whole.unit, sizeof(whole.unit));
}

static void check_constant(uint32_t index, uint8_t *block, size_t size)
{
	struct rt_constant whole = { 0 };
	int err = rt_constant_get(index, &whole, sizeof(whole));

	require(err == 0 || err == -EINVAL);
	if (err == 0 && rt_constant_get(index, (void *)block, size) == 0)
		check_copy(block, size, &whole, sizeof(whole));
	else
		require(rt_constant_get(index, (void *)block, size) == -EINVAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = fuzz_input(data, len);
	uint32_t id = (uint32_t)take_u64(&in), index = (uint32_t)take_u64(&in);
	size_t size =
	    take_u8(&in) % 2 ? take_below(&in, LARGEST_STRUCT + 2) : (size_t)take_u64(&in);
	size_t there = size <= LARGEST_STRUCT ? size : 0;
	uint8_t *block = malloc(there ? there : 1); /* no byte more, for sanitizers */

	require(block != NULL);
	check_field(id, index, block, size);
	check_constant(index, block, size);
	free(block);
	return 0;
}
