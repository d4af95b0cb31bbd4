/* SPDX-License-Identifier: MIT */
/* What an output can show: colour, UTF-8, columns. */
#include "terminal.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "text/charset.h"

enum { USUAL_WIDTH = 80 };

static bool wants_color(const struct terminal *t, enum when color)
{
	/* https://no-color.org: any value except the empty string */
	const char *no_color = getenv("NO_COLOR");

	if (color != WHEN_AUTO)
		return color == WHEN_ALWAYS;
	return t->is_terminal && !t->is_dumb && !(no_color && *no_color);
}

void terminal_init(struct terminal *t, int fd, enum when color)
{
	const char *name = getenv("TERM");

	*t = (struct terminal){ .fd = fd, .is_terminal = isatty(fd) != 0 };
	t->is_dumb = name && strcmp(name, "dumb") == 0;
	t->has_color = wants_color(t, color);
}

bool terminal_has_utf8(const struct terminal *t)
{
	return !t->is_dumb && charset_is_utf8();
}

int terminal_columns(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return USUAL_WIDTH;
	return size.ws_col;
}

int terminal_open(void)
{
	return open("/dev/tty", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* tcgetpgrp() fails for any terminal that is not the controlling one. */
bool terminal_is_in_foreground(int fd)
{
	return tcgetpgrp(fd) == getpgrp();
}

bool terminal_is_cooked(int fd)
{
	struct termios modes;

	return tcgetattr(fd, &modes) == 0 && modes.c_lflag & ICANON;
}

const char *terminal_name(void)
{
	static const char *const without_cursor[] = { "", "dumb", "emacs", "network", "unknown" };
	const char *name = getenv("TERM");

	for (size_t i = 0; name && i < sizeof(without_cursor) / sizeof(without_cursor[0]); i++) {
		if (strcmp(name, without_cursor[i]) == 0)
			return NULL;
	}
	return name;
}
