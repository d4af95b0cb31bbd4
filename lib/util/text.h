/* SPDX-License-Identifier: MIT */
/* Builds a text in memory of a fixed size. What does not fit is cut off at the end of a word. */
#ifndef RTI_TEXT_H
#define RTI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Invariant: *at is the NUL that ends the text. */
struct rti_text {
	char *start, *at, *end;
	bool is_cut;
};

/* Begin an empty text. size must not be 0. */
struct rti_text rti_text(char *out, size_t size);

/* If a part does not fit, the text ends in "..." after its last whole word, and what is added later
 * is left out. A word that fills the memory alone is cut. */
void rti_text_add(struct rti_text *text, const char *part);
void rti_text_add_number(struct rti_text *text, uint64_t number);

#endif
