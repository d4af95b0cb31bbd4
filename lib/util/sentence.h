/* SPDX-License-Identifier: MIT */
/* Sentences about what is missing or went wrong, and what would help. sentences.def has them. */
#ifndef RTI_SENTENCE_H
#define RTI_SENTENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "util/text.h"

enum rti_cause {
#define CAUSE(name, text) RTI_CAUSE_##name,
#include "util/sentences.def"
};

/* What stands for the placeholders of a sentence. Others may be left out, and .more always. */
struct rti_values {
	const char *error;       /* $E */
	const char *file;        /* $F */
	const char *name, *more; /* $N or, in quotes, $Q; $M */
	int32_t pid;             /* $P */
	uint64_t value, other;   /* $V, $W */
};

/* Returns the sentence about a cause that fits an error (-errno), with its placeholders, or NULL if
 * there is none. */
const char *rti_sentence(enum rti_cause cause, int err);

/* Add that sentence, filled in. values may be NULL if it has no placeholders. Returns false if
 * there is none. */
bool rti_say(struct rti_text *text, enum rti_cause cause, int err, const struct rti_values *values);

#endif
