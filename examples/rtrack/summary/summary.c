/* SPDX-License-Identifier: MIT */
/* The summary at the end: opens its output and chooses its form. */
#include "summary.h"

#include <unistd.h>

#include "template.h"

int summary_open(struct summary *s, const struct options *options)
{
	int err = 0;

	*s = (struct summary){ .options = options, .out = { .fd = -1 } };
	if (options->summary == SUMMARY_NONE)
		return 0;
	if (options->summary_file)
		err = output_open(&s->out, options->summary_file, "summary", false);
	else
		s->out = (struct output){ .fd = STDERR_FILENO,
			                  .name = "standard error",
			                  .what = "summary" };
	return err;
}

bool summary_wants_top(const struct summary *s)
{
	return s->out.fd >= 0 && s->options->summary != SUMMARY_TEMPLATE;
}

/* A terminal acts on control characters, a script may want each byte. */
static enum template_texts template_texts(const struct summary *s)
{
	if (!s->terminal.is_terminal)
		return s->options->raw ? TEMPLATE_RAW : TEMPLATE_PRINTABLE;
	return terminal_has_utf8(&s->terminal) ? TEMPLATE_PRINTABLE : TEMPLATE_ASCII;
}

static void add_form(struct summary *s, const struct usage *usage)
{
	const struct options *options = s->options;

	switch (options->summary) {
	case SUMMARY_JSON:
		summary_as_json(&s->out.text, usage);
		break;
	case SUMMARY_MARKDOWN:
		summary_as_markdown(&s->out.text, usage, options->verbose);
		break;
	case SUMMARY_TEMPLATE:
		template_fill(&s->out.text, options->template, usage, template_texts(s));
		break;
	default:
		summary_as_text(&s->out.text, &s->terminal, usage, options->verbose);
	}
}

/* Write it in one call, so output of processes that still run does not appear in it. */
void summary_write(struct summary *s, const struct usage *usages, size_t count)
{
	if (s->out.fd < 0)
		return;
	if (s->options->summary == SUMMARY_TEXT || s->options->summary == SUMMARY_TEMPLATE)
		terminal_init(&s->terminal, s->out.fd, s->options->color);
	for (size_t i = 0; i < count; i++)
		add_form(s, &usages[i]);
	output_begin(&s->out);
	output_flush(&s->out);
}

void summary_close(struct summary *s)
{
	output_close(&s->out);
}
