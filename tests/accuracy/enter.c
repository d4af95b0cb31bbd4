/* SPDX-License-Identifier: MIT */
/* enter into GROUP NOTES PROGRAM...: moves itself into a cgroup, and executes the program.
 * enter alone GROUP OTHER_GROUP NOTES PROGRAM...: moves all other processes out of a cgroup into
 * another one, and executes the program.
 *
 * After that, the program is alone in the group, so that what the group uses is what the program
 * uses. The file NOTES gets two corrections:
 *   base_NAME N   what the group has used before, to subtract; NAME is a name in cpu.stat
 *   before_ns N   what this program has used itself by then, to add: the tool that runs it counts
 *                 that as usage of the program
 * Both are read after the move. What the move itself costs would be in neither group's account
 * otherwise: up to a millisecond on a busy system. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FAILED 99
/* What this process uses between two reads may be in the second one alone, if the kernel has
 * charged it meanwhile. E.g.: because the process has lost its CPU. */
#define CLOSE_NS 10000
#define TRIES_MAX 1000

static _Noreturn void fail(const char *what)
{
	perror(what);
	_exit(FAILED);
}

static int open_in(const char *group, const char *name, int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		fail(path);
	return fd;
}

static void read_text(int fd, char *text, size_t size)
{
	ssize_t n = read(fd, text, size - 1);

	if (n < 0)
		fail("read");
	text[n] = '\0';
	close(fd);
}

static void move_process(long pid, const char *group)
{
	int fd = open_in(group, "cgroup.procs", O_WRONLY);

	if (dprintf(fd, "%ld", pid) < 0)
		fail(group);
	close(fd);
}

static void move_others(const char *from, const char *to)
{
	char text[4096], *at = text, *end;

	read_text(open_in(from, "cgroup.procs", O_RDONLY), text, sizeof(text));
	for (long pid; (pid = strtol(at, &end, 10)) > 0; at = end) {
		if (pid != getpid())
			move_process(pid, to);
	}
}

static long long get_value(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? atoll(at + strlen(key)) : 0;
}

/* CPU time of this process. When the clock is read, the kernel also charges that time to the group
 * that the process is in. */
static long long read_self_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000000000LL + used.tv_nsec;
}

/* Read what the group and this process have used at one moment, or nearly so. Returns the
 * latter. */
static long long read_both(int fd, char *stat, size_t size)
{
	long long used_ns, after_ns;
	int tries = 0;

	do {
		ssize_t n;

		used_ns = read_self_cpu_ns();
		n = pread(fd, stat, size - 1, 0);
		if (n < 0)
			fail("pread");
		stat[n] = '\0';
		after_ns = read_self_cpu_ns();
	} while (after_ns - used_ns > CLOSE_NS && ++tries < TRIES_MAX);
	return used_ns;
}

int main(int argc, char **argv)
{
	bool is_alone = argc > 1 && strcmp(argv[1], "alone") == 0;
	char stat[4096] = "";
	long long before_ns;
	FILE *notes;
	int fd;

	if (argc < 5 + is_alone)
		return FAILED;
	notes = fopen(argv[3 + is_alone], "ae");
	if (!notes)
		fail(argv[3 + is_alone]);
	if (is_alone)
		move_others(argv[2], argv[3]);
	else
		move_process(0, argv[2]);
	fd = open_in(argv[2], "cpu.stat", O_RDONLY);
	before_ns = read_both(fd, stat, sizeof(stat));
	close(fd);
	fprintf(
	    notes,
	    "before_ns %lld\nbase_usage_usec %lld\nbase_user_usec %lld\nbase_system_usec %lld\n",
	    before_ns, get_value(stat, "usage_usec "), get_value(stat, "user_usec "),
	    get_value(stat, "system_usec "));
	fclose(notes);
	execv(argv[4 + is_alone], argv + 4 + is_alone);
	fail(argv[4 + is_alone]);
}
