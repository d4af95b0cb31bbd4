/* SPDX-License-Identifier: MIT */
/* Templates of a summary. */
#include "template.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "summary_fields.h"
#include "text/suggest.h"
#include "text/units.h"
#include "text/utf8.h"

#define TREE (USAGE_RUN | USAGE_ATTACH)
#define ANY (TREE | USAGE_SYSTEM)

/* Linux never counts it: getrusage(2) has 0, and GNU time writes it. */
#define ALWAYS_ZERO NULL

/* The letters of -f of GNU time. The field says whether the value is known. */
static const struct letter {
	char letter;
	unsigned kinds;
	const char *field;
} letters[] = {
	{ 'C', TREE, "command" },
	{ 'D', ANY, ALWAYS_ZERO },
	{ 'E', ANY, "wall_seconds" },
	{ 'F', TREE, "major_faults" },
	{ 'I', TREE, "read_bytes" },
	{ 'K', ANY, ALWAYS_ZERO },
	{ 'M', TREE, "peak_rss_bytes" },
	{ 'O', TREE, "write_bytes" },
	{ 'P', ANY, "cpu_percent" },
	{ 'R', TREE, "minor_faults" },
	{ 'S', ANY, "cpu_system_seconds" },
	{ 'U', ANY, "cpu_user_seconds" },
	{ 'W', ANY, ALWAYS_ZERO },
	{ 'X', ANY, ALWAYS_ZERO },
	{ 'Z', ANY, ALWAYS_ZERO },
	{ 'c', TREE, "involuntary_switches" },
	{ 'e', ANY, "wall_seconds" },
	{ 'k', ANY, ALWAYS_ZERO },
	{ 'p', ANY, ALWAYS_ZERO },
	{ 'r', ANY, ALWAYS_ZERO },
	{ 's', ANY, ALWAYS_ZERO },
	{ 't', ANY, ALWAYS_ZERO },
	{ 'w', TREE, "voluntary_switches" },
	{ 'x', TREE, "exit_status" },
};

static const struct letter *find_letter(char c, unsigned kinds)
{
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
		if (letters[i].letter == c && letters[i].kinds & kinds)
			return &letters[i];
	}
	return NULL;
}

/* "1:02.34", or "1:02:03" from an hour on. */
static void add_clock(struct text *out, uint64_t ns)
{
	uint64_t s = ns / (uint64_t)NS_PER_S;

	if (s >= 3600)
		text_printf(out, "%" PRIu64 ":%02u:%02u", s / 3600, (unsigned)(s / 60 % 60),
		            (unsigned)(s % 60));
	else
		text_printf(out, "%u:%02u.%02u", (unsigned)(s / 60), (unsigned)(s % 60),
		            (unsigned)(ns / 10000000 % 100));
}

/* Add a value as it is, unless it has text of another origin. */
static void add_value(struct text *out, const struct summary_field *field, const struct usage *u,
                      enum template_texts texts)
{
	struct text plain = { 0 };

	if (texts == TEMPLATE_RAW || (field->unit != UNIT_WORD && field->unit != UNIT_WORDS)) {
		summary_field_add_plain(out, field, u);
		return;
	}
	summary_field_add_plain(&plain, field, u);
	utf8_add_printable(out, plain.data ? plain.data : "", texts == TEMPLATE_PRINTABLE);
	text_free(&plain);
}

/* Units and digits are those of GNU time. */
static void add_letter(struct text *out, const struct letter *letter, const struct usage *u,
                       enum template_texts texts)
{
	const struct summary_field *field;

	if (letter->letter == 'Z') {
		text_i64(out, sysconf(_SC_PAGESIZE));
		return;
	}
	if (letter->field == ALWAYS_ZERO) {
		text_add(out, "0");
		return;
	}
	field = summary_field_by_name(letter->field, strlen(letter->field), u->kind);
	if (!summary_field_is_known(field, u))
		text_add(out, "-");
	else if (letter->letter == 'E')
		add_clock(out, u->wall_ns);
	else if (letter->letter == 'P')
		text_printf(out, "%.0f%%", u->cpu_percent);
	else if (letter->letter == 'M')
		text_u64(out, u->peak_rss_bytes / 1024);
	else if (letter->letter == 'I' || letter->letter == 'O')
		text_u64(out, summary_field_whole(field, u) / 512);
	else if (field->unit == UNIT_SECONDS)
		text_printf(out, "%.2f", seconds(summary_field_whole(field, u)));
	else
		add_value(out, field, u, texts);
}

/* What stands at one place of a template. */
struct token {
	size_t len;    /* of the pattern */
	char plain[2]; /* itself, if it is one */
	const struct summary_field *field;
	const struct letter *letter;
};

