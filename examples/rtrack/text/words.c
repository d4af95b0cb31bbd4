/* SPDX-License-Identifier: MIT */
/* Splits a text into words, as a shell does. */
#include "words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\n"

/* Copy a word from *from to *to. Returns 0, or -EINVAL if a quote is not closed. */
static int copy_word(const char **from, char **to)
{
	const char *s = *from;
	char *d = *to, quote = '\0';

	for (; *s && (quote || !strchr(BLANKS, *s)); s++) {
		if (quote != '\'' && *s == '\\') {
			if (!s[1])
				return -EINVAL;
			if (!quote || strchr("\"\\$`", s[1]))
				s++;
			*d++ = *s;
		} else if (quote && *s == quote) {
			quote = '\0';
		} else if (!quote && (*s == '\'' || *s == '"')) {
			quote = *s;
		} else {
			*d++ = *s;
		}
	}
	*d++ = '\0';
	*from = s;
	*to = d;
	return quote ? -EINVAL : 0;
}

int words_split(struct words *w, const char *text, char *first)
{
	size_t len = strlen(text);
	char *to;
	int err = 0;

	/* A word and its NUL are no longer than the word and its blank in the text. */
	*w = (struct words){ .data = malloc(len + 2) };
	w->word = calloc(len / 2 + 3, sizeof(*w->word));
	if (!w->data || !w->word)
		return -ENOMEM;
	w->word[w->count++] = first;
	to = w->data;
	for (text += strspn(text, BLANKS); *text && err == 0; text += strspn(text, BLANKS)) {
		w->word[w->count++] = to;
		err = copy_word(&text, &to);
	}
	return err;
}

void words_free(struct words *w)
{
	free(w->word);
	free(w->data);
	*w = (struct words){ 0 };
}
