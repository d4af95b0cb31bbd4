/* SPDX-License-Identifier: MIT */
/* Finds what to attach to by what people know. */
#include "targets.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "process/cgroup_mounts.h"
#include "process/command_line.h"
#include "process/tree.h"
#include "text/columns.h"
#include "text/message.h"

#define ID_LENGTH 64  /* of a container, in hexadecimal digits */
#define DEPTH_MAX 16  /* of cgroups */
#define LISTED_MAX 10 /* matches that a message lists */
#define WATCHES_MAX 1024

#define SHOWN_COLUMNS 60 /* of the command line of each */

/* --- What was found. --- */

struct matches {
	size_t count;
	char first[TARGET_PATH_MAX]; /* as it is used */
	char list[1200];             /* for a message */
};

static void add_match(struct matches *m, const char *text, const char *shown)
{
	size_t len = strlen(m->list);

	if (m->count == 0)
		snprintf(m->first, sizeof(m->first), "%s", text);
	if (m->count < LISTED_MAX)
		snprintf(m->list + len, sizeof(m->list) - len, "%s%s", m->count ? ", " : "", shown);
	m->count++;
}

static int check_matches(const struct matches *m, const char *what, const char *word)
{
	if (m->count == 0)
		return TARGET_MISSING;
	if (m->count > 1)
		warn("%s '%s' has %zu matches: %s%s; name one of them", what, word, m->count,
		     m->list, m->count > LISTED_MAX ? ", ..." : "");
	return m->count == 1 ? 0 : EXIT_BEFORE_START;
}

/* --- Processes. --- */

/* Read the beginning of a file of a process. It ends at the first NUL or newline. */
static bool read_line(int32_t pid, const char *file, char *out, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, out, size - 1);
	close(fd);
	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return out[0] != '\0';
}

static bool matches_whole(const regex_t *regex, const char *name)
{
	regmatch_t at;

	return regexec(regex, name, 1, &at, 0) == 0 && at.rm_so == 0 &&
	       (size_t)at.rm_eo == strlen(name);
}

/* Whether the name of a process matches, which is read, or the file name of its first argument. */
static bool has_name(const regex_t *regex, int32_t pid, char *name, size_t size)
{
	char program[512] = "";
	const char *file;

	*name = '\0';
	read_line(pid, "comm", name, size);
	read_line(pid, "cmdline", program, sizeof(program));
	file = strrchr(program, '/');
	file = file ? file + 1 : program;
	return matches_whole(regex, name) || (*file && matches_whole(regex, file));
}

bool target_is_process(const char *word, int32_t pid)
{
	regex_t regex;
	char name[64];
	bool is_match;

	if (regcomp(&regex, word, REG_EXTENDED))
		return false;
	is_match = has_name(&regex, pid, name, sizeof(name));
	regfree(&regex);
	return is_match;
}

static void add_process(struct matches *m, int32_t pid, const char *name)
{
	char text[16], shown[600];

	snprintf(text, sizeof(text), "%" PRId32, pid);
	snprintf(shown, sizeof(shown), "%" PRId32 " (%s)", pid, name);
	add_match(m, text, shown);
}

/* Cut before a character. In another locale, columns_fit() may end in one of UTF-8. */
static void cut(char *text, size_t at)
{
	while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	memcpy(text + at, "...", sizeof("..."));
}

/* Of several processes of one name, the arguments tell which is meant. E.g.: of "python3". */
static void match_process(struct matches *m, const regex_t *regex, int32_t pid)
{
	char name[64], **words, shown[400] = "";

	if (!has_name(regex, pid, name, sizeof(name)))
		return;
	words = m->count < LISTED_MAX ? command_line_read(pid) : NULL;
	for (size_t i = 0; words && words[i] && strlen(shown) < sizeof(shown) - 1; i++)
		snprintf(shown + strlen(shown), sizeof(shown) - strlen(shown), "%s%s", i ? " " : "",
		         words[i]);
	if (shown[columns_fit(shown, SHOWN_COLUMNS)])
		cut(shown, columns_fit(shown, SHOWN_COLUMNS - 3));
	add_process(m, pid, *shown ? shown : name);
	free(words);
}

