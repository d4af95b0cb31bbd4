/* SPDX-License-Identifier: MIT */
/* rtrack info: shows what is missing here, what can be measured, and why the rest cannot. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "accounting_methods.h"
#include "follow/figures.h"
#include "gpu_info.h"
#include "info_brief.h"
#include "info_fields.h"
#include "options/commands.h"
#include "text/json.h"
#include "trace/trace_back_ends.h"

/* Memory is an estimate if processes happen to change what they share while it is read. */
#define TREE_SAMPLES_MAX 5

/* What one kind of tracker can measure. */
struct capability {
	const char *title, *key;
	struct rt_tracker *tracker;
	int err; /* why there is no tracker or no sample, or 0 */
	struct rt_metrics sample;
};

/* What can be measured of commands: the result of running true(1) with each accounting method. */
struct command_capability {
	int err[RT_ACCOUNTING_BPF + 1]; /* by method: why it does not work, or 0 */
	uint32_t automatic;             /* what RT_ACCOUNTING_AUTO leads to; AUTO: nothing */
	uint64_t has;                   /* RT_HAS_ bits that any method had, lower bounds too */
	bool has_events;                /* the supervisor had an exact number of processes */
	struct accounting_hierarchy hierarchy[8]; /* in which a cgroup is made */
	size_t hierarchy_count;
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
	{ RT_STRUCT_TRACE_EVENT, "trace_event" },
	{ RT_STRUCT_GPU, "gpu" },
	{ RT_STRUCT_GPU_PROCESS, "gpu_process" },
};

enum { STRUCT_COUNT = sizeof(structs) / sizeof(structs[0]) };

static const uint32_t methods[] = { RT_ACCOUNTING_POLL, RT_ACCOUNTING_WAIT, RT_ACCOUNTING_CGROUP,
	                            RT_ACCOUNTING_BPF };

enum { METHOD_COUNT = sizeof(methods) / sizeof(methods[0]) };

static void try_tree(struct capability *a)
{
	const struct rt_opts opts = { .size = sizeof(opts), .want = rt_domains(RT_KIND_PID) };

	*a = (struct capability){ .title = "Process tree", .key = "process" };
	a->err = rt_pid_tracker_new(&a->tracker, getpid(), &opts);
	for (int i = 0; a->err == 0 && i < TREE_SAMPLES_MAX && (i == 0 || a->sample.estimated); i++)
		a->err = rt_sample(a->tracker, &a->sample, sizeof(a->sample));
}

static void try_system(struct capability *a)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .flags = RT_OPT_OWN_LIMITS,
		                      .want = rt_domains(RT_KIND_SYSTEM) };

	*a = (struct capability){ .title = "System", .key = "system" };
	a->err = rt_system_tracker_new(&a->tracker, &opts);
	if (a->err == 0)
		a->err = rt_sample(a->tracker, &a->sample, sizeof(a->sample));
}

static void try_commands(struct command_capability *a)
{
	struct rt_outcome outcome;

	*a = (struct command_capability){ 0 };
	for (int i = 0; i < METHOD_COUNT; i++) {
		uint32_t method = methods[i];

		a->err[method] = accounting_method_try(method, &outcome);
		if (a->err[method] == 0 && method != RT_ACCOUNTING_POLL)
			a->has |= outcome.valid | (outcome.partial & ~RT_HAS_PROCESSES);
		if (a->err[method] == 0 && method == RT_ACCOUNTING_WAIT)
			a->has_events = outcome.valid & RT_HAS_PROCESSES;
	}
	if (accounting_method_try(RT_ACCOUNTING_AUTO, &outcome) == 0)
		a->automatic = outcome.accounting;
	if (a->err[RT_ACCOUNTING_CGROUP] == 0)
		a->hierarchy_count = accounting_hierarchies(a->hierarchy, 8);
}

/* Returns why a method does not work here, or NULL if it works. */
static const char *method_problem(const struct command_capability *a, uint32_t method)
{
	if (a->err[method] == -EOPNOTSUPP)
		return accounting_method_missing(method);
	if (a->err[method] == -ENOPKG)
		return accounting_method_refusal(method);
	return a->err[method] < 0 ? rt_strerror(a->err[method]) : NULL;
}

/* Returns why process events do not work here, or NULL if they work. A supervisor that receives
 * process events has an exact number of processes; BPF has it without them. */
