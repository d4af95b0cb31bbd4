/* SPDX-License-Identifier: MIT */
/* Enters another network namespace. */
#include "netns.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "text/message.h"

static bool is_pid(const char *name)
{
	return name[strspn(name, "0123456789")] == '\0';
}

/* Returns false if a name can be none of a namespace. ip-netns(8) takes names of files. */
static bool set_path(const char *name, char path[PATH_MAX])
{
	const char *form = *name == '/' ? "%s" : is_pid(name) ? "/proc/%s/ns/net" : "/run/netns/%s";

	if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    (*name != '/' && strchr(name, '/')))
		return false;
	return snprintf(path, PATH_MAX, form, name) < PATH_MAX;
}

static void report_open(const char *name, const char *path, int err)
{
	if (err == EACCES && is_pid(name))
		warn("--netns '%s': rtrack may not look at this process: it belongs to another "
		     "user, which needs CAP_SYS_PTRACE",
		     name);
	else if (err != ENOENT && err != ENOTDIR && err != ESRCH)
		warn("--netns '%s': cannot open '%s': %s", name, path, error_words(-err));
	else if (is_pid(name))
		warn("--netns '%s': there is no such process", name);
	else
		warn("--netns '%s': there is no network namespace at '%s'", name, path);
}

static void report_entry(const char *name, const char *path, int err)
{
	if (err == EINVAL)
		warn("--netns '%s': '%s' is no network namespace", name, path);
	else if (err == EPERM)
		warn("--netns '%s': rtrack may not enter it: this needs CAP_SYS_ADMIN", name);
	else
		warn("--netns '%s': cannot enter it: %s", name, error_words(-err));
}

int netns_enter(const char *name)
{
	char path[PATH_MAX];
	int fd, code = 0;

	if (!set_path(name, path)) {
		warn("--netns '%s': give a pid, a name as of 'ip netns list', or an absolute path",
		     name);
		return EXIT_USAGE;
	}
	/* Opening a FIFO must not wait. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		report_open(name, path, errno);
		return EXIT_BEFORE_START;
	}
	if (setns(fd, CLONE_NEWNET) < 0) {
		report_entry(name, path, errno);
		code = EXIT_BEFORE_START;
	}
	close(fd);
	return code;
}
