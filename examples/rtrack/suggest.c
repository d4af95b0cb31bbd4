/* SPDX-License-Identifier: MIT */
/* What the user may have meant by an unknown word. */
#include "suggest.h"

#include <string.h>

/* What follows the first difference must be equal, with one character left out on either side or
 * both, or with two swapped. */
bool is_near(const char *word, const char *other)
{
	while (*word && *word == *other) {
		word++;
		other++;
	}
	if (*word && strcmp(word + 1, other) == 0)
		return true;
	if (!*other)
		return false;
	if (strcmp(word, other + 1) == 0)
		return true;
	if (!*word)
		return false;
	return strcmp(word + 1, other + 1) == 0 ||
	       (word[1] && word[0] == other[1] && word[1] == other[0] &&
	        strcmp(word + 2, other + 2) == 0);
}