static const char *events_problem(const struct command_capability *a)
{
	if (a->err[RT_ACCOUNTING_WAIT] < 0)
		return method_problem(a, RT_ACCOUNTING_WAIT);
	return a->has_events
	           ? NULL
	           : "the kernel does not send them to this user, or not in this namespace";
}

/* Outcomes alone have it. The other domains of cgroups depend on the cgroup that is followed. */
static bool is_command_domain(uint64_t domain)
{
	return domain & (RT_HAS_PROCESSES_PEAK | RT_HAS_CGROUP_MEMORY | RT_HAS_CGROUP_IO |
	                 RT_HAS_CGROUP_TASKS);
}

/* Returns why the outcome of a command lacks a domain, or NULL if it has the domain. */
static const char *outcome_problem(const struct command_capability *a, uint64_t domain)
{
	if (a->has & domain)
		return NULL;
	if (domain == RT_HAS_PROCESSES_PEAK)
		return events_problem(a);
	return a->err[RT_ACCOUNTING_CGROUP] < 0
	           ? method_problem(a, RT_ACCOUNTING_CGROUP)
	           : "its controller is not enabled for new cgroups here, or shows nothing";
}

static bool domain_applies(const struct capability *a, uint64_t domain)
{
	return domain & rt_domains(a->sample.kind);
}

/* Returns "yes", "partial", "estimated" or "no", and fills in why. */
static const char *verdict(const struct capability *a, uint64_t domain, struct rt_obstacle *why)
{
	int err = rt_tracker_obstacle(a->tracker, domain, why, sizeof(*why));

	if (err < 0) { /* it was not asked for */
		*why = (struct rt_obstacle){ .error = err };
		snprintf(why->text, sizeof(why->text), "%s", rt_strerror(err));
	}
	if (domain & (RT_HAS_ZFS | RT_HAS_ZFS_ARC) &&
	    why->error == -ENOENT) /* as on most systems */
		snprintf(why->text, sizeof(why->text), "There is no ZFS here.");
	if (a->sample.valid & domain)
		return "yes";
	if (a->sample.estimated & domain)
		return "estimated";
	return a->sample.partial & domain ? "partial" : "no";
}

/* Users of the command call no functions. */
static void cut_advice_on_calls(char *text)
{
	char *call = strstr(text, ". rt_");

	if (call)
		call[1] = '\0';
}

static void text_of_capability(struct text *out, const struct capability *a)
{
	struct named_bit domain;

	text_printf(out, "\n%s:\n", a->title);
	if (a->err < 0) {
		text_printf(out, "  cannot be followed: %s\n", rt_strerror(a->err));
		return;
	}
	for (uint32_t i = 0; next_bit(RT_CONSTANTS_HAS, &i, &domain);) {
		struct rt_obstacle why;
		const char *answer;

		if (!domain_applies(a, domain.bit))
			continue;
		answer = verdict(a, domain.bit, &why);
		cut_advice_on_calls(why.text);
		text_printf(out, "  %-28s %s%s%s\n", domain.about, answer, why.error ? ": " : "",
		            why.text);
	}
}

static void text_of_answer(struct text *out, const char *about, const char *problem)
{
	text_printf(out, "  %-28s %s%s%s\n", about, problem ? "no" : "yes", problem ? ": " : "",
	            problem ? problem : "");
}

static void text_of_commands(struct text *out, const struct command_capability *a)
{
	struct named_bit domain;
	char about[40];

	text_add(out, "\nCommands:\n");
	for (int i = 0; i < METHOD_COUNT; i++) {
		snprintf(about, sizeof(about), "accounting by %s", accounting_name(methods[i]));
		text_of_answer(out, about, method_problem(a, methods[i]));
	}
	text_printf(out, "  %-28s %s\n", "accounting by default", accounting_name(a->automatic));
	if (a->hierarchy_count > 0)
		text_add(out, "  hierarchies of the cgroup   ");
	for (size_t i = 0; i < a->hierarchy_count; i++)
		text_printf(out, "%s%s%s", i ? "; " : " ", a->hierarchy[i].name,
		            i + 1 < a->hierarchy_count ? "" : "\n");
	text_of_answer(out, "process events", events_problem(a));
	for (uint32_t i = 0; next_bit(RT_CONSTANTS_HAS, &i, &domain);) {
		if (is_command_domain(domain.bit))
			text_of_answer(out, domain.about, outcome_problem(a, domain.bit));
	}
}

