/* SPDX-License-Identifier: MIT */
/* Keeps the command lines and working directories of processes in the shared memory.
 *
 * Another process of the same user may write to that memory: see supervisor/record_list.c. So how
 * much of it is used is kept here, and the place of a text is checked when it is read back. */
#include "supervisor/process_text.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/proc_file.h"
#include "util/decimal.h"

#define BYTES_PER_ALLOCATION (UINT64_C(1) << 18)

/* Invariant: written by the functions of this file only. */
static struct {
	struct rti_shared_stats *shared;
	const int *memory;
	char *area;
	uint64_t used; /* bytes */
	uint64_t room; /* bytes that memory is allocated for */
} texts;

void rts_process_text_begin(struct rti_shared_stats *shared, const int *memory)
{
	texts.shared = shared;
	texts.memory = memory;
	texts.area = (char *)shared + RTI_TEXT_OFFSET;
	texts.used = texts.room = 0;
}

/* Keep a text, unless it is what *before is already. Returns false if there is no room. */
static bool keep(const char *text, uint32_t len, struct rti_record_text *before)
{
	const volatile struct rti_record_text *shared = before;
	uint32_t at = shared->at; /* read once: it may change after it was checked */

	if (shared->len == len && at <= texts.used && len <= texts.used - at &&
	    memcmp(texts.area + at, text, len) == 0)
		return true;
	*before = (struct rti_record_text){ 0 };
	/* Allocate memory before it is written to: if it is full, writing would raise a signal. */
	while (texts.room - texts.used < len) {
		if (texts.room >= RTI_TEXT_BYTES_MAX ||
		    fallocate(*texts.memory, 0, (off_t)(RTI_TEXT_OFFSET + texts.room),
		              (off_t)BYTES_PER_ALLOCATION) < 0)
			return false;
		texts.room += BYTES_PER_ALLOCATION;
	}
	memcpy(texts.area + texts.used, text, len);
	*before = (struct rti_record_text){ (uint32_t)texts.used, len };
	texts.used += len;
	texts.shared->text_bytes = texts.used;
	return true;
}

void rts_process_text_fork(struct rti_process_record *child,
                           const struct rti_process_record *parent)
{
	child->command = parent->command;
	child->cwd = parent->cwd;
	child->flags |= parent->flags & (RTI_RECORD_TEXT_CUT | RTI_RECORD_TEXT_SKIPPED);
}

void rts_process_text_forget(struct rti_process_record *record)
{
	record->command = record->cwd = (struct rti_record_text){ 0 };
	record->flags &= ~(RTI_RECORD_TEXT_CUT | RTI_RECORD_TEXT_SKIPPED);
}

/* A zombie has neither: both are then unknown. */
void rts_process_text_read(struct rti_process_record *record)
{
	static char text[RTI_COMMAND_LINE_MAX + 3], cwd[PATH_MAX]; /* one more than fits */
	char path[48] = "/proc/", *at = rti_decimal(path + strlen(path), (uint64_t)record->pid);
	ssize_t len = rts_read_pid_file(texts.shared, record->pid, "cmdline", text, sizeof(text));
	ssize_t cwd_len;
	bool is_kept = true;

	memcpy(at, "/cwd", sizeof("/cwd"));
	cwd_len = readlink(path, cwd, sizeof(cwd));
	record->flags &= ~(RTI_RECORD_TEXT_CUT | RTI_RECORD_TEXT_SKIPPED);
	if (len > 0 && len <= RTI_COMMAND_LINE_MAX + 1 && text[len - 1] == '\0')
		len--; /* each argument ends in NUL */
	if (len > RTI_COMMAND_LINE_MAX) {
		len = RTI_COMMAND_LINE_MAX;
		record->flags |= RTI_RECORD_TEXT_CUT;
	}
	if (len > 0)
		is_kept = keep(text, (uint32_t)len, &record->command);
	else
		record->command = (struct rti_record_text){ 0 };
	if (cwd_len > 0 && cwd_len < PATH_MAX)
		is_kept = keep(cwd, (uint32_t)cwd_len, &record->cwd) && is_kept;
	else
		record->cwd = (struct rti_record_text){ 0 };
	if (!is_kept)
		record->flags |= RTI_RECORD_TEXT_SKIPPED;
}
