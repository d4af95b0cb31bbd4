/* SPDX-License-Identifier: MIT */
/* Test data on the heap in exactly its own size, with nothing after it: a sanitizer sees any
 * read past its end. */
#ifndef EXACT_H
#define EXACT_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct exact {
	const char *data;
	size_t len;
};

/* Copies live as long as the process of the test; the list keeps them from looking leaked. */
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

#endif
