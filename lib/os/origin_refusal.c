/* SPDX-License-Identifier: MIT */
/* Says in words why a file of the library is not used. */
#include "os/origin_refusal.h"

#include <stdlib.h>

#include "os/origin.h"
#include "util/sentence.h"

/* Four octal digits and a NUL. */
static void write_mode(char out[5], uint32_t mode)
{
	for (int i = 0; i < 4; i++)
		out[i] = (char)('0' + (mode >> (9 - 3 * i) & 7));
	out[4] = '\0';
}

bool rti_origin_say_refused(struct rti_text *text, const char *name)
{
	struct rti_origin_file *file = malloc(sizeof(*file)); /* too large for a small stack */
	bool is_refused = file && rti_origin_is_refused(name, file);
	char mode[5];

	if (is_refused) {
		write_mode(mode, file->mode);
		rti_say(
		    text, RTI_CAUSE_HELPER_REFUSED, 0,
		    &(struct rti_values){
			.file = file->path, .name = mode, .value = file->uid, .other = file->gid });
	}
	free(file);
	return is_refused;
}
