/* SPDX-License-Identifier: MIT */
#include "tracking.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "suite.h"

#define MIB (1 << 20)

void *map_shared(size_t size)
{
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(shared, MAP_FAILED);
	return shared;
}

struct rt_tracker *track_with_pss(pid_t pid)
{
	const struct rt_opts opts = { .size = sizeof(opts), .flags = RT_OPT_PSS_READS };
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, pid, &opts), 0);
	return tracker;
}

struct rt_tracker *track(pid_t pid)
{
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, pid, NULL), 0);
	return tracker;
}

struct rt_metrics sample(struct rt_tracker *tracker)
{
	struct rt_metrics m;

	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	return m;
}

struct rt_metrics sample_ended(struct rt_tracker *tracker)
{
	struct rt_metrics m;

	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), -ESRCH);
	return m;
}

int has_two_processes(void *tracker)
{
	struct rt_metrics metrics;

	return rt_sample(tracker, &metrics, sizeof(metrics)) == 0 && metrics.processes == 2;
}

uint64_t get_sampled_ns(const struct rt_metrics *m)
{
	return m->cpu_user_ns + m->cpu_system_ns;
}

uint64_t get_outcome_ns(const struct rt_outcome *outcome)
{
	return outcome->cpu_user_ns + outcome->cpu_system_ns;
}

uint64_t get_rusage_ns(const struct rusage *usage)
{
	uint64_t s = (uint64_t)usage->ru_utime.tv_sec + (uint64_t)usage->ru_stime.tv_sec;
	uint64_t us = (uint64_t)usage->ru_utime.tv_usec + (uint64_t)usage->ru_stime.tv_usec;

	return s * 1000000000u + us * 1000u;
}

void write_file(int mib)
{
	static const char block[MIB];
	const char *dir = getenv("RTRACK_BUILD_ROOT");
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/rtrack-file-%d", dir ? dir : "/var/tmp", getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < mib; i++) {
		if (write(fd, block, sizeof(block)) != sizeof(block))
			_exit(98);
	}
	fsync(fd);
	close(fd);
	unlink(path);
}
