/* SPDX-License-Identifier: MIT */
/* The summary as text, fitted into the columns of a terminal. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "summary.h"
#include "summary_words.h"
#include "text/columns.h"
#include "text/utf8.h"

enum {
	LABEL_COLUMNS = 14, /* with the two spaces before a label */
	VALUE_COLUMNS = 19, /* "at least 1009.0 KiB": what follows is in line */
	WIDE = 60,          /* columns from which on there is room for that */
	LONGEST_TITLE = 60, /* where the columns are not known */
	SHORTEST_TITLE = 12,
	SHORTEST_PIECE = 8, /* below that, a command line has no room for "..." */
	PLAIN_WIDTH = 100,  /* columns of an output that is no terminal */
};

/* SGR codes of the terminal. */
#define BOLD "1"
#define DIM "2"
#define GREEN "32"
#define RED "31"
#define YELLOW "33"

/* A text, and the terminal that will show it. */
struct page {
	struct text *out;
	const struct terminal *terminal;
	size_t width;  /* columns of a line */
	size_t column; /* that the next character goes to */
};

static struct page page_of(struct text *out, const struct terminal *terminal)
{
	size_t width = terminal->is_terminal ? (size_t)terminal_columns(terminal->fd) : PLAIN_WIDTH;
	const size_t least = LABEL_COLUMNS + SHORTEST_TITLE;

	return (struct page){ .out = out,
		              .terminal = terminal,
		              .width = width > least ? width : least };
}

/* Add a piece of a line that is never broken. */
static void add_piece(struct page *p, const char *color, const char *s, size_t len)
{
	bool is_colored = p->terminal->has_color && *color;

	if (is_colored)
		text_printf(p->out, "\033[%sm", color);
	text_bytes(p->out, s, len);
	if (is_colored)
		text_add(p->out, "\033[0m");
	p->column += columns_of(s, len);
}

static void end_line(struct page *p)
{
	text_add(p->out, "\n");
	p->column = 0;
}

static void begin_line(struct page *p, const char *label)
{
	char padded[40];
	int len = snprintf(padded, sizeof(padded), "  %-*s", LABEL_COLUMNS - 2, label);

	add_piece(p, *label ? DIM : "", padded, (size_t)len);
}

/* Add spaces, or begin a new line if what follows does not fit into this one. */
static void add_gap(struct page *p, size_t gap, size_t columns)
{
	if (p->column > LABEL_COLUMNS && p->column + gap + columns > p->width) {
		end_line(p);
		gap = LABEL_COLUMNS;
	}
	for (size_t i = 0; i < gap; i++)
		text_add(p->out, " ");
	p->column += gap;
}

/* Add words, which may continue on the next lines. */
static void add_words(struct page *p, const char *color, size_t gap, const char *words)
{
	bool is_colored = p->terminal->has_color && *color;

	for (bool is_first = true; *words; is_first = false) {
		size_t len = strcspn(words, " ");

		add_gap(p, is_first ? gap : 1, columns_of(words, len));
		if (is_colored && is_first)
			text_printf(p->out, "\033[%sm", color);
		add_piece(p, "", words, len);
		words += len;
		words += strspn(words, " ");
	}
	if (is_colored)
		text_add(p->out, "\033[0m");
}

/* Go to the column of what a value means. */
static void align(struct page *p)
{
	while (p->width >= WIDE && p->column < LABEL_COLUMNS + VALUE_COLUMNS) {
		text_add(p->out, " ");
		p->column++;
	}
}

/* The character set matters only to what is not ASCII. */
static void add_printable(struct text *out, const struct page *p, const char *s)
{
	bool is_ascii = true;

	for (const char *at = s; *at; at++)
		is_ascii &= (unsigned char)*at < 0x80;
	utf8_add_printable(out, s, !is_ascii && terminal_has_utf8(p->terminal));
}

/* Add printable text of another origin, cut to a number of columns. */
static void add_cut(struct page *p, const char *color, const char *s, size_t room)
{
	struct text shown = { 0 };
	size_t len;

	add_printable(&shown, p, s);
	len = columns_fit(shown.data ? shown.data : "", room);
	if (len < shown.len) {
		len = columns_fit(shown.data, room > 3 ? room - 3 : 0);
		shown.len = len;
		text_add(&shown, "...");
	}
	if (shown.len > 0)
		add_piece(p, color, shown.data, shown.len);
	text_free(&shown);
}

/* Returns a command line without the directory of its program. */
static const char *without_directory(const char *command)
{
	const char *name = command;

	for (const char *s = command; *s && *s != ' '; s++) {
		if (*s == '/' && s[1] && s[1] != ' ')
			name = s + 1;
	}
	return name;
}

/* Add a command line. One that is too long loses the directory of its program, and then its middle:
 * its end often has the name of a file. */
static void add_command(struct page *p, const char *command, size_t room)
{
	struct text shown = { 0 };
	size_t tail;

	add_printable(&shown, p, command);
	if (shown.len > 0 && columns_of(shown.data, shown.len) > room) {
		text_clear(&shown);
		add_printable(&shown, p, without_directory(command));
	}
	if (shown.len > 0 && columns_of(shown.data, shown.len) > room && room > SHORTEST_PIECE) {
		tail = columns_fit_end(shown.data, room / 2);
		add_piece(p, "", shown.data, columns_fit(shown.data, room - room / 2 - 3));
		add_piece(p, "", "...", 3);
		add_piece(p, "", shown.data + tail, shown.len - tail);
	} else if (shown.len > 0) {
		add_piece(p, "", shown.data, columns_fit(shown.data, room));
	}
	text_free(&shown);
}

