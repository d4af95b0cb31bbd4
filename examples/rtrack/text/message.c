/* SPDX-License-Identifier: MIT */
/* Messages to the user. */
#include "message.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

/* A name in a message may contain any byte. Escape what would control a terminal: the controls of
 * ASCII, and those of ISO 6429 in UTF-8 (0xc2 and 0x80 to 0x9f). Returns the new length. */
static size_t escape_controls(char *out, size_t size, const unsigned char *text)
{
	size_t len = 0;

	for (; *text && len + sizeof("\\x00") < size; text++) {
		bool is_c1 = text[0] == 0xc2 && text[1] >= 0x80 && text[1] < 0xa0;

		if (*text >= 0x20 && *text != 0x7f && !is_c1)
			out[len++] = (char)*text;
		else if (*text == '\n' || *text == '\t')
			len += (size_t)snprintf(out + len, size - len, "\\%c",
			                        *text == '\n' ? 'n' : 't');
		else
			len += (size_t)snprintf(out + len, size - len, "\\x%02x",
			                        is_c1 ? *++text : *text);
	}
	return len;
}

const char *error_words(int err)
{
	switch (err) {
	case -ESRCH:
		return "there is no such process";
	case -EFBIG:
		return "the file would be larger than the limit (ulimit -f) or the file system "
		       "allows";
	default:
		return rt_strerror(err);
	}
}

const char *start_error_words(const char *program, int err)
{
	if (err == -ENOENT && *program && !strchr(program, '/'))
		return "no such file or directory; it is in none of the directories of PATH";
	if (err == -ENOEXEC)
		return "not an executable format; a script needs a first line such as #!/bin/sh";
	return error_words(err);
}

void words_of_sentences(char *text)
{
	size_t len = strlen(text);

	if (len > 0 && text[len - 1] == '.')
		text[--len] = '\0';
	for (size_t i = 0; i + 1 < len; i++) {
		bool is_first = i == 0 || (i > 1 && text[i - 2] == '.' && text[i - 1] == ' ');
		bool is_word = islower((unsigned char)text[i + 1]) || text[i + 1] == ' ';

		if (!is_first || !is_word)
			continue;
		text[i] = (char)tolower((unsigned char)text[i]);
		if (i > 1)
			text[i - 2] = ';';
	}
}

/* End a text that did not fit into this size after its last whole word. */
static void cut_after_word(char *text, size_t size)
{
	char *last = text + size - sizeof("..."), *word = last;

	while (word > text && *word != ' ')
		word--;
	memcpy(word > text ? word : last, "...", sizeof("..."));
}

/* Write the message in one call, so output of the command cannot appear inside it. */
void warn(const char *format, ...)
{
	char text[1500] = "", line[2 * sizeof(text)] = "rtrack: ";
	size_t len = strlen(line);
	va_list args;
	ssize_t unused;

	va_start(args, format);
	if ((size_t)vsnprintf(text, sizeof(text), format, args) >= sizeof(text))
		cut_after_word(text, sizeof(text));
	va_end(args);
	len += escape_controls(line + len, sizeof(line) - len - 1, (const unsigned char *)text);
	line[len++] = '\n';
	unused = write(STDERR_FILENO, line, len);
	(void)unused;
}
