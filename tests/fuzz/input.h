/* SPDX-License-Identifier: MIT */
/* What structured fuzz targets make of an input: a series of choices. An input that has ended is
 * all zeros, so a shorter input is a simpler case. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include "fuzz.h"

struct fuzz_input {
	const uint8_t *at, *end;
};

static inline struct fuzz_input fuzz_input(const uint8_t *data, size_t len)
{
	return (struct fuzz_input){ data, data + len };
}

static inline bool has_ended(const struct fuzz_input *in)
{
	return in->at == in->end;
}

static inline void take_bytes(struct fuzz_input *in, void *out, size_t len)
{
	size_t left = (size_t)(in->end - in->at), taken = len < left ? len : left;

	memset(out, 0, len);
	if (taken)
		memcpy(out, in->at, taken);
	in->at += taken;
}

static inline uint8_t take_u8(struct fuzz_input *in)
{
	return has_ended(in) ? 0 : *in->at++;
}

/* A number from 0 to below - 1. */
static inline uint32_t take_below(struct fuzz_input *in, uint32_t below)
{
	uint16_t value;

	if (below <= 256)
		return take_u8(in) % below;
	take_bytes(in, &value, sizeof(value));
	return value % below;
}

/* Small numbers, limits of types, and any others. */
static inline uint64_t take_u64(struct fuzz_input *in)
{
	static const uint64_t limits[] = { INT32_MAX,  (uint64_t)INT32_MAX + 1,
		                           UINT32_MAX, (uint64_t)UINT32_MAX + 1,
		                           INT64_MAX,  (uint64_t)INT64_MAX + 1,
		                           UINT64_MAX, UINT64_MAX - 1 };
	uint8_t how = take_u8(in);
	uint64_t value;

	if (how < 96)
		return how;
	if (how < 104)
		return limits[how - 96];
	take_bytes(in, &value, sizeof(value));
	return how < 200 ? value % 1000000000 : value;
}

#endif
