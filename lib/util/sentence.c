/* SPDX-License-Identifier: MIT */
/* Finds a sentence by cause and error, and fills in its placeholders. */
#include "util/sentence.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define QUOTED_MAX 80 /* bytes of a name in quotes, so that the reason after it has room */

static const struct {
	int error; /* of the cause above; 0: this is a cause, and its sentence */
	const char *text;
} rows[] = {
#define CAUSE(name, text) { 0, text },
#define IF(error, text) { error, text },
#include "util/sentences.def"
};

const char *rti_sentence(enum rti_cause cause, int err)
{
	const char *text = NULL;
	int at = -1; /* cause of the row */

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && at <= (int)cause; i++) {
		at += rows[i].error == 0;
		if (at == (int)cause && (rows[i].error == 0 || rows[i].error == -err))
			text = rows[i].text;
	}
	return text;
}

static void add_quoted(struct rti_text *text, const char *name)
{
	size_t len = strnlen(name, QUOTED_MAX);
	char shown[QUOTED_MAX + 1];

	memcpy(shown, name, len);
	shown[len] = '\0';
	rti_text_add(text, "\"");
	rti_text_add(text, shown);
	rti_text_add(text, name[len] ? "...\"" : "\"");
}

static void add_value(struct rti_text *text, char placeholder, const struct rti_values *values)
{
	switch (placeholder) {
	case 'E':
		rti_text_add(text, values->error);
		break;
	case 'F':
		rti_text_add(text, values->file);
		break;
	case 'M':
		rti_text_add(text, values->more ? values->more : "");
		break;
	case 'N':
		rti_text_add(text, values->name);
		break;
	case 'P':
		rti_text_add_number(text, (uint64_t)values->pid);
		break;
	case 'Q':
		add_quoted(text, values->name);
		break;
	case 'V':
		rti_text_add_number(text, values->value);
		break;
	case 'W':
		rti_text_add_number(text, values->other);
		break;
	}
}

bool rti_say(struct rti_text *text, enum rti_cause cause, int err, const struct rti_values *values)
{
	const char *at = rti_sentence(cause, err);

	for (; at && *at; at++) {
		const char one[] = { *at, '\0' };

		if (*at == '$')
			add_value(text, *++at, values);
		else
			rti_text_add(text, one);
	}
	return at != NULL;
}
