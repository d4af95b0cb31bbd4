/* SPDX-License-Identifier: MIT */
/* Splits a text into words, as a shell does. */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>

struct words {
	char **word; /* the first one is that of the caller; NULL ends them */
	int count;
	char *data; /* the characters of all words */
};

/* Split at blanks, and put the words after the given first one, as main() gets them. Quotes and
 * backslashes keep blanks, as in sh: '...' keeps every character, "..." knows \" \\ \$ and \`.
 * Nothing is expanded: '$' and '*' are themselves. Returns 0; -EINVAL if a quote is not closed; or
 * -ENOMEM. Free the words also after a failure. */
int words_split(struct words *w, const char *text, char *first);

void words_free(struct words *w);

#endif
