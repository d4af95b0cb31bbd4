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

#include "container_name.h"
#include "follow/clock.h"
#include "process/cgroup_mounts.h"
#include "process/command_line.h"
#include "process/tree.h"
#include "text/columns.h"
#include "text/message.h"
#include "text/units.h"

#define PATH_BYTES 1024 /* of a cgroup */
#define ID_LENGTH 64    /* of a container, in hexadecimal digits */
#define DEPTH_MAX 16    /* of cgroups */
#define LISTED_MAX 10   /* matches that a message lists in full */
#define WATCHES_MAX 1024

#define SHOWN_COLUMNS 60 /* of the command line of each */

/* --- What was found. --- */

struct matches {
	size_t count;
	struct text found; /* as they are used, each with a NUL behind it */
	struct text list;  /* for a message */
};

static void add_match(struct matches *m, const char *text, const char *shown)
{
	text_bytes(&m->found, text, strlen(text) + 1);
	text_printf(&m->list, "%s%s", m->count ? ", " : "", shown);
	m->count++;
}

/* Frees what was found, if it does not go to the caller. */
static int take_matches(struct matches *m, const char *what, const struct target *target,
                        struct text *found)
{
	bool is_wanted = m->count == 1 || (m->count > 1 && target->is_all);
	int code = m->count == 0 ? TARGET_MISSING : is_wanted ? 0 : EXIT_BEFORE_START;

	if (m->found.is_short || m->list.is_short) {
		warn("out of memory");
		code = EXIT_BEFORE_START;
	} else if (code > 0) {
		warn("%s '%s' has %zu matches: %s; %s", what, target->word, m->count, m->list.data,
		     strcmp(what, "process") == 0 ? "give one of these pids, or --all"
		                                  : "name one of them");
	}
	if (code == 0)
		*found = m->found;
	else
		text_free(&m->found);
	text_free(&m->list);
	return code;
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

/* Whether the expression is in the command line, as pgrep(1) -f has it. A kernel thread has a name
 * alone. */
static bool is_in_command_line(const regex_t *regex, int32_t pid)
{
	char **words = command_line_read(pid), name[64] = "";
	struct text line = { 0 };
	bool is_match;

	for (size_t i = 0; words && words[i]; i++)
		text_printf(&line, "%s%s", i ? " " : "", words[i]);
	if (!words)
		read_line(pid, "comm", name, sizeof(name));
	is_match = regexec(regex, line.len > 0 ? line.data : name, 0, NULL, 0) == 0;
	text_free(&line);
	free(words);
	return is_match;
}

/* What has started rtrack has the expression in its command line, too. E.g.: sh -c "rtrack attach
 * --full --name job". */
static bool is_process(const struct target *target, const regex_t *regex, int32_t pid)
{
	char name[64];

	if (target->is_full)
		return is_in_command_line(regex, pid) && !tree_is_ours(pid);
	return has_name(regex, pid, name, sizeof(name));
}

bool target_is_process(const struct target *target, int32_t pid)
{
	regex_t regex;
	bool is_match;

	if (regcomp(&regex, target->word, REG_EXTENDED))
		return false;
	is_match = is_process(target, &regex, pid);
	regfree(&regex);
	return is_match;
}

/* Cut before a character. In another locale, columns_fit() may end in one of UTF-8. */
static void cut(char *text, size_t at)
{
	while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	memcpy(text + at, "...", sizeof("..."));
}

/* Of several processes of one name, the arguments tell which is meant. E.g.: of "python3". */
static void add_process(struct matches *m, int32_t pid)
{
	char text[16], line[400] = "", shown[600], **words;

	snprintf(text, sizeof(text), "%" PRId32, pid);
	words = m->count < LISTED_MAX ? command_line_read(pid) : NULL;
	for (size_t i = 0; words && words[i] && strlen(line) < sizeof(line) - 1; i++)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%s", i ? " " : "",
		         words[i]);
	free(words);
	if (line[columns_fit(line, SHOWN_COLUMNS)])
		cut(line, columns_fit(line, SHOWN_COLUMNS - 3));
	if (!*line && m->count < LISTED_MAX)
		read_line(pid, "comm", line, sizeof(line));
	snprintf(shown, sizeof(shown), *line ? "%s (%s)" : "%s", text, line);
	add_match(m, text, shown);
}

struct pids {
	int32_t *at;
	size_t count;
};

