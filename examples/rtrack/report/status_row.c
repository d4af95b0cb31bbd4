/* SPDX-License-Identifier: MIT */
/* A row at the bottom of a terminal, which the output of other programs cannot reach. */
#include "status_row.h"

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SAVE_CURSOR "\0337"
#define RESTORE_CURSOR "\0338"
#define DOWN_OR_SCROLL "\033D"
#define UP "\033M"
#define ERASE_TO_END_OF_LINE "\033[K"
#define PLAIN "\033[0m"
#define INVERSE "\033[7m"

enum { FEWEST_ROWS = 4 };

/* Documentation/admin-guide/devices.txt: Unix98 pseudo-terminals have these eight numbers. */
enum { FIRST_PTY_MAJOR = 136, LAST_PTY_MAJOR = 143 };

/* Terminals that have no scroll region. */
static const char *const without_region[] = { "ansi", "cons25", "pcansi", "sun" };

bool status_row_is_possible(int fd, const char *terminal_name)
{
	unsigned device, major;

	for (size_t i = 0; i < sizeof(without_region) / sizeof(without_region[0]); i++) {
		if (strncmp(terminal_name, without_region[i], strlen(without_region[i])) == 0)
			return false;
	}
	/* Not fstat(), which has the numbers of /dev/tty if that was opened. Not by ioctl(): the
	 * type of its request differs between C libraries. */
	if (syscall(SYS_ioctl, fd, TIOCGDEV, &device) < 0)
		return false;
	major = device >> 8 & 0xfff;
	return major >= FIRST_PTY_MAJOR && major <= LAST_PTY_MAJOR;
}

/* DECSTBM. It also moves the cursor to the first row. */
static void add_region(struct text *out, int rows)
{
	text_printf(out, SAVE_CURSOR "\033[1;%dr" RESTORE_CURSOR, rows);
}

/* Have the cursor above the last row. Where it is is not known: the answer to a question would go
 * to the input of the command. DOWN_OR_SCROLL scrolls only if the cursor is in the last row, and
 * then the text moves up with it. So UP leads to the same character in both cases. */
static void add_leave_last_row(struct text *out, int rows)
{
	add_region(out, rows);
	text_add(out, DOWN_OR_SCROLL UP);
}

/* Erase all below the line of the cursor, which must be above the last row. */
static void add_erase_below(struct text *out)
{
	text_add(out, SAVE_CURSOR "\033[B\r\033[J" RESTORE_CURSOR);
}

/* The height in pixels tells our size from one that the user sets. E.g.: a window of 24 rows gets
 * 23, which is what is given already. Without a difference, the kernel sends no SIGWINCH. */
static struct winsize size_to_give(const struct winsize *whole)
{
	struct winsize given = *whole;

	given.ws_row--;
	if (given.ws_ypixel == 0)
		given.ws_ypixel = 1;
	return given;
}

static bool is_same_size(const struct winsize *a, const struct winsize *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Terminals that are resized forget the region themselves. */
static void notice_resize(struct status_row *row, const struct winsize *size)
{
	if (!row->is_reserved || is_same_size(size, &row->given))
		return;
	row->is_stale = row->is_stale || row->is_drawn;
	row->is_reserved = row->is_drawn = false;
}

void status_row_reserve(struct status_row *row)
{
	struct winsize size;

	if (ioctl(row->fd, TIOCGWINSZ, &size) < 0)
		return;
	notice_resize(row, &size);
	if (row->is_reserved || size.ws_row < FEWEST_ROWS)
		return;
	row->before = size;
	row->given = size_to_give(&size);
	ioctl(row->fd, TIOCSWINSZ, &row->given);
	row->is_reserved = row->is_doubtful = true;
}

void status_row_draw(struct status_row *row, const char *line, int len, struct text *out)
{
	if (row->is_doubtful)
		add_leave_last_row(out, row->before.ws_row);
	if (row->is_stale)
		add_erase_below(out);
	text_printf(out, SAVE_CURSOR "\033[1;%dr\033[%d;1H" PLAIN INVERSE, row->given.ws_row,
	            row->before.ws_row);
	text_bytes(out, line, (size_t)len);
	text_add(out, PLAIN ERASE_TO_END_OF_LINE RESTORE_CURSOR);
	row->is_doubtful = row->is_stale = false;
	row->is_drawn = true;
}

void status_row_release(struct status_row *row, struct text *out)
{
	struct winsize size;

	if (ioctl(row->fd, TIOCGWINSZ, &size) < 0)
		return;
	notice_resize(row, &size);
	if (row->is_reserved) {
		ioctl(row->fd, TIOCSWINSZ, &row->before);
		text_printf(out, SAVE_CURSOR "\033[1;%dr\033[%d;1H" PLAIN "\033[2K" RESTORE_CURSOR,
		            row->before.ws_row, row->before.ws_row);
	} else if (row->is_stale) {
		add_leave_last_row(out, size.ws_row);
		add_erase_below(out);
	}
	row->is_reserved = row->is_drawn = row->is_stale = false;
}
