/* SPDX-License-Identifier: MIT */
/* enter into GROUP NOTES PROGRAM...: moves itself into a cgroup and becomes the program there.
 * enter alone GROUP ASIDE NOTES PROGRAM...: moves everybody else out of a cgroup, and becomes
 * the program.
 *
 * Both leave a group whose account from then on is the program's alone. The file NOTES gets what
 * is to be subtracted from that account, the group's use so far, as lines "base_NAME N" with the
 * names of cpu.stat; and what is to be added, "before_ns N": our own use, which whoever runs us
 * counts as the program's. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FAILED 99

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

static void read_in(const char *group, const char *name, char *text, size_t size)
{
	int fd = open_in(group, name, O_RDONLY);
	ssize_t n = read(fd, text, size - 1);

	if (n < 0)
		fail(name);
	text[n] = '\0';
	close(fd);
}

static void move(long pid, const char *group)
{
	int fd = open_in(group, "cgroup.procs", O_WRONLY);

	if (dprintf(fd, "%ld", pid) < 0)
		fail(group);
	close(fd);
}

static void move_others(const char *from, const char *to)
{
	char text[4096], *at = text, *end;

	read_in(from, "cgroup.procs", text, sizeof(text));
	for (long pid; (pid = strtol(at, &end, 10)) > 0; at = end) {
		if (pid != getpid())
			move(pid, to);
	}
}

static long long value_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? atoll(at + strlen(key)) : 0;
}

/* Asking for the clock also has the kernel charge what we used to the group that we are in. */
static long long own_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000000000LL + used.tv_nsec;
}

int main(int argc, char **argv)
{
	int is_alone = argc > 1 && strcmp(argv[1], "alone") == 0;
	char stat[4096] = "";
	long long before_ns;
	FILE *notes;

	if (argc < 5 + is_alone)
		return FAILED;
	notes = fopen(argv[3 + is_alone], "ae");
	if (!notes)
		fail(argv[3 + is_alone]);
	if (is_alone)
		move_others(argv[2], argv[3]);
	before_ns = own_ns();
	if (is_alone)
		read_in(argv[2], "cpu.stat", stat, sizeof(stat));
	else
		move(0, argv[2]);
	fprintf(
	    notes,
	    "before_ns %lld\nbase_usage_usec %lld\nbase_user_usec %lld\nbase_system_usec %lld\n",
	    before_ns, value_of(stat, "usage_usec "), value_of(stat, "user_usec "),
	    value_of(stat, "system_usec "));
	fclose(notes);
	execv(argv[4 + is_alone], argv + 4 + is_alone);
	fail(argv[4 + is_alone]);
}
