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
#include "rungs.h"

/* What one kind of tracker can do. */
struct ability {
	const char *title, *key;
	struct rt_tracker *tracker;
	int err; /* why there is no tracker, or no sample */
	struct rt_metrics sample;
};

/* What is known of commands, learned from one that did nothing at each rung. */
struct command_ability {
	int err[RT_ACCOUNTING_BPF + 1]; /* by rung: why it cannot be had, or 0 */
	uint64_t valid;                 /* RT_HAS_ bits that some rung had */
};

static const struct {
	uint32_t id;
	const char *name;
} structs[] = {
	{ RT_STRUCT_RUSAGE, "rusage" },
	{ RT_STRUCT_METRICS, "metrics" },
	{ RT_STRUCT_DELTA, "delta" },
	{ RT_STRUCT_OUTCOME, "outcome" },
	{ RT_STRUCT_PROCESS, "process" },
	{ RT_STRUCT_CPU, "cpu" },
	{ RT_STRUCT_DISK, "disk" },
	{ RT_STRUCT_FILESYSTEM, "filesystem" },
	{ RT_STRUCT_NETWORK, "network" },
	{ RT_STRUCT_ZPOOL, "zpool" },
	{ RT_STRUCT_COMMAND_PROCESS, "command_process" },
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

static void try_commands(struct command_ability *a)
{
	*a = (struct command_ability){ 0 };
	for (uint32_t rung = RT_ACCOUNTING_POLL; rung <= RT_ACCOUNTING_BPF; rung++) {
		struct rt_outcome outcome;

		a->err[rung] = rung_try(rung, &outcome);
		if (a->err[rung] == 0 && rung != RT_ACCOUNTING_POLL)
			a->valid |= outcome.valid;
	}
}

/* Why a rung cannot be had; NULL when it can. */
static const char *rung_obstacle(const struct command_ability *a, uint32_t rung)
{
	if (a->err[rung] == -EOPNOTSUPP)
		return rung_lacks(rung);
	return a->err[rung] < 0 ? rt_strerror(a->err[rung]) : NULL;
}

/* A supervisor that hears of every process has counted them. */
static const char *events_obstacle(const struct command_ability *a)
{
	if (a->err[RT_ACCOUNTING_WAIT] < 0)
		return rung_obstacle(a, RT_ACCOUNTING_WAIT);
	return a->valid & RT_HAS_PROCESSES
	           ? NULL
	           : "the kernel does not tell them to this user, or in this namespace";
}

static int is_of_commands(const struct domain *domain)
{
	return !domain->of_tree && !domain->of_system;
}

static const char *outcome_obstacle(const struct command_ability *a, const struct domain *domain)
{
	if (a->valid & domain->bit)
		return NULL;
	if (domain->bit == RT_HAS_PROCESSES_PEAK)
		return events_obstacle(a);
	return a->err[RT_ACCOUNTING_CGROUP] < 0
	           ? rung_obstacle(a, RT_ACCOUNTING_CGROUP)
	           : "its controller is not enabled for cgroups made here";
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
		text_printf(out, "  %-28s %s%s%s\n", domain->about, answer, why ? ": " : "",
		            why ? why : "");
	}
}

static void text_of_answer(struct text *out, const char *about, const char *obstacle)
{
	text_printf(out, "  %-28s %s%s%s\n", about, obstacle ? "no" : "yes", obstacle ? ": " : "",
	            obstacle ? obstacle : "");
}

static void text_of_commands(struct text *out, const struct command_ability *a)
{
	const struct domain *domain;
	char about[40];

	text_add(out, "\nCommands:\n");
	for (uint32_t rung = RT_ACCOUNTING_POLL; rung <= RT_ACCOUNTING_BPF; rung++) {
		snprintf(about, sizeof(about), "accounting by %s", accounting_name(rung));
		text_of_answer(out, about, rung_obstacle(a, rung));
	}
	text_of_answer(out, "process events", events_obstacle(a));
	for (size_t i = 0; (domain = domain_at(i)); i++) {
		if (is_of_commands(domain))
			text_of_answer(out, domain->about, outcome_obstacle(a, domain));
	}
}

static void text_of_info(struct text *out, const struct utsname *kernel,
                         const struct ability *abilities, const struct command_ability *commands)
{
	uint32_t loaded = rt_version();

	text_printf(out, "library   %u.%u.%u\n", loaded >> 16, loaded >> 8 & 0xff, loaded & 0xff);
	text_printf(out, "headers   %d.%d.%d\n", RT_VERSION_MAJOR, RT_VERSION_MINOR,
	            RT_VERSION_PATCH);
	text_printf(out, "kernel    %s %s %s\n", kernel->sysname, kernel->release, kernel->machine);
	text_add(out, "fields   ");
	for (int i = 0; i < STRUCT_COUNT; i++)
		text_printf(out, "%s%s %u", i ? ", " : " ", structs[i].name,
		            rt_field_count(structs[i].id));
	text_add(out, "\n");
	text_of_ability(out, &abilities[0]);
	text_of_ability(out, &abilities[1]);
	text_of_commands(out, commands);
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

static void json_of_answer(struct text *out, const char *key, const char *obstacle)
{
	json_begin(out, key, '{');
	json_string(out, "available", obstacle ? "no" : "yes");
	json_string(out, "why", obstacle);
	json_end(out, '}');
}

static void json_of_commands(struct text *out, const struct command_ability *a)
{
	const struct domain *domain;

	json_begin(out, "command", '{');
	json_begin(out, "accounting", '{');
	for (uint32_t rung = RT_ACCOUNTING_POLL; rung <= RT_ACCOUNTING_BPF; rung++)
		json_of_answer(out, accounting_name(rung), rung_obstacle(a, rung));
	json_end(out, '}');
	json_of_answer(out, "process_events", events_obstacle(a));
	json_begin(out, "domains", '{');
	for (size_t i = 0; (domain = domain_at(i)); i++) {
		if (is_of_commands(domain))
			json_of_answer(out, domain->name, outcome_obstacle(a, domain));
	}
	json_end(out, '}');
	json_end(out, '}');
}

static void json_of_versions(struct text *out)
{
	uint32_t loaded = rt_version();
	char version[32];

	snprintf(version, sizeof(version), "%u.%u.%u", loaded >> 16, loaded >> 8 & 0xff,
	         loaded & 0xff);
	json_string(out, "library", version);
	snprintf(version, sizeof(version), "%d.%d.%d", RT_VERSION_MAJOR, RT_VERSION_MINOR,
	         RT_VERSION_PATCH);
	json_string(out, "headers", version);
}

static void json_of_info(struct text *out, const struct utsname *kernel,
                         const struct ability *abilities, const struct command_ability *commands)
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
	json_of_commands(out, commands);
	json_end(out, '}');
	text_add(out, "\n");
}

int command_info(const struct options *options)
{
	struct ability abilities[2];
	struct command_ability commands;
	struct utsname kernel = { .sysname = "unknown" };
	struct text out = { 0 };

	if (options->operand_count > 0)
		return usage_error(options, "it takes no arguments");
	uname(&kernel);
	try_tree(&abilities[0]);
	try_system(&abilities[1]);
	try_commands(&commands);
	if (options->as_json)
		json_of_info(&out, &kernel, abilities, &commands);
	else
		text_of_info(&out, &kernel, abilities, &commands);
	fwrite(out.data, 1, out.len, stdout);
	text_free(&out);
	rt_tracker_free(abilities[0].tracker);
	rt_tracker_free(abilities[1].tracker);
	return 0;
}