static int add_pid(struct pids *pids, int32_t pid)
{
	int32_t *more = realloc(pids->at, (pids->count + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	pids->at = more;
	pids->at[pids->count++] = pid;
	return 0;
}

/* Find the processes that match, in the order of /proc. */
static int list_processes(const struct target *target, const regex_t *regex, struct pids *out)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	int err = 0;

	while (proc && err == 0 && (entry = readdir(proc))) {
		long number = strtol(entry->d_name, NULL, 10);

		if (isdigit((unsigned char)entry->d_name[0]) && number != getpid() &&
		    is_process(target, regex, (int32_t)number))
			err = add_pid(out, (int32_t)number);
	}
	if (proc)
		closedir(proc);
	return err;
}

static bool has_pid(const struct pids *pids, int32_t pid)
{
	for (size_t i = 0; i < pids->count; i++) {
		if (pids->at[i] == pid)
			return true;
	}
	return false;
}

/* E.g.: of the workers of nginx. They are followed with the process that has started them. */
static bool descends_from_another(const struct pids *pids, int32_t pid)
{
	do {
		pid = tree_parent(pid);
	} while (pid > 0 && !has_pid(pids, pid));
	return pid > 0;
}

/* Stops at the first one that is more than max. */
static int match_processes(const struct target *target, const regex_t *regex, size_t max,
                           struct matches *m)
{
	bool has_all = target->is_all && target->has_others;
	struct pids pids = { 0 };
	int err = list_processes(target, regex, &pids);

	for (size_t i = 0; err == 0 && i < pids.count && m->count <= max; i++) {
		if (!has_all && descends_from_another(&pids, pids.at[i]))
			continue;
		if (m->count < max)
			add_process(m, pids.at[i]);
		else
			m->count++;
	}
	free(pids.at);
	return err;
}

int target_find_process(const struct target *target, int watch, struct text *found)
{
	struct matches m = { 0 };
	regex_t regex;
	char wrong[200];
	int err = regcomp(&regex, target->word, REG_EXTENDED);

	(void)watch;
	if (err) {
		regerror(err, &regex, wrong, sizeof(wrong));
		warn("invalid name '%s': %s", target->word, wrong);
		return EXIT_USAGE;
	}
	m.found.is_short = match_processes(target, &regex, SIZE_MAX, &m) < 0;
	regfree(&regex);
	return take_matches(&m, "process", target, found);
}

void target_explain_process(const struct target *target)
{
	const struct target full = { .word = target->word, .is_full = true };
	struct matches m = { 0 };
	regex_t regex;

	if (target->is_full)
		return;
	warn("the expression has to match the whole name in /proc/PID/comm, which has at most 15 "
	     "bytes, or the whole file name of the first argument; 'python3 job.py' has the name "
	     "python3, './job.py' has both");
	if (regcomp(&regex, target->word, REG_EXTENDED | REG_NOSUB))
		return;
	match_processes(&full, &regex, LISTED_MAX, &m);
	regfree(&regex);
	if (m.count > 0 && !m.list.is_short)
		warn("--full finds '%s' in the command line of %s%s", target->word, m.list.data,
		     m.count > LISTED_MAX ? ", ..." : "");
	text_free(&m.found);
	text_free(&m.list);
}

void target_explain_unit(const struct target *target)
{
	(void)target;
	if (access("/run/systemd/system", F_OK) < 0)
		warn("systemd does not run here, and makes no cgroups for units; --cgroup follows "
		     "any cgroup, --name a process");
}

/* --- Cgroups. --- */

struct search {
	bool (*matches)(const char *name, const char *word);
	const char *word;
	struct matches found;
	char path[PATH_BYTES]; /* below the mount */
	int watch;             /* inotify, or -1 */
	unsigned watches;
};

/* A cgroup has a directory of the same path in each hierarchy, which is one match. Of cgroups in
 * one another, the outer one is meant. */
static bool is_known(const struct search *s)
{
	return s->found.count > 0 && strcmp(s->found.found.data, s->path) == 0;
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
static void search_mounts(struct search *s)
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

/* Watch the directories that are on the way to a cgroup, in all hierarchies, from above. */
static void watch_parents(const char *name, int watch)
{
	FILE *list = cgroup_mounts_open();
	struct cgroup_mount mount;
	char path[sizeof(mount.point) + PATH_BYTES];

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

int target_find_cgroup(const struct target *target, int watch, struct text *found)
{
	const struct rt_opts opts = { .size = sizeof(opts), .want = RT_HAS_CPU };
	struct rt_tracker *tracker;
	int err;

	if (watch >= 0)
		watch_parents(target->word, watch);
	err = rt_cgroup_tracker_new(&tracker, target->word, &opts);
	rt_tracker_free(tracker);
	text_bytes(found, target->word, strlen(target->word) + 1);
	return err == -ENOENT ? TARGET_MISSING : 0;
}

int target_find_unit(const struct target *target, int watch, struct text *found)
{
	struct search s = { .matches = is_unit, .word = target->word, .watch = watch };

	search_mounts(&s);
	return take_matches(&s.found, "unit", target, found);
}

static bool is_id(const char *word)
{
	return *word && !word[strspn(word, "0123456789abcdef")];
}

static bool is_whole_id(const char *word)
{
	return is_id(word) && strlen(word) == ID_LENGTH;
}

/* The engines are asked once a second at most. In between, the answer is the one before. */
static bool ask_for_id(const char *name, char id[CONTAINER_ID_BYTES])
{
	static char known[CONTAINER_ID_BYTES];
	static int64_t next_ns;
	static bool is_known;

	if (clock_now() >= next_ns) {
		is_known = container_name_ask(name, known);
		next_ns = clock_now() + NS_PER_S;
	}
	if (is_known)
		memcpy(id, known, sizeof(known));
	return is_known;
}

int target_find_container(const struct target *target, int watch, struct text *found)
{
	struct search s = { .matches = is_container, .word = target->word, .watch = watch };
	char id[CONTAINER_ID_BYTES];

	if (!container_name_is_valid(target->word)) {
		warn("invalid container '%s': an id or a name has letters and digits, '_', '.' and "
		     "'-' alone",
		     target->word);
		return EXIT_USAGE;
	}
	/* As docker(1) has it, a name comes before the beginning of an id. E.g.: "db" is both. */
	if (!is_whole_id(target->word) && ask_for_id(target->word, id))
		s.word = id;
	/* Without an id, too, directories are watched. */
	if (is_id(s.word) || watch >= 0)
		search_mounts(&s);
	return take_matches(&s.found, "container", target, found);
}

void target_explain_container(const struct target *target)
{
	if (!is_id(target->word))
		warn("names of containers are known to docker and podman: neither names this one, "
		     "or it is stopped, or this user may not ask");
}