static const char *color_of_ending(const struct usage *u)
{
	if (u->kind == USAGE_ATTACH)
		return "";
	return u->exit_code == 0 && !u->limit_passed ? GREEN : RED;
}

/* "rtrack: make -j4   exit 0". The title is cut, not the ending. */
static void add_title(struct page *p, const struct usage *u)
{
	struct text title = { 0 }, name = { 0 }, ending = { 0 };
	size_t room = LONGEST_TITLE, rest;

	if (summary_add_subject(&title, &name, u))
		text_add(&title, name.data ? name.data : "");
	if (u->kind != USAGE_SYSTEM)
		summary_add_ending(&ending, u);
	rest = strlen("rtrack:    ") + ending.len;
	if (p->terminal->is_terminal)
		room = p->width > rest + SHORTEST_TITLE ? p->width - rest : SHORTEST_TITLE;
	add_piece(p, "", "rtrack: ", strlen("rtrack: "));
	add_cut(p, BOLD, title.data ? title.data : "", room);
	if (ending.len > 0)
		add_words(p, color_of_ending(u), 3, ending.data);
	end_line(p);
	text_free(&title);
	text_free(&name);
	text_free(&ending);
}

/* Add a graph on a line of its own. full: value of the highest bar, or 0. */
static void add_graph(struct page *p, const struct history *h, double full, const char *meaning)
{
	struct text graph = { 0 };

	if (!h || h->used < 2)
		return;
	history_draw(h, full, p->width - LABEL_COLUMNS, &graph, terminal_has_utf8(p->terminal));
	begin_line(p, "");
	add_piece(p, GREEN, graph.data, graph.len);
	add_words(p, "", 3, meaning);
	end_line(p);
	text_free(&graph);
}

static const char *words_of_peak(const struct usage *u)
{
	if (u->peak_cores_exact)
		return "";
	return u->peak_cores > u->peak_cores_least ? "about " : "at least ";
}

static void add_graph_of(struct page *p, const struct summary_field *field, const struct usage *u)
{
	char peak[40] = "";

	if (field->group)
		return;
	if (strcmp(field->name, "cores_used") == 0 && !summary_is_unknown(field, u)) {
		snprintf(peak, sizeof(peak), "peak %s%.2f", words_of_peak(u), u->peak_cores);
		add_graph(p, u->cores, 1, u->peak_cores >= 0 ? peak : "");
	} else if (strcmp(field->name, "peak_footprint_bytes") == 0) {
		add_graph(p, u->memory, 0, "");
	} else if (strcmp(field->name, "peak_memory_used_bytes") == 0) {
		add_graph(p, u->memory, (double)u->memory_total_bytes, "");
	}
}

static void add_field(struct page *p, const struct summary_field *field, const struct usage *u)
{
	struct text value = { 0 }, meaning = { 0 };

	begin_line(p, field->label);
	summary_add_value(&value, field, u);
	summary_add_meaning(&meaning, field, u);
	if (field->unit == UNIT_WORD)
		add_cut(p, "", value.data, p->width - LABEL_COLUMNS);
	else
		add_piece(p, "", value.data, value.len);
	if (meaning.len > 0) {
		align(p);
		add_words(p, "", 2, meaning.data);
	}
	end_line(p);
	add_graph_of(p, field, u);
	text_free(&value);
	text_free(&meaning);
}

static void add_top(struct page *p, const char *label, const struct top_list *list,
                    void (*add)(struct text *out, const struct top_process *process))
{
	for (size_t i = 0; i < list->count; i++) {
		const struct top_process *process = &list->process[i];
		struct text value = { 0 };

		add(&value, process);
		begin_line(p, i == 0 ? label : "");
		add_piece(p, "", value.data, value.len);
		align(p);
		add_gap(p, 2, SHORTEST_TITLE);
		add_command(p, summary_top_command(process), p->width - p->column);
		end_line(p);
		text_free(&value);
	}
}

static void add_accounting(struct page *p, const struct usage *u)
{
	struct text words = { 0 };

	summary_add_accounting(&words, u);
	begin_line(p, "accounting");
	add_words(p, u->complete ? GREEN : YELLOW, 0, words.data);
	end_line(p);
	for (unsigned i = 0;; i++) {
		text_clear(&words);
		if (!summary_add_caveat(&words, u, i))
			break;
		begin_line(p, "");
		add_words(p, "", 0, words.data);
		end_line(p);
	}
	text_free(&words);
}

void summary_as_text(struct text *out, const struct terminal *terminal, const struct usage *u,
                     bool is_long)
{
	struct page p = page_of(out, terminal);
	const struct summary_field *field;

	add_title(&p, u);
	for (size_t i = 0; (field = summary_field_at(i)); i++) {
		if (summary_shows(field, u, is_long))
			add_field(&p, field, u);
	}
	if (summary_shows_top(u)) {
		add_top(&p, "most CPU", &u->top->by_cpu, summary_add_top_cpu);
		add_top(&p, "most memory", &u->top->by_memory, summary_add_top_memory);
	}
	if (u->kind != USAGE_SYSTEM)
		add_accounting(&p, u);
}
