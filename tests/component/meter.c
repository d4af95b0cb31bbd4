/* SPDX-License-Identifier: MIT */
#include "meter.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FDS 4096
#define MOST_PIDS 64
#define READS_MAX 2048
#define CALL_NS 20000 /* of our own CPU time that passes between two reads */
#define LAST_PID "sys/kernel/ns_last_pid"

struct meter meter;

static char paths[MOST_FDS][64]; /* of the open descriptors */
static char reads[READS_MAX][64];
static size_t read_count;

static struct {
	int32_t pid;
	struct rti_cpu_clock clock;
} members_seen[MOST_PIDS];
static size_t seen_count;

static uint64_t time_ns = UINT64_C(1000000000000), own_cpu_ns;
static unsigned last_pid = 1000;
static int (*real_clock)(int32_t pid, struct rti_cpu_clock *out);

/* The linker calls these instead of the functions in their names. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t number, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t number, size_t size);
void *__wrap_realloc(void *p, size_t size);

static bool is_on;

static void count_call(unsigned *counter)
{
	if (__atomic_load_n(&is_on, __ATOMIC_RELAXED))
		__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

/* Not an assertion of libcheck: those allocate. */
static void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "meter: %s\n", what);
	abort();
}

void *__wrap_malloc(size_t size)
{
	count_call(&meter.allocations);
	return __real_malloc(size);
}

