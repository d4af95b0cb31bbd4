/* SPDX-License-Identifier: MIT */
/* rtrack info: versions, and what can be measured here and why not. */
#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "commands.h"
#include "figures.h"
#include "json.h"

/* What one kind of tracker can do. */
struct ability {
	const char *title, *key;
	struct rt_tracker *tracker;
	int err; /* why there is no tracker, or no sample */
	struct rt_metrics sample;
};

static const struct {
	uint32_t id;
	const char *name;
} structs[] = {
	{ RT_STRUCT_RUSAGE, "rusage" },   { RT_STRUCT_METRICS, "metrics" },       { RT_STRUCT_DELTA, "delta" },
	{ RT_STRUCT_OUTCOME, "outcome" }, { RT_STRUCT_PROCESS, "process" },       { RT_STRUCT_CPU, "cpu" },
	{ RT_STRUCT_DISK, "disk" },       { RT_STRUCT_FILESYSTEM, "filesystem" }, { RT_STRUCT_NETWORK, "network" },
	{ RT_STRUCT_ZPOOL, "zpool" },
};

enum { STRUCT_COUNT = sizeof(structs) / sizeof(structs[0]) };

static void try_tree(struct ability *a)
{
	*a = (struct ability){ .title = "A process tree", .key = "process" };
	a->err = rt_pid_tracker_new(&a->tracker, getpid(), NULL);
	if (a->err == 0)
		a->err = rt_sample(a->tracker, &a->sample, sizeof(a->sample));
}

static void try_system(struct ability *a)
{
	*a = (struct ability){ .title = "The machine", .key = "system" };
	a->err = rt_system_tracker_new(&a->tracker, NULL);
	if (a->err == 0)
		a->err = rt_sample(a->tracker, &a->sample, sizeof(a->sample));
}

static int concerns(const struct ability *a, const struct domain *domain)
{
	return a->sample.kind == RT_KIND_SYSTEM ? domain->of_system : domain->of_tree;
}

/* "yes", "partial" or "no", and why. */
static const char *verdict(const struct ability *a, const struct domain *domain, const char **why)
{
	int err = rt_tracker_status(a->tracker, domain->bit);

	*why = err < 0 ? rt_strerror(err) : NULL;
	if (a->sample.valid & domain->bit)
		return "yes";
	return a->sample.partial & domain->bit ? "partial" : "no";
}

static void text_of_ability(struct text *out, const struct ability *a)
{
	const struct domain *domain;

	text_printf(out, "\n%s:\n", a->title);
	if (a->err < 0) {
		text_printf(out, "  cannot be followed: %s\n", rt_strerror(a->err));
		return;
	}
	for (size_t i = 0; (domain = domain_at(i)); i++) {
		const char *why, *answer;

		if (!concerns(a, domain))
			continue;
		answer = verdict(a, domain, &why);
		text_printf(out, "  %-28s %s%s%s\n", domain->about, answer, why ? ": " : "", why ? why : "");
	}
}

static void text_of_info(struct text *out, const struct utsname *kernel, const struct ability *abilities)
{
	uint32_t loaded = rt_version();

	text_printf(out, "library   %u.%u.%u\n", loaded >> 16, loaded >> 8 & 0xff, loaded & 0xff);
	text_printf(out, "headers   %d.%d.%d\n", RT_VERSION_MAJOR, RT_VERSION_MINOR, RT_VERSION_PATCH);
	text_printf(out, "kernel    %s %s %s\n", kernel->sysname, kernel->release, kernel->machine);
	text_add(out, "fields   ");
	for (int i = 0; i < STRUCT_COUNT; i++)
		text_printf(out, "%s%s %u", i ? ", " : " ", structs[i].name, rt_field_count(structs[i].id));
	text_add(out, "\n");
	text_of_ability(out, &abilities[0]);
	text_of_ability(out, &abilities[1]);
}

static void json_of_ability(struct text *out, const struct ability *a)
{
	const struct domain *domain;

	json_begin(out, a->key, '{');
	json_string(out, "error", a->err < 0 ? rt_strerror(a->err) : NULL);
	json_begin(out, "domains", '{');
	for (size_t i = 0; a->err == 0 && (domain = domain_at(i)); i++) {
		const char *why, *answer;

		if (!concerns(a, domain))
			continue;
		answer = verdict(a, domain, &why);
		json_begin(out, domain->name, '{');
		json_string(out, "available", answer);
		json_string(out, "why", why);
		json_end(out, '}');
	}
	json_end(out, '}');
	json_end(out, '}');
}

static void json_of_versions(struct text *out)
{
	uint32_t loaded = rt_version();
	char version[32];

	snprintf(version, sizeof(version), "%u.%u.%u", loaded >> 16, loaded >> 8 & 0xff, loaded & 0xff);
	json_string(out, "library", version);
	snprintf(version, sizeof(version), "%d.%d.%d", RT_VERSION_MAJOR, RT_VERSION_MINOR, RT_VERSION_PATCH);
	json_string(out, "headers", version);
}

static void json_of_info(struct text *out, const struct utsname *kernel, const struct ability *abilities)
{
	json_begin(out, NULL, '{');
	json_of_versions(out);
	json_begin(out, "kernel", '{');
	json_string(out, "name", kernel->sysname);
	json_string(out, "release", kernel->release);
	json_string(out, "machine", kernel->machine);
	json_end(out, '}');
	json_begin(out, "fields", '{');
	for (int i = 0; i < STRUCT_COUNT; i++)
		json_u64(out, structs[i].name, rt_field_count(structs[i].id));
	json_end(out, '}');
	json_of_ability(out, &abilities[0]);
	json_of_ability(out, &abilities[1]);
	json_end(out, '}');
	text_add(out, "\n");
}

int command_info(const struct options *options)
{
	struct ability abilities[2];
	struct utsname kernel = { .sysname = "unknown" };
	struct text out = { 0 };

	if (options->operand_count > 0)
		return usage_error(options, "it takes no arguments");
	uname(&kernel);
	try_tree(&abilities[0]);
	try_system(&abilities[1]);
	if (options->as_json)
		json_of_info(&out, &kernel, abilities);
	else
		text_of_info(&out, &kernel, abilities);
	fwrite(out.data, 1, out.len, stdout);
	text_free(&out);
	rt_tracker_free(abilities[0].tracker);
	rt_tracker_free(abilities[1].tracker);
	return 0;
}
