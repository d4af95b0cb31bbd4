/* SPDX-License-Identifier: MIT */
/* Messages to the user. */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* A name in a message may contain any byte. */
static void replace_controls(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
	}
}

/* Write the message in one call, so output of the command cannot appear inside it. */
void warn(const char *format, ...)
{
	char line[1024] = "rtrack: ";
	const int head = 8;
	va_list args;
	int len;
	ssize_t unused;

	va_start(args, format);
	len = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, args);
	va_end(args);
	replace_controls(line);
	len = head + (len < 0 ? 0 : len);
	if (len > (int)sizeof(line) - 2)
		len = (int)sizeof(line) - 2;
	line[len++] = '\n';
	unused = write(STDERR_FILENO, line, (size_t)len);
	(void)unused;
}
