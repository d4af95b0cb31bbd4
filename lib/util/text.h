/* SPDX-License-Identifier: MIT */
/* Builds a text in memory of a fixed size: what does not fit is cut off. */
#ifndef RTI_TEXT_H
#define RTI_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Invariant: *at is the NUL that ends the text. */
struct rti_text {
	char *at, *end;
};

/* Begin an empty text. size must not be 0. */
struct rti_text rti_text(char *out, size_t size);

void rti_text_add(struct rti_text *text, const char *part);
void rti_text_add_number(struct rti_text *text, uint64_t number);

#endif