static void text_of_tracing(struct text *out, const struct trace_back_end *back_ends)
{
	char about[40];

	text_add(out, "\nCalls of getrusage:\n");
	for (int i = 0; i < TRACE_BACK_ENDS; i++) {
		const char *problem = *back_ends[i].problem ? back_ends[i].problem : NULL;

		snprintf(about, sizeof(about), "tracing by %s", back_ends[i].name);
		text_of_answer(out, about, problem);
	}
}

static void text_of_gpus(struct text *out, const struct gpu_info *gpus)
{
	text_add(out, "\nGPUs:\n");
	for (int i = 0; i < GPU_INTERFACES; i++) {
		const char *problem = gpus->interface[i].problem;

		text_of_answer(out, gpus->interface[i].about, *problem ? problem : NULL);
	}
	gpu_info_text(out, gpus);
}

/* --- What is missing. --- */

static void add_name(struct text *names, const char *name)
{
	text_printf(names, "%s%s", names->len ? ", " : "", name);
}

/* Figures that a tracker has by default, and that cannot be read even in part. Most systems have no
 * ZFS. */
static void name_missing(struct text *names, const struct capability *a)
{
	uint64_t has = a->sample.valid | a->sample.partial | a->sample.estimated;
	uint64_t wanted = rt_default_domains(a->sample.kind) & ~(RT_HAS_ZFS | RT_HAS_ZFS_ARC);
	struct named_bit domain;

	if (a->err < 0)
		add_name(names, "all");
	for (uint32_t i = 0; a->err == 0 && next_bit(RT_CONSTANTS_HAS, &i, &domain);) {
		if (domain.bit & wanted & ~has)
			add_name(names, domain.about);
	}
}

/* Without a cgroup, which is a loss of its own, there are no figures of it. */
static void name_missing_of_commands(struct text *names, const struct command_capability *a)
{
	struct named_bit domain;

	for (uint32_t i = 0; next_bit(RT_CONSTANTS_HAS, &i, &domain);) {
		if (is_command_domain(domain.bit) && domain.bit != RT_HAS_PROCESSES_PEAK &&
		    a->err[RT_ACCOUNTING_CGROUP] == 0 && outcome_problem(a, domain.bit))
			add_name(names, domain.about);
	}
}

static bool has_silent_gpu(const struct gpu_info *gpus)
{
	return gpus->count == 0 &&
	       (access("/dev/nvidiactl", F_OK) == 0 || access("/dev/kfd", F_OK) == 0);
}

static void text_of_missing(struct text *out, const struct capability *capabilities,
                            const struct gpu_info *gpus, const struct command_capability *commands,
                            const struct trace_back_end *back_ends, bool is_all)
{
	struct brief brief = {
		.accounting = commands->automatic,
		.has_events = !events_problem(commands),
		.has_bpf = commands->err[RT_ACCOUNTING_BPF] == 0,
		.can_trace_by_bpf = !*back_ends[0].problem,
		.can_trace_by_ptrace = !*back_ends[1].problem,
		.has_silent_gpu = has_silent_gpu(gpus),
	};

	name_missing(&brief.of_trees, &capabilities[0]);
	name_missing(&brief.of_system, &capabilities[1]);
	name_missing_of_commands(&brief.of_commands, commands);
	brief_add(out, &brief, is_all);
	brief_free(&brief);
}

static void text_of_info(struct text *out, const struct capability *capabilities,
                         const struct gpu_info *gpus, const struct command_capability *commands,
                         const struct trace_back_end *back_ends, bool is_all)
{
	uint32_t loaded = rt_version();

	text_of_missing(out, capabilities, gpus, commands, back_ends, is_all);
	if (!is_all)
		return;
	text_printf(out, "library %u.%u.%u\n", loaded >> 16, loaded >> 8 & 0xff, loaded & 0xff);
	text_of_capability(out, &capabilities[0]);
	text_of_capability(out, &capabilities[1]);
	text_of_gpus(out, gpus);
	text_of_commands(out, commands);
	text_of_tracing(out, back_ends);
}

