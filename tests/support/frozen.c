/* SPDX-License-Identifier: MIT */
/* A process in a cgroup that is frozen. */
#include "frozen.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "children.h"
#include "suite.h"

static const struct {
	const char *mount, *file, *frozen, *thawed;
} freezers[] = {
	{ "/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED" },
	{ "/sys/fs/cgroup", "cgroup.freeze", "1", "0" },
	{ "/sys/fs/cgroup/unified", "cgroup.freeze", "1", "0" },
};

static char dir[128];
static size_t used;

static bool write_word(const char *file, const char *word)
{
	char path[192];
	FILE *out;
	bool is_done;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	out = fopen(path, "w");
	if (!out)
		return false;
	is_done = fputs(word, out) >= 0;
	return fclose(out) == 0 && is_done;
}

bool can_freeze(void)
{
	for (used = 0; used < sizeof(freezers) / sizeof(freezers[0]); used++) {
		snprintf(dir, sizeof(dir), "%s/rtrack-test-%d", freezers[used].mount, getpid());
		if (mkdir(dir, 0755) < 0)
			continue;
		if (write_word(freezers[used].file, freezers[used].thawed))
			return true;
		rmdir(dir);
	}
	return false;
}

/* Frozen processes show no other sign of it than the file of their cgroup. */
static int is_frozen(void *pid)
{
	char path[192], line[64] = "";
	FILE *in;

	(void)pid;
	snprintf(path, sizeof(path), "%s/%s", dir,
	         strcmp(freezers[used].file, "cgroup.freeze") == 0 ? "cgroup.events"
	                                                           : freezers[used].file);
	in = fopen(path, "r");
	while (in && fgets(line, sizeof(line), in))
		if (strcmp(line, "frozen 1\n") == 0 || strcmp(line, "FROZEN\n") == 0)
			break;
	if (in)
		fclose(in);
	return strcmp(line, "frozen 1\n") == 0 || strcmp(line, "FROZEN\n") == 0;
}

void freeze(pid_t pid)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", pid);
	ck_assert(write_word("cgroup.procs", number));
	ck_assert(write_word(freezers[used].file, freezers[used].frozen));
	wait_until(is_frozen, NULL);
}

void thaw(void)
{
	ck_assert(write_word(freezers[used].file, freezers[used].thawed));
}

static int is_removed(void *arg)
{
	(void)arg;
	return rmdir(dir) == 0;
}

void remove_freezer(void)
{
	wait_until(is_removed, NULL);
}
