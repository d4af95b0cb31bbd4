/* SPDX-License-Identifier: MIT */
/* Finds out which accounting methods work here, and what the others lack. */
#include "accounting_methods.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "text/message.h"

/* As rtrack run has it without limits: it is its own supervisor, unless it is to have another. */
static struct rt_command_opts make_opts(uint32_t accounting)
{
	static const char *const argv[] = { "true", NULL };

	return (struct rt_command_opts){
		.size = sizeof(struct rt_command_opts),
		.argv = argv,
		.accounting = accounting,
		.flags = accounting == RT_ACCOUNTING_WAIT ? 0 : RT_COMMAND_SUBREAPER_SELF,
	};
}

int accounting_method_try(uint32_t accounting, struct rt_outcome *outcome)
{
	const struct rt_command_opts opts = make_opts(accounting);
	struct rt_command *command;
	int err = rt_command_start(&command, &opts);

	if (err < 0)
		return err;
	do {
		err = rt_command_wait(command, -1, outcome, sizeof(*outcome));
	} while (err == -EINTR);
	rt_command_free(command);
	return err;
}

const char *accounting_method_refusal(uint32_t accounting)
{
	static const char prefix[] = "The accounting method bpf is not available. ";
	static char message[4500]; /* it may have a path */
	struct rt_command_opts opts = make_opts(accounting);
	struct rt_command *command;
	char *why;

	opts.message = message;
	opts.message_size = sizeof(message);
	message[0] = '\0';
	if (rt_command_start(&command, &opts) == 0) {
		rt_command_kill(command);
		rt_command_free(command);
		return "it was refused a moment ago";
	}
	why = strncmp(message, prefix, strlen(prefix)) == 0 ? message + strlen(prefix) : message;
	words_of_sentences(why);
	return why;
}

const char *accounting_method_missing(uint32_t accounting)
{
	struct rt_outcome outcome;

	if (accounting == RT_ACCOUNTING_BPF)
		return accounting_method_refusal(accounting);
	if (accounting == RT_ACCOUNTING_WAIT ||
	    accounting_method_try(RT_ACCOUNTING_WAIT, &outcome) == -EOPNOTSUPP)
		return "no memory can be shared with rtrack-supervisor";
	return "no cgroup with a CPU account can be created here";
}

/* Returns the controllers in a line of /proc/PID/cgroup, or NULL if it shows no cgroup that this
 * process has made. E.g.: "memory" for "4:memory:/a/rtrack-42-17". */
static char *own_controllers(char *line)
{
	char *controllers = strchr(line, ':'), *path, name[32];

	path = controllers ? strchr(controllers + 1, ':') : NULL;
	snprintf(name, sizeof(name), "/rtrack-%d-", (int)getpid());
	if (!path || !strstr(path, name))
		return NULL;
	*path = '\0';
	return controllers + 1;
}

static size_t list_hierarchies(int32_t pid, struct accounting_hierarchy out[], size_t room)
{
	char path[32], line[4096];
	size_t count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (count < room && fgets(line, sizeof(line), file)) {
		const char *controllers = own_controllers(line);

		if (controllers)
			snprintf(out[count++].name, sizeof(out->name), "%s",
			         *controllers ? controllers : "v2");
	}
	fclose(file);
	return count;
}

size_t accounting_hierarchies(struct accounting_hierarchy out[], size_t room)
{
	static const char *const argv[] = { "sleep", "100", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .accounting = RT_ACCOUNTING_CGROUP };
	struct rt_command *command;
	size_t count;

	if (rt_command_start(&command, &opts) < 0)
		return 0;
	count = list_hierarchies(rt_command_pid(command), out, room);
	rt_command_kill(command);
	while (rt_command_wait(command, -1, NULL, 0) == -EINTR)
		;
	rt_command_free(command);
	return count;
}