static void json_of_capability(struct text *out, const struct capability *a)
{
	struct named_bit domain;

	json_begin(out, a->key, '{');
	json_string(out, "error", a->err < 0 ? rt_strerror(a->err) : NULL);
	json_begin(out, "domains", '{');
	for (uint32_t i = 0; a->err == 0 && next_bit(RT_CONSTANTS_HAS, &i, &domain);) {
		struct rt_obstacle why;
		const char *answer;

		if (!domain_applies(a, domain.bit))
			continue;
		answer = verdict(a, domain.bit, &why);
		json_begin(out, domain.name, '{');
		json_string(out, "available", answer);
		json_string(out, "why", why.error ? why.text : NULL);
		json_end(out, '}');
	}
	json_end(out, '}');
	json_end(out, '}');
}

static void json_of_answer(struct text *out, const char *key, const char *problem)
{
	json_begin(out, key, '{');
	json_string(out, "available", problem ? "no" : "yes");
	json_string(out, "why", problem);
	json_end(out, '}');
}

static void json_of_commands(struct text *out, const struct command_capability *a)
{
	struct named_bit domain;

	json_begin(out, "command", '{');
	json_begin(out, "accounting", '{');
	for (int i = 0; i < METHOD_COUNT; i++)
		json_of_answer(out, accounting_name(methods[i]), method_problem(a, methods[i]));
	json_end(out, '}');
	json_string(out, "accounting_default", accounting_name(a->automatic));
	json_begin(out, "cgroup_hierarchies", '[');
	for (size_t i = 0; i < a->hierarchy_count; i++)
		json_string(out, NULL, a->hierarchy[i].name);
	json_end(out, ']');
	json_of_answer(out, "process_events", events_problem(a));
	json_begin(out, "domains", '{');
	for (uint32_t i = 0; next_bit(RT_CONSTANTS_HAS, &i, &domain);) {
		if (is_command_domain(domain.bit))
			json_of_answer(out, domain.name, outcome_problem(a, domain.bit));
	}
	json_end(out, '}');
	json_end(out, '}');
}

static void json_of_gpus(struct text *out, const struct gpu_info *gpus)
{
	json_begin(out, "gpus", '{');
	json_begin(out, "interfaces", '{');
	for (int i = 0; i < GPU_INTERFACES; i++) {
		const char *problem = gpus->interface[i].problem;

		json_of_answer(out, gpus->interface[i].name, *problem ? problem : NULL);
	}
	json_end(out, '}');
	gpu_info_json(out, "devices", gpus);
	json_end(out, '}');
}

static void json_of_tracing(struct text *out, const struct trace_back_end *back_ends)
{
	json_begin(out, "trace", '{');
	for (int i = 0; i < TRACE_BACK_ENDS; i++) {
		const char *problem = *back_ends[i].problem ? back_ends[i].problem : NULL;

		json_of_answer(out, back_ends[i].name, problem);
	}
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
                         const struct capability *capabilities, const struct gpu_info *gpus,
                         const struct command_capability *commands,
                         const struct trace_back_end *back_ends)
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
	json_of_capability(out, &capabilities[0]);
	json_of_capability(out, &capabilities[1]);
	json_of_gpus(out, gpus);
	json_of_commands(out, commands);
	json_of_tracing(out, back_ends);
	json_end(out, '}');
	text_add(out, "\n");
}

int command_info(const struct options *options)
{
	struct capability capabilities[2];
	struct command_capability commands;
	struct gpu_info gpus;
	struct trace_back_end back_ends[TRACE_BACK_ENDS];
	struct utsname kernel = { .sysname = "unknown" };
	struct text out = { 0 };
	int code;

	if (options->operand_count > 0)
		return unexpected_argument(options, "");
	if (options->list_fields)
		return show_fields(options->as_json);
	uname(&kernel);
	try_tree(&capabilities[0]);
	try_system(&capabilities[1]);
	gpu_info_get(&gpus, capabilities[1].tracker);
	try_commands(&commands);
	trace_back_ends_try(back_ends);
	if (options->as_json)
		json_of_info(&out, &kernel, capabilities, &gpus, &commands, back_ends);
	else
		text_of_info(&out, capabilities, &gpus, &commands, back_ends, options->verbose);
	code = text_print(&out);
	text_free(&out);
	rt_tracker_free(capabilities[0].tracker);
	rt_tracker_free(capabilities[1].tracker);
	return code;
}