/* Match any part of the command line. What has started rtrack has the expression there, too. E.g.:
 * sh -c "rtrack attach --name job". */
static void match_command_line(struct matches *m, const regex_t *regex, int32_t pid)
{
	char **words = command_line_read(pid), name[64];
	bool is_match = false;

	for (size_t i = 0; words && words[i] && !is_match; i++)
		is_match = regexec(regex, words[i], 0, NULL, 0) == 0;
	free(words);
	if (is_match && !tree_is_ours(pid) && read_line(pid, "comm", name, sizeof(name)))
		add_process(m, pid, name);
}

static void match_all(struct matches *m, const regex_t *regex,
                      void (*match)(struct matches *m, const regex_t *regex, int32_t pid))
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");

	while (proc && (entry = readdir(proc))) {
		long number = strtol(entry->d_name, NULL, 10);

		if (isdigit((unsigned char)entry->d_name[0]) && number != getpid())
			match(m, regex, (int32_t)number);
	}
	if (proc)
		closedir(proc);
}

int target_find_process(const char *word, int watch, char pid[TARGET_PATH_MAX])
{
	struct matches m = { 0 };
	regex_t regex;
	char wrong[200];
	int err = regcomp(&regex, word, REG_EXTENDED);

	(void)watch;
	if (err) {
		regerror(err, &regex, wrong, sizeof(wrong));
		warn("invalid name '%s': %s", word, wrong);
		return EXIT_USAGE;
	}
	match_all(&m, &regex, match_process);
	regfree(&regex);
	memcpy(pid, m.first, TARGET_PATH_MAX);
	return check_matches(&m, "process", word);
}

void target_explain_process(const char *word)
{
	struct matches m = { 0 };
	regex_t regex;

	warn("the expression has to match the whole name in /proc/PID/comm, which has at most 15 "
	     "bytes, or the whole file name of the first argument; 'python3 job.py' has the name "
	     "python3, './job.py' has both");
	if (regcomp(&regex, word, REG_EXTENDED | REG_NOSUB))
		return;
	match_all(&m, &regex, match_command_line);
	regfree(&regex);
	if (m.count > 0)
		warn("'%s' is in the command line of %s%s", word, m.list,
		     m.count > LISTED_MAX ? ", ..." : "");
}

void target_explain_unit(const char *name)
{
	(void)name;
	if (access("/run/systemd/system", F_OK) < 0)
		warn("systemd does not run here, and makes no cgroups for units; --cgroup follows "
		     "any cgroup, --name a process");
}

/* --- Cgroups. --- */

struct search {
	bool (*matches)(const char *name, const char *word);
	const char *word;
	struct matches found;
	char path[TARGET_PATH_MAX]; /* below the mount */
	int watch;                  /* inotify, or -1 */
	unsigned watches;
};

/* A cgroup has a directory of the same path in each hierarchy, which is one match. Of cgroups in
 * one another, the outer one is meant. */
static bool is_known(const struct search *s)
{
	return s->found.count > 0 && strcmp(s->found.first, s->path) == 0;
}

static void search_below(struct search *s, int fd, int depth)
{
	size_t len = strlen(s->path);
	struct dirent *entry;
	DIR *dir = fdopendir(fd);

	if (!dir) {
		close(fd);
		return;
	}
	/* Before it is read, so that no cgroup is missed in between. */
	if (s->watch >= 0 && s->watches++ < WATCHES_MAX) {
		char link[32];

		snprintf(link, sizeof(link), "/proc/self/fd/%d", dirfd(dir));
		inotify_add_watch(s->watch, link, IN_CREATE | IN_ONLYDIR);
	}
	while (depth < DEPTH_MAX && (entry = readdir(dir))) {
		int below;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    len + strlen(entry->d_name) + 2 > sizeof(s->path))
			continue;
		snprintf(s->path + len, sizeof(s->path) - len, "/%s", entry->d_name);
		if (s->matches(entry->d_name, s->word)) {
			if (!is_known(s))
				add_match(&s->found, s->path, s->path);
		} else {
			below = openat(dirfd(dir), entry->d_name,
			               O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
			if (below >= 0)
				search_below(s, below, depth + 1);
		}
		s->path[len] = '\0';
	}
	closedir(dir);
}

