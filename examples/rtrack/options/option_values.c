/* SPDX-License-Identifier: MIT */
/* The values of options: from text to struct options. */
#include "option_values.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "follow/figures.h"
#include "option_table.h"
#include "series/format.h"
#include "text/units.h"
#include "trace/trace_format.h"
#include "trace/trace_names.h"

#define SHORTEST_INTERVAL_NS (NS_PER_S / 1000)

/* As the library has it. */
#define RING_BYTES_MAX (UINT64_C(64) << 20)

/* Find a word in a list that ends with NULL. Returns 0 and its index, or -EINVAL. */
static int pick(const char *word, const char *const *words, unsigned *index)
{
	for (unsigned i = 0; words[i]; i++) {
		if (strcmp(word, words[i]) == 0) {
			*index = i;
			return 0;
		}
	}
	return -EINVAL;
}

static const char *const when_words[] = { "auto", "always", "never", NULL };

bool option_is_when(const char *word)
{
	unsigned index;

	return pick(word, when_words, &index) == 0;
}

static int set_when(enum when *out, const char *word)
{
	unsigned chosen;
	int err = pick(word, when_words, &chosen);

	if (err == 0)
		*out = (enum when)chosen;
	return err;
}

static int set_pss(struct options *o, const char *word)
{
	static const char *const words[] = { "budget", "exact", "off", NULL };
	unsigned chosen;
	int err = pick(word, words, &chosen);

	if (err == 0)
		o->pss = (enum pss_reads)chosen;
	return err;
}

static int set_summary(struct options *o, const char *word)
{
	static const char *const words[] = { "text", "json", "markdown", "none", NULL };
	unsigned chosen;
	int err = pick(word, words, &chosen);

	if (err < 0)
		return err;
	o->summary = (enum summary_form)chosen;
	o->has_summary_form = true;
	o->no_summary = false;
	return 0;
}

static int set_template(struct options *o, const char *pattern)
{
	o->template = pattern;
	o->summary = SUMMARY_TEMPLATE;
	o->has_summary_form = true;
	o->no_summary = false;
	return *pattern ? 0 : -EINVAL;
}

static int set_time_format(struct options *o, const char *word)
{
	static const char *const words[] = { "epoch", "iso", NULL };
	unsigned chosen;
	int err = pick(word, words, &chosen);

	if (err == 0)
		o->has_iso_times = chosen == 1;
	return err;
}

static int set_accounting(struct options *o, const char *word)
{
	for (o->accounting = 0; accounting_name(o->accounting); o->accounting++) {
		if (strcmp(word, accounting_name(o->accounting)) == 0)
			return 0;
	}
	return -EINVAL;
}

/* Parse names that are separated by commas. */
static int set_calls(struct options *o, const char *words)
{
	for (o->calls = 0;; words++) {
		size_t len = strcspn(words, ",");
		uint32_t call = trace_call_by_name(words, len);

		if (!call)
			return -EINVAL;
		o->calls |= call;
		words += len;
		if (!*words)
			return 0;
	}
}

/* The words are in the order of the RT_TRACE_BACK_END_ values. */
static int set_back_end(struct options *o, const char *word)
{
	static const char *const words[] = { "auto", "bpf", "ptrace", NULL };

	return pick(word, words, &o->back_end);
}

static int set_format(struct options *o, const char *word)
{
	static const char *const words[] = { "text", "json", NULL };
	unsigned chosen;
	int err;

	if (o->command->bit == FOR_TRACE) {
		o->trace_format = trace_format_by_name(word);
		return o->trace_format ? 0 : -EINVAL;
	}
	if (o->command->bit != FOR_RUSAGE) {
		o->format = format_by_name(word);
		return o->format ? 0 : -EINVAL;
	}
	err = pick(word, words, &chosen);
	if (err < 0)
		return err;
	o->as_json = chosen == 1;
	o->has_rusage_form = true;
	return 0;
}

static int set_pid(struct options *o, const char *word)
{
	uint64_t pid;
	int err = parse_count(word, INT32_MAX, &pid);

	if (err == 0)
		o->pid = (int32_t)pid;
	return err;
}

static int set_interval(struct options *o, const char *word)
{
	int err = parse_duration(word, &o->interval_ns);

	if (err < 0)
		return err;
	return o->interval_ns < SHORTEST_INTERVAL_NS ? -ERANGE : 0;
}

