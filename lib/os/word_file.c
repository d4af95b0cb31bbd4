/* SPDX-License-Identifier: MIT */
/* Files of a few bytes, for messages. */
#include "os/word_file.h"

#include <string.h>

void rti_read_word(enum rti_base base, const char *path, char *out, size_t size)
{
	struct rti_buf buf = { 0 };
	struct rti_procfs procfs;
	size_t len;

	out[0] = '\0';
	rti_procfs_use_names(&procfs, &rti_procfs_linux);
	if (rti_procfs_read(&procfs, base, path, RTI_SINGLE_RECORD, &buf) == 0) {
		len = strcspn(buf.data, "\n");
		if (len >= size)
			len = size - 1;
		memcpy(out, buf.data, len);
		out[len] = '\0';
	}
	rti_buf_free(&buf);
}
