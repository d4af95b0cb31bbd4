/* SPDX-License-Identifier: MIT */
/* Takes samples as standard input requests, and prints what they cost.
 *
 * PROGRAM VARIANT pid|tree|system PID 0|1 [REQUEST_FD REPLY_FD]
 *
 * PID is the process, or the root of the tree. 1 requests PSS. The two descriptors lead to the
 * subject, which runs processes of the tree on request. The first line of output is
 *
 *   first WALL_NS CPU_NS KIB    from the start of the program, which is BENCH_STARTED_NS, to its
 *                               first sample; and its resident memory before it had a tracker
 *
 * The lines of input are:
 *
 *   hot COUNT                   take samples without a pause
 *   slow COUNT RUN PAUSE_MS     before each sample, the root and RUN other processes of the tree
 *                               run for a short while, and then there is a pause
 *   pace COUNT INTERVAL_MS AT   take samples at this time of the monotonic clock, in ns, and then
 *                               one each interval
 *
 * The answer to each is a line
 *
 *   CPU_NS WALL_NS ALLOCATIONS PROCESSES NOTE
 *
 * The first three are for all samples together, without what was done between the samples. */
#include "driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define CLOCK_TRIES 1000

struct cost {
	int64_t cpu_ns, wall_ns;
	uint64_t allocations;
};

struct session {
	uint64_t (*count_allocations)(void); /* of alloc_count.c; NULL if that is not loaded */
	int request_fd, reply_fd;
	int64_t processes;
	int64_t clocks_ns; /* the cost of reading the clocks */
};

void fail_with_errno(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t read_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct cost read_cost(const struct session *s)
{
	return (struct cost){
		.cpu_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID),
		.wall_ns = read_clock_ns(CLOCK_MONOTONIC),
		.allocations = s->count_allocations ? s->count_allocations() : 0,
	};
}

/* The cost of reading the clocks is left out. */
static void add_since(struct cost *sum, const struct session *s, const struct cost *before)
{
	struct cost after = read_cost(s);

	sum->cpu_ns += after.cpu_ns - before->cpu_ns - s->clocks_ns;
	sum->wall_ns += after.wall_ns - before->wall_ns - s->clocks_ns;
	sum->allocations += after.allocations - before->allocations;
}

static struct cost sample_hot(struct session *s, int count)
{
	struct cost sum = { 0 }, before = read_cost(s);

	for (int i = 0; i < count; i++)
		s->processes = sample_target();
	add_since(&sum, s, &before);
	return sum;
}

static void measure_clocks(struct session *s)
{
	struct cost sum = { 0 };

	for (int i = 0; i < CLOCK_TRIES; i++) {
		struct cost before = read_cost(s);

		add_since(&sum, s, &before);
	}
	s->clocks_ns = sum.cpu_ns / CLOCK_TRIES;
}

static void sleep_ms(int ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static void run_processes(const struct session *s, int count)
{
	char reply[32];

	if (dprintf(s->request_fd, "%d\n", count) < 0)
		fail_with_errno("subject");
	do {
		ssize_t n = read(s->reply_fd, reply, sizeof(reply));

		if (n <= 0)
			fail_with_errno("subject");
		reply[0] = reply[n - 1];
	} while (reply[0] != '\n');
}

static struct cost sample_slowly(struct session *s, int count, int run, int pause)
{
	struct cost sum = { 0 };

	while (count-- > 0) {
		struct cost before;

		if (run > 0)
			run_processes(s, run);
		if (pause > 0)
			sleep_ms(pause);
		before = read_cost(s);
		s->processes = sample_target();
		add_since(&sum, s, &before);
	}
	return sum;
}

static void sleep_until(int64_t at_ns)
{
	struct timespec at = { at_ns / 1000000000, at_ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

/* A sample that is late moves no other one. */
static struct cost sample_at_pace(struct session *s, int count, int interval_ms, int64_t at_ns)
{
	struct cost sum = { 0 };

	for (int i = 0; i < count; i++) {
		struct cost before;

		sleep_until(at_ns + i * (interval_ms * INT64_C(1000000)));
		before = read_cost(s);
		s->processes = sample_target();
		add_since(&sum, s, &before);
	}
	return sum;
}

/* Returns false if the line is no request, or the answer cannot be written. */
static bool serve_line(struct session *s, const char *line)
{
	struct cost cost;
	int count, run, pause;
	long long at_ns;

	if (sscanf(line, "hot %d", &count) == 1)
		cost = sample_hot(s, count);
	else if (sscanf(line, "slow %d %d %d", &count, &run, &pause) == 3)
		cost = sample_slowly(s, count, run, pause);
	else if (sscanf(line, "pace %d %d %lld", &count, &pause, &at_ns) == 3)
		cost = sample_at_pace(s, count, pause, at_ns);
	else
		return false;
	printf("%lld %lld %llu %lld %s\n", (long long)cost.cpu_ns, (long long)cost.wall_ns,
	       (unsigned long long)cost.allocations, (long long)s->processes, describe_sample());
	return fflush(stdout) == 0;
}

static long read_resident_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (!file || fscanf(file, "%*s %ld", &pages) != 1)
		fail_with_errno("statm");
	fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void take_first_sample(struct session *s, const struct target *target)
{
	const char *started = getenv("BENCH_STARTED_NS");
	long empty_kib = read_resident_kib();
	struct cost cost;

	open_target(target);
	s->processes = sample_target();
	cost = read_cost(s);
	printf("first %lld %lld %ld\n", started ? (long long)cost.wall_ns - atoll(started) : 0,
	       (long long)cost.cpu_ns, empty_kib);
	fflush(stdout);
}

static enum kind parse_kind(const char *word)
{
	if (strcmp(word, "system") == 0)
		return KIND_SYSTEM;
	return strcmp(word, "tree") == 0 ? KIND_TREE : KIND_PID;
}

int main(int argc, char **argv)
{
	struct session s = { .request_fd = -1, .reply_fd = -1 };
	struct target target;
	char line[128];
	void *found;

	if (argc < 5)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	found = dlsym(RTLD_DEFAULT, "alloc_count");
	memcpy(&s.count_allocations, &found, sizeof(found));
	target = (struct target){
		.variant = argv[1],
		.kind = parse_kind(argv[2]),
		.pid = atoi(argv[3]),
		.with_pss = atoi(argv[4]) != 0,
	};
	if (argc > 6) {
		s.request_fd = atoi(argv[5]);
		s.reply_fd = atoi(argv[6]);
	}
	take_first_sample(&s, &target);
	measure_clocks(&s);
	while (fgets(line, sizeof(line), stdin)) {
		if (!serve_line(&s, line))
			return 2;
	}
	return 0;
}