static char escaped(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case '\\':
		return '\\';
	default:
		return '\0';
	}
}

/* Get the name of a figure that may be meant; an empty one if there is none. */
static void find_closest(const char *word, unsigned kinds, struct suggestion *best)
{
	const struct summary_field *field;
	char name[sizeof(best->name)];

	for (size_t i = 0; (field = summary_field_at(i)); i++) {
		snprintf(name, sizeof(name), "%s%s%s", field->group ? field->group : "",
		         field->group ? "_" : "", field->name);
		if (field->kinds & kinds)
			suggest_closer(best, word, name);
	}
}

static void say_unknown_name(char problem[TEMPLATE_PROBLEM_BYTES], const char *name, size_t len,
                             unsigned kinds)
{
	struct suggestion meant = { 0 };
	char word[60];
	const char *rest = len >= sizeof(word) ? "..." : "";

	snprintf(word, sizeof(word), "%.*s", (int)(len < 60 ? len : 60), name);
	find_closest(word, kinds, &meant);
	if (meant.name[0])
		snprintf(problem, TEMPLATE_PROBLEM_BYTES,
		         "unknown figure '%s%s' in the template: did you mean '%s'?", word, rest,
		         meant.name);
	else
		snprintf(problem, TEMPLATE_PROBLEM_BYTES,
		         "unknown figure '%s%s' in the template: '--template help' lists them",
		         word, rest);
}

static bool read_name(const char *s, unsigned kinds, struct token *token,
                      char problem[TEMPLATE_PROBLEM_BYTES])
{
	size_t len = strcspn(s + 1, "}");

	if (s[1 + len] != '}') {
		snprintf(problem, TEMPLATE_PROBLEM_BYTES,
		         "'{' without '}' in the template: write {{ for a brace");
		return false;
	}
	token->len = len + 2;
	token->field = summary_field_by_name(s + 1, len, kinds);
	if (!token->field)
		say_unknown_name(problem, s + 1, len, kinds);
	return token->field != NULL;
}

static bool read_letter(const char *s, unsigned kinds, struct token *token,
                        char problem[TEMPLATE_PROBLEM_BYTES])
{
	token->letter = find_letter(s[1], kinds);
	if (!token->letter && s[1])
		snprintf(problem, TEMPLATE_PROBLEM_BYTES,
		         "unknown letter '%%%c' in the template: write %%%% for a percent sign",
		         s[1]);
	else if (!s[1])
		snprintf(problem, TEMPLATE_PROBLEM_BYTES,
		         "'%%' at the end of the template: write %%%%");
	return token->letter != NULL;
}

/* Read what stands at s. Returns false and says what is wrong if it is not valid. */
static bool read_token(const char *s, unsigned kinds, struct token *token,
                       char problem[TEMPLATE_PROBLEM_BYTES])
{
	bool is_doubled = s[0] && s[1] == s[0];

	*token = (struct token){ .len = 1, .plain = { s[0] } };
	if ((s[0] == '{' || s[0] == '}' || s[0] == '%') && is_doubled)
		token->len = 2;
	else if (s[0] == '{')
		return read_name(s, kinds, token, problem);
	else if (s[0] == '%') {
		token->len = 2;
		return read_letter(s, kinds, token, problem);
	} else if (s[0] == '\\' && escaped(s[1])) {
		token->len = 2;
		token->plain[0] = escaped(s[1]);
	}
	return true;
}

bool template_check(const char *pattern, unsigned kinds, char problem[TEMPLATE_PROBLEM_BYTES])
{
	struct token token;

	for (; *pattern; pattern += token.len) {
		if (!read_token(pattern, kinds, &token, problem))
			return false;
	}
	return true;
}

void template_fill(struct text *out, const char *pattern, const struct usage *u,
                   enum template_texts texts)
{
	struct token token;
	char problem[TEMPLATE_PROBLEM_BYTES];

	for (; *pattern; pattern += token.len) {
		if (!read_token(pattern, u->kind, &token, problem))
			break;
		if (token.field)
			add_value(out, token.field, u, texts);
		else if (token.letter)
			add_letter(out, token.letter, u, texts);
		else
			text_add(out, token.plain);
	}
	text_add(out, "\n");
}

void template_list_names(struct text *out, unsigned kinds)
{
	const struct summary_field *field;

	for (size_t i = 0; (field = summary_field_at(i)); i++) {
		if (field->kinds & kinds)
			text_printf(out, "{%s%s%s}\n", field->group ? field->group : "",
			            field->group ? "_" : "", field->name);
	}
}
