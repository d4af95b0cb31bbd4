/* SPDX-License-Identifier: MIT */
/* Test data in heap blocks of exactly its size. A sanitizer detects any read past the end. */
#ifndef EXACT_H
#define EXACT_H

#include <stdlib.h>
#include <string.h>

#include "suite.h"

struct exact {
	const char *data;
	size_t len;
};

/* Copies are kept until the process of the test exits. The list keeps them reachable, so that a
 * leak checker does not report them. */
struct exact_copy {
	struct exact_copy *next;
	char data[];
};

static struct exact_copy *exact_copies;

static inline struct exact exact_bytes(const void *bytes, size_t len)
{
	struct exact_copy *copy = malloc(sizeof(*copy) + len);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy->data, bytes, len);
	copy->next = exact_copies;
	exact_copies = copy;
	return (struct exact){ copy->data, len };
}

static inline struct exact exact(const char *text)
{
	return exact_bytes(text, strlen(text));
}

/* At most 4096 NUL bytes. */
static inline struct exact exact_zeros(size_t len)
{
	static const char zeros[4096];

	ck_assert_uint_le(len, sizeof(zeros));
	return exact_bytes(zeros, len);
}

/* The same, with every 64th byte a newline. */
static inline struct exact exact_zero_lines(size_t len)
{
	char bytes[4096] = { 0 };

	ck_assert_uint_le(len, sizeof(bytes));
	for (size_t i = 63; i < len; i += 64)
		bytes[i] = '\n';
	return exact_bytes(bytes, len);
}

#endif
