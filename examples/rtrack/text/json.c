/* SPDX-License-Identifier: MIT */
/* Writes JSON into a text. */
#include "json.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "utf8.h"

/* Returns the length of the characters at s that need no escape. */
static size_t plain_length(const char *s)
{
	size_t len = 0;

	while (s[len] >= 0x20 && s[len] < 0x7f && s[len] != '"' && s[len] != '\\')
		len++;
	return len;
}

static void add_quoted(struct text *t, const char *s)
{
	text_bytes(t, "\"", 1);
	while (*s) {
		size_t plain = plain_length(s), len = plain ? plain : utf8_length(s);
		unsigned char c = (unsigned char)*s;

		if (plain)
			text_bytes(t, s, plain);
		else if (len == 0)
			text_add(t, "\\ufffd");
		else if (c == '"' || c == '\\')
			text_printf(t, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			text_printf(t, "\\u%04x", c);
		else
			text_bytes(t, s, len);
		s += len ? len : 1;
	}
	text_bytes(t, "\"", 1);
}

/* Add a comma if the last byte calls for one, and the key. A value never ends in '{', '[' or ':',
 * so these bytes mean that no comma is needed. */
static void lead_in(struct text *t, const char *key)
{
	if (t->len > 0 && !strchr("{[:\n", t->data[t->len - 1]))
		text_add(t, ",");
	if (key) {
		add_quoted(t, key);
		text_add(t, ":");
	}
}

void json_begin(struct text *t, const char *key, char opening)
{
	lead_in(t, key);
	text_bytes(t, &opening, 1);
}

void json_end(struct text *t, char closing)
{
	text_bytes(t, &closing, 1);
}

void json_null(struct text *t, const char *key)
{
	lead_in(t, key);
	text_add(t, "null");
}

void json_bool(struct text *t, const char *key, bool value)
{
	lead_in(t, key);
	text_add(t, value ? "true" : "false");
}

void json_i64(struct text *t, const char *key, int64_t value)
{
	lead_in(t, key);
	text_i64(t, value);
}

void json_u64(struct text *t, const char *key, uint64_t value)
{
	lead_in(t, key);
	text_u64(t, value);
}

void json_double(struct text *t, const char *key, double value)
{
	lead_in(t, key);
	if (isfinite(value))
		text_double(t, value);
	else
		text_add(t, "null");
}

void json_rounded(struct text *t, const char *key, double value, int decimals)
{
	lead_in(t, key);
	if (isfinite(value))
		text_rounded(t, value, decimals);
	else
		text_add(t, "null");
}

void json_exact_seconds(struct text *t, const char *key, uint64_t ns)
{
	lead_in(t, key);
	text_seconds(t, ns);
}

void json_string(struct text *t, const char *key, const char *value)
{
	lead_in(t, key);
	if (value)
		add_quoted(t, value);
	else
		text_add(t, "null");
}