/* In the first hierarchy that has a match, v2 before v1. */
static int search_mounts(struct search *s, const char *what)
{
	struct cgroup_mount mount;

	for (int i = 0; i < 2 && s->found.count == 0; i++) {
		FILE *list = cgroup_mounts_open();

		while (list && s->found.count == 0 && cgroup_mounts_next(list, &mount)) {
			int fd = -1;

			if (mount.is_v2 == (i == 0))
				fd = open(mount.point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			if (fd >= 0)
				search_below(s, fd, 0);
		}
		if (list)
			fclose(list);
	}
	return check_matches(&s->found, what, s->word);
}

/* "cron" is "cron.service", as systemctl(1) has it. */
static bool is_unit(const char *name, const char *word)
{
	size_t len = strlen(word);

	return strcmp(name, word) == 0 || (!strchr(word, '.') && strncmp(name, word, len) == 0 &&
	                                   strcmp(name + len, ".service") == 0);
}

/* E.g.: "docker-ID.scope", "libpod-ID.scope", "cri-containerd-ID.scope", or the id alone. The
 * monitor of a container has a cgroup of its own, "libpod-conmon-ID.scope". */
static bool is_container(const char *name, const char *word)
{
	if (strstr(name, "conmon"))
		return false;
	for (const char *at = name; *at;) {
		size_t digits = strspn(at, "0123456789abcdef");

		if (digits == ID_LENGTH && strncmp(at, word, strlen(word)) == 0)
			return true;
		at += digits ? digits : 1;
	}
	return false;
}

static int find_cgroup(struct search *s, const char *what, char path[TARGET_PATH_MAX])
{
	int code = search_mounts(s, what);

	memcpy(path, s->found.first, TARGET_PATH_MAX);
	return code;
}

/* Watch the directories that are on the way to a cgroup, in all hierarchies, from above. */
static void watch_parents(const char *name, int watch)
{
	FILE *list = cgroup_mounts_open();
	struct cgroup_mount mount;
	char path[sizeof(mount.point) + TARGET_PATH_MAX];

	while (list && cgroup_mounts_next(list, &mount)) {
		const char *end = name + strspn(name, "/");

		do {
			snprintf(path, sizeof(path), "%s/%.*s", mount.point, (int)(end - name),
			         name);
			if (inotify_add_watch(watch, path, IN_CREATE | IN_ONLYDIR) < 0)
				break;
			end += strspn(end, "/");
			end += strcspn(end, "/");
		} while (*end);
	}
	if (list)
		fclose(list);
}

int target_find_cgroup(const char *name, int watch, char path[TARGET_PATH_MAX])
{
	const struct rt_opts opts = { .size = sizeof(opts), .want = RT_HAS_CPU };
	struct rt_tracker *tracker;
	int err;

	if (watch >= 0)
		watch_parents(name, watch);
	err = rt_cgroup_tracker_new(&tracker, name, &opts);
	rt_tracker_free(tracker);
	snprintf(path, TARGET_PATH_MAX, "%s", name);
	return err == -ENOENT ? TARGET_MISSING : 0;
}

int target_find_unit(const char *name, int watch, char path[TARGET_PATH_MAX])
{
	struct search s = { .matches = is_unit, .word = name, .watch = watch };

	return find_cgroup(&s, "unit", path);
}

int target_find_container(const char *id, int watch, char path[TARGET_PATH_MAX])
{
	struct search s = { .matches = is_container, .word = id, .watch = watch };

	if (!*id || strspn(id, "0123456789abcdef") != strlen(id)) {
		warn("invalid container '%s': an id has hexadecimal digits alone", id);
		return EXIT_USAGE;
	}
	return find_cgroup(&s, "container", path);
}