void *__wrap_calloc(size_t number, size_t size)
{
	count_call(&meter.allocations);
	return __real_calloc(number, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	count_call(&meter.allocations);
	return __real_realloc(p, size);
}

static void name_file(const char *path, char *out, size_t size)
{
	char file[32];
	int pid, tid;

	if (sscanf(path, "%d/task/%d/%31s", &pid, &tid, file) == 3)
		snprintf(out, size, "PID/task/TID/%s", file);
	else if (sscanf(path, "%d/%31s", &pid, file) == 2)
		snprintf(out, size, "PID/%s", file);
	else
		snprintf(out, size, "%s", path);
}

static void add_file(const char *path)
{
	char name[48];
	size_t i = 0;

	name_file(path, name, sizeof(name));
	while (i < meter.files && strcmp(meter.file[i].name, name) != 0)
		i++;
	require(i < METER_FILES, "too many files");
	if (i == meter.files)
		memcpy(meter.file[meter.files++].name, name, sizeof(name));
	meter.file[i].count++;
}

static void add_read(const char *path)
{
	if (!is_on)
		return;
	add_file(path);
	for (size_t i = 0; i < read_count; i++) {
		if (strcmp(reads[i], path) == 0)
			memcpy(meter.twice, reads[i], sizeof(meter.twice));
	}
	require(read_count < READS_MAX, "too many reads");
	snprintf(reads[read_count++], sizeof(reads[0]), "%s", path);
}

static bool is_last_pid(const char *path)
{
	return strcmp(path, LAST_PID) == 0;
}

/* Opens another file for the last pid, which not every kernel has. */
static int metered_open(int dirfd, const char *path, int flags)
{
	int fd = rti_procfs_linux.open(dirfd, is_last_pid(path) ? "stat" : path, flags);

	count_call(&meter.opens);
	require(fd < MOST_FDS, "too many descriptors");
	if (fd >= 0)
		snprintf(paths[fd], sizeof(paths[fd]), "%s", path);
	if (flags & O_DIRECTORY)
		add_read(path);
	return fd;
}

static ssize_t metered_pread(int fd, void *buf, size_t len, off_t offset)
{
	count_call(&meter.reads);
	if (offset == 0)
		add_read(paths[fd]);
	if (is_last_pid(paths[fd]))
		return snprintf(buf, len, "%u\n", last_pid);
	return rti_procfs_linux.pread(fd, buf, len, offset);
}

static ssize_t metered_getdents(int fd, void *buf, size_t len)
{
	count_call(&meter.lists);
	return rti_procfs_linux.getdents(fd, buf, len);
}

static ssize_t metered_readlink(int dirfd, const char *path, char *buf, size_t len)
{
	count_call(&meter.looks);
	return rti_procfs_linux.readlink(dirfd, path, buf, len);
}

static int metered_access(int dirfd, const char *path)
{
	count_call(&meter.looks);
	return rti_procfs_linux.access(dirfd, path);
}

static int metered_space(const char *root, const char *path, struct rti_space *out)
{
	count_call(&meter.spaces);
	return rti_procfs_linux.space(root, path, out);
}

static int64_t metered_links(int fd)
{
	count_call(&meter.looks);
	return rti_procfs_linux.links(fd);
}

static bool metered_has_changed(int fd)
{
	count_call(&meter.looks);
	return rti_procfs_linux.has_changed(fd);
}

static bool metered_is_in_proc(int fd)
{
	count_call(&meter.looks);
	return rti_procfs_linux.is_in_proc(fd);
}

static int metered_close(int fd)
{
	return rti_procfs_linux.close(fd);
}

const struct rti_procfs_ops meter_ops = {
	.open = metered_open,
	.pread = metered_pread,
	.getdents = metered_getdents,
	.readlink = metered_readlink,
	.access = metered_access,
	.space = metered_space,
	.links = metered_links,
	.has_changed = metered_has_changed,
	.is_in_proc = metered_is_in_proc,
	.close = metered_close,
};

static void metered_now(struct rti_now *out)
{
	for (int i = 0; i < 3; i++)
		count_call(&meter.times);
	*out = (struct rti_now){ time_ns, time_ns, time_ns };
}

static uint64_t metered_monotonic_ns(void)
{
	count_call(&meter.times);
	return time_ns;
}

static uint64_t metered_thread_cpu_ns(void)
{
	count_call(&meter.times);
	return own_cpu_ns += CALL_NS;
}

/* Returns the real clock as of when the process was last marked as having run. */
static int metered_clock(int32_t pid, struct rti_cpu_clock *out)
{
	size_t i = 0;

	count_call(&meter.clocks);
	while (i < seen_count && members_seen[i].pid != pid)
		i++;
	require(i < MOST_PIDS, "too many processes");
	if (i == seen_count) {
		int err = real_clock(pid, &members_seen[i].clock);

		if (err < 0)
			return err;
		members_seen[seen_count++].pid = pid;
	}
	*out = members_seen[i].clock;
	return 0;
}

void meter_attach(struct rt_tracker *t)
{
	real_clock = t->platform.cpu_clock;
	t->platform.now = metered_now;
	t->platform.monotonic_ns = metered_monotonic_ns;
	t->platform.thread_cpu_ns = metered_thread_cpu_ns;
	t->platform.cpu_clock = metered_clock;
}

void meter_start(void)
{
	meter = (struct meter){ 0 };
	read_count = 0;
	__atomic_store_n(&is_on, true, __ATOMIC_RELAXED);
}

void meter_stop(void)
{
	__atomic_store_n(&is_on, false, __ATOMIC_RELAXED);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b); /* the name is the first field */
}

const char *meter_files(void)
{
	static char text[1024];
	size_t len = 0;

	text[0] = '\0';
	qsort(meter.file, meter.files, sizeof(meter.file[0]), compare_names);
	for (size_t i = 0; i < meter.files && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %u", i ? ", " : "",
		                        meter.file[i].name, meter.file[i].count);
	return text;
}

void meter_pass(uint64_t ms)
{
	time_ns += ms * 1000000;
}

void meter_see_run(int32_t pid)
{
	for (size_t i = 0; i < seen_count; i++) {
		if (pid == 0 || members_seen[i].pid == pid)
			members_seen[i--] = members_seen[--seen_count];
	}
}

void meter_see_fork(void)
{
	last_pid++;
}