/* The word is kept to name the limit as the user has. */
static int set_limit(struct options *o, int key, const char *word)
{
	switch (key) {
	case KEY_TIMEOUT:
		o->limit_words.timeout = word;
		return parse_duration(word, &o->timeout_ns);
	case KEY_MAX_MEMORY:
		o->limit_words.memory = word;
		return parse_size(word, &o->max_memory_bytes);
	case KEY_MAX_CPU_TIME:
		o->limit_words.cpu_time = word;
		return parse_duration(word, &o->max_cpu_ns);
	default:
		o->limit_words.processes = word;
		return parse_count(word, UINT32_MAX, &o->max_processes);
	}
}

static int set_ring_bytes(struct options *o, const char *word)
{
	int err = parse_size(word, &o->ring_bytes);

	return err == 0 && o->ring_bytes > RING_BYTES_MAX ? -ERANGE : err;
}

/* Returns where an option keeps a text that must not be empty, or NULL if it has another value. */
static const char **find_text(struct options *o, int key)
{
	switch (key) {
	case 'o':
		return &o->output;
	case KEY_FIELDS:
		return &o->fields;
	case KEY_META:
		return &o->meta;
	case KEY_SUMMARY_FILE:
		return &o->summary_file;
	case KEY_PROCESSES:
		return &o->processes;
	case KEY_CGROUP:
		return &o->cgroup;
	case KEY_UNIT:
		return &o->unit;
	case KEY_CONTAINER:
		return &o->container;
	case KEY_NAME:
		return &o->name;
	case KEY_ROOT:
		return &o->root;
	case KEY_NETNS:
		return &o->netns;
	default:
		return NULL;
	}
}

int option_set_value(struct options *o, int key, const char *argument)
{
	const char **text = find_text(o, key);

	if (text) {
		*text = argument;
		return *argument ? 0 : -EINVAL;
	}
	switch (key) {
	case 'i':
		return set_interval(o, argument);
	case 'd':
		return parse_duration(argument, &o->duration_ns);
	case KEY_COUNT:
		return parse_count(argument, UINT64_MAX, &o->count);
	case KEY_TIMEOUT:
	case KEY_MAX_MEMORY:
	case KEY_MAX_CPU_TIME:
	case KEY_MAX_PROCESSES:
		return set_limit(o, key, argument);
	case 'f':
		return set_format(o, argument);
	case KEY_TIME_FORMAT:
		return set_time_format(o, argument);
	case KEY_SUMMARY:
		return set_summary(o, argument);
	case KEY_TEMPLATE:
		return set_template(o, argument);
	case KEY_LABEL:
		o->label = argument;
		return 0;
	case KEY_ACCOUNTING:
		return set_accounting(o, argument);
	case KEY_PSS:
		return set_pss(o, argument);
	case KEY_CALLS:
		return set_calls(o, argument);
	case KEY_BACK_END:
		return set_back_end(o, argument);
	case KEY_RING_BYTES:
		return set_ring_bytes(o, argument);
	case KEY_WAIT:
		o->wait = true;
		return parse_duration(argument, &o->wait_ns);
	case KEY_LIVE:
		return set_when(&o->live, argument);
	case KEY_COLOR:
		return set_when(&o->color, argument);
	default:
		return set_pid(o, argument);
	}
}

void option_set_flag(struct options *o, int key)
{
	switch (key) {
	case 'a':
		o->append = true;
		break;
	case 'q':
		o->quiet = true;
		o->no_summary = true;
		o->live = WHEN_NEVER;
		break;
	case 'v':
		o->verbose = true;
		break;
	case KEY_NO_CHILDREN:
		o->no_children = true;
		break;
	case KEY_RAW:
		o->raw = true;
		break;
	case KEY_HARD_MEMORY:
		o->hard_memory = true;
		break;
	case KEY_STRICT_LIMITS:
		o->strict_limits = true;
		break;
	case KEY_PER_PROCESS:
		o->per_process = true;
		break;
	case KEY_GPU:
		o->gpu = true;
		break;
	case KEY_CHILDREN:
		o->of_children = true;
		break;
	case KEY_THREAD:
		o->of_thread = true;
		break;
	case KEY_JSON:
		o->as_json = true;
		o->has_rusage_form = true;
		break;
	case KEY_LIST_FIELDS:
		o->list_fields = true;
		break;
	case KEY_ALL:
		o->all = true;
		break;
	case KEY_FULL:
		o->full = true;
		break;
	case KEY_WAIT:
		o->wait = true;
		break;
	case KEY_LIVE_CHILDREN:
		o->live_children = true;
		break;
	}
}
