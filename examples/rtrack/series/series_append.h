/* SPDX-License-Identifier: MIT */
/* Looks at a file that a series is appended to. */
#ifndef SERIES_APPEND_H
#define SERIES_APPEND_H

#include <stdbool.h>
#include <sys/types.h>

enum { HEAD_MAX = 16384 };

/* Returns true if an open file ends in the middle of a row, after a crash or on a full disk. */
bool ends_in_torn_row(int fd, off_t size);

/* Read the first line of an open file, without its line feed. Returns 0, -EINVAL if it is too long,
 * or another negative errno value. */
int read_head(int fd, char head[HEAD_MAX]);

/* Returns false if an open file does not begin with a JSON object. */
bool begins_with_object(int fd);

enum time_form { TIME_FORM_UNKNOWN, TIME_FORM_EPOCH, TIME_FORM_ISO };

/* Get the form of the timestamps of a file: that of the first row, unknown if there is none. In a
 * CSV, the timestamp is the column at this place. */
enum time_form read_time_form_csv(int fd, size_t place);
enum time_form read_time_form_jsonl(int fd);

#endif
