/* SPDX-License-Identifier: MIT */
/* Reads small files of /proc without a heap. */
#include "supervisor/proc_file.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "util/decimal.h"

/* Returns what follows the key, or NULL. */
static const char *find_value(const char *text, const char *key)
{
	for (const char *at = strstr(text, key); at; at = strstr(at + 1, key)) {
		if (at == text || at[-1] == '\n')
			return at + strlen(key);
	}
	return NULL;
}

uint64_t rts_hex_value_of(const char *text, const char *key)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = find_value(text, key), *digit;
	uint64_t value = 0;

	while (at && *at && (digit = strchr(digits, *at++)))
		value = value * 16 + (uint64_t)(digit - digits);
	return value;
}

ssize_t rts_read_file(struct rti_shared_stats *shared, const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	/* Add the most that can be read first. If the count were ever below the kernel's, the
	 * library would take the difference for I/O of the program. */
	shared->own_io[0] += size;
	shared->own_io[RTS_READ_CALLS] += fd >= 0;
	n = fd < 0 ? -1 : read(fd, text, size - 1);
	shared->own_io[0] -= n > 0 ? size - (size_t)n : size;
	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return n;
}

ssize_t rts_read_pid_file(struct rti_shared_stats *shared, pid_t pid, const char *file, char *text,
                          size_t size)
{
	char path[48] = "/proc/", *at = rti_decimal(path + strlen(path), (uint64_t)pid);

	*at++ = '/';
	memcpy(at, file, strlen(file) + 1);
	return rts_read_file(shared, path, text, size);
}

void rts_proc_file_init(struct rti_shared_stats *shared)
{
	static const char *const keys[] = {
		"rchar: ", "wchar: ", "read_bytes: ", "write_bytes: ", "cancelled_write_bytes: ",
		"syscr: ", "syscw: "
	};
	char text[512];
	ssize_t n = rts_read_file(shared, "/proc/self/io", text, sizeof(text));

	for (int i = 0; i < 7; i++) {
		const char *at = find_value(text, keys[i]);
		uint64_t value = 0;

		while (at && *at >= '0' && *at <= '9')
			value = value * 10 + (uint64_t)(*at++ - '0');
		shared->own_io[i] = value;
	}
	if (n > 0)
		shared->own_io[0] += (uint64_t)n;
	shared->own_io[RTS_READ_CALLS] += n > 0; /* the text is from before this call */
}
