/* SPDX-License-Identifier: MIT */
/* Where and how something was measured. */
#include "meta.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "process/command_line.h"
#include "text/json.h"

static void add_user(struct text *out)
{
	const struct passwd *entry = getpwuid(geteuid());

	json_string(out, "user", entry ? entry->pw_name : NULL);
	json_u64(out, "uid", geteuid());
}

static void add_cwd(struct text *out)
{
	char path[4096];

	json_string(out, "cwd", getcwd(path, sizeof(path)));
}

static void add_positive(struct text *out, const char *key, long value, long factor)
{
	if (value > 0 && factor > 0)
		json_u64(out, key, (uint64_t)value * (uint64_t)factor);
	else
		json_null(out, key);
}

static void add_command_line(struct text *out)
{
	char **words = command_line_read(getpid());

	if (!words) {
		json_null(out, "command_line");
		return;
	}
	json_begin(out, "command_line", '[');
	for (size_t i = 0; words[i]; i++)
		json_string(out, NULL, words[i]);
	json_end(out, ']');
	free(words);
}

static void add_versions(struct text *out)
{
	uint32_t loaded = rt_version();
	char version[32];

	snprintf(version, sizeof(version), "%d.%d.%d", RT_VERSION_MAJOR, RT_VERSION_MINOR,
	         RT_VERSION_PATCH);
	json_string(out, "rtrack", version);
	snprintf(version, sizeof(version), "%u.%u.%u", loaded >> 16, loaded >> 8 & 0xff,
	         loaded & 0xff);
	json_string(out, "librtrack", version);
}

void json_meta(struct text *out, const char *key)
{
	struct utsname system;
	bool has_names = uname(&system) == 0;

	json_begin(out, key, '{');
	json_string(out, "host", has_names ? system.nodename : NULL);
	add_user(out);
	add_cwd(out);
	add_positive(out, "cpus", sysconf(_SC_NPROCESSORS_ONLN), 1);
	add_positive(out, "memory_bytes", sysconf(_SC_PHYS_PAGES), sysconf(_SC_PAGESIZE));
	json_string(out, "kernel", has_names ? system.release : NULL);
	json_string(out, "machine", has_names ? system.machine : NULL);
	add_versions(out);
	add_command_line(out);
	json_end(out, '}');
}
