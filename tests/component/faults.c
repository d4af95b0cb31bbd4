/* SPDX-License-Identifier: MIT */
#include "faults.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MOST_RULES 8
#define MOST_FDS 1024

struct rule {
	const char *suffix;
	int open_err, read_err;
	void (*act)(void *arg);
	void *arg;
};

static struct {
	struct rule rules[MOST_RULES];
	char paths[MOST_FDS][64]; /* of the open descriptors */
	unsigned open_files, files_max, opens;
} faults;

static bool ends_with(const char *path, const char *suffix)
{
	size_t path_len = strlen(path), suffix_len = strlen(suffix);

	return path_len >= suffix_len && strcmp(path + path_len - suffix_len, suffix) == 0;
}

static struct rule *find_rule(const char *suffix)
{
	struct rule *free_rule = NULL;

	for (int i = 0; i < MOST_RULES; i++) {
		if (faults.rules[i].suffix && strcmp(faults.rules[i].suffix, suffix) == 0)
			return &faults.rules[i];
		if (!faults.rules[i].suffix && !free_rule)
			free_rule = &faults.rules[i];
	}
	free_rule->suffix = suffix;
	return free_rule;
}

void faults_on_open(const char *suffix, int err)
{
	find_rule(suffix)->open_err = err;
}

void faults_on_read(const char *suffix, int err)
{
	find_rule(suffix)->read_err = err;
}

void faults_before_open(const char *suffix, void (*act)(void *arg), void *arg)
{
	struct rule *rule = find_rule(suffix);

	rule->act = act;
	rule->arg = arg;
}

void faults_limit_files(unsigned most)
{
	faults.files_max = most;
}

unsigned faults_open_files(void)
{
	return faults.open_files;
}

unsigned faults_opens(void)
{
	return faults.opens;
}

static int faulty_open(int dirfd, const char *path, int flags)
{
	int fd;

	faults.opens++;
	for (int i = 0; i < MOST_RULES; i++) {
		struct rule *rule = &faults.rules[i];
		void (*act)(void *arg) = rule->act;

		if (!rule->suffix || !ends_with(path, rule->suffix))
			continue;
		rule->act = NULL;
		if (act)
			act(rule->arg);
		if (rule->open_err)
			return rule->open_err;
	}
	if (faults.files_max && faults.open_files >= faults.files_max)
		return -EMFILE;
	fd = rti_procfs_linux.open(dirfd, path, flags);
	if (fd >= 0)
		faults.open_files++;
	if (fd >= 0 && fd < MOST_FDS)
		snprintf(faults.paths[fd], sizeof(faults.paths[fd]), "%s", path);
	return fd;
}

static ssize_t faulty_pread(int fd, void *buf, size_t len, off_t offset)
{
	for (int i = 0; i < MOST_RULES; i++) {
		const struct rule *rule = &faults.rules[i];

		if (rule->suffix && rule->read_err && fd < MOST_FDS &&
		    ends_with(faults.paths[fd], rule->suffix))
			return rule->read_err;
	}
	return rti_procfs_linux.pread(fd, buf, len, offset);
}

static ssize_t faulty_getdents(int fd, void *buf, size_t len)
{
	return rti_procfs_linux.getdents(fd, buf, len);
}

static ssize_t faulty_readlink(int dirfd, const char *path, char *buf, size_t len)
{
	return rti_procfs_linux.readlink(dirfd, path, buf, len);
}

static int faulty_access(int dirfd, const char *path)
{
	return rti_procfs_linux.access(dirfd, path);
}

static int faulty_space(const char *root, const char *path, struct rti_space *out)
{
	return rti_procfs_linux.space(root, path, out);
}

static int faulty_close(int fd)
{
	faults.open_files--;
	return rti_procfs_linux.close(fd);
}

const struct rti_procfs_ops faults_ops = {
	.open = faulty_open,
	.pread = faulty_pread,
	.getdents = faulty_getdents,
	.readlink = faulty_readlink,
	.access = faulty_access,
	.space = faulty_space,
	.close = faulty_close,
};
