/* SPDX-License-Identifier: MIT */
/* The command lines and working directories of processes, as BPF programs have sent them. */
#include "command/bpf_texts.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define DELETED " (deleted)" /* as /proc/PID/cwd has it */
#define PATH_ROOM (RTI_ACCOUNT_CWD_MAX + sizeof(DELETED))

/* Returns false if there is no room. */
static bool keep_bytes(struct rti_bpf_texts *texts, const char *bytes, size_t length,
                       struct rti_record_text *out)
{
	char *grown;

	if (length > RTI_TEXT_BYTES_MAX - texts->used)
		return false;
	grown = rti_array_grow(texts->bytes, &texts->capacity, texts->used + length, 1);
	if (!grown)
		return false;
	texts->bytes = grown;
	memcpy(grown + texts->used, bytes, length);
	*out = (struct rti_record_text){ (uint32_t)texts->used, (uint32_t)length };
	texts->used += length;
	return true;
}

/* Join the parts, which come last one first. Returns the length. E.g.: "src\0home\0" is
 * "/home/src". */
static size_t join_path(const struct rti_account_text *text, char path[PATH_ROOM])
{
	const char *parts = text->bytes + text->command_bytes;
	size_t at = text->cwd_bytes, length = 0;

	if (!(text->flags & RTI_TEXT_HAS_CWD) || at > RTI_ACCOUNT_CWD_MAX)
		return 0;
	if (at == 0)
		path[length++] = '/';
	while (at > 0) {
		size_t end = --at; /* the NUL */

		while (at > 0 && parts[at - 1] != '\0')
			at--;
		path[length++] = '/';
		memcpy(path + length, parts + at, end - at);
		length += end - at;
	}
	if (text->flags & RTI_TEXT_CWD_DELETED) {
		memcpy(path + length, DELETED, strlen(DELETED));
		length += strlen(DELETED);
	}
	return length;
}

static bool keep_cwd(struct rti_bpf_texts *texts, const struct rti_account_text *text,
                     struct rti_record_text *out)
{
	const struct rti_record_text *last = &texts->last_cwd;
	char path[PATH_ROOM];
	size_t length = join_path(text, path);

	if (length == 0)
		return true;
	if (length != last->len || memcmp(texts->bytes + last->at, path, length) != 0) {
		if (!keep_bytes(texts, path, length, &texts->last_cwd))
			return false;
	}
	*out = *last;
	return true;
}

/* Numbers in between belong to texts that come later, or that were lost. */
static struct rti_bpf_text *add_number(struct rti_bpf_texts *texts, uint32_t number)
{
	struct rti_bpf_text *grown =
	    rti_array_grow(texts->of_number, &texts->number_capacity, number, sizeof(*grown));

	if (!grown)
		return NULL;
	texts->of_number = grown;
	while (texts->numbers < number)
		grown[texts->numbers++] = (struct rti_bpf_text){ 0 };
	return &grown[number - 1];
}

void rti_bpf_texts_keep(struct rti_bpf_texts *texts, const struct rti_account_text *text)
{
	struct rti_bpf_text *kept = add_number(texts, text->number);

	if (!kept)
		return;
	kept->is_cut = text->flags & RTI_TEXT_CUT;
	if ((text->command_bytes &&
	     !keep_bytes(texts, text->bytes, text->command_bytes, &kept->command)) ||
	    !keep_cwd(texts, text, &kept->cwd))
		kept->is_cut = true;
}

struct rti_bpf_text rti_bpf_texts_find(const struct rti_bpf_texts *texts, uint32_t number)
{
	return number > 0 && number <= texts->numbers ? texts->of_number[number - 1]
	                                              : (struct rti_bpf_text){ 0 };
}

char *rti_bpf_texts_release(struct rti_bpf_texts *texts)
{
	char *bytes = texts->bytes;

	texts->bytes = NULL;
	texts->used = texts->capacity = 0;
	return bytes;
}

void rti_bpf_texts_free(struct rti_bpf_texts *texts)
{
	free(texts->of_number);
	free(texts->bytes);
	*texts = (struct rti_bpf_texts){ 0 };
}
