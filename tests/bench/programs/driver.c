/* SPDX-License-Identifier: MIT */
/* Takes samples as it is told on standard input, and says what they cost.
 *
 * PROGRAM VARIANT pid|tree|system PID 0|1 [ASK TOLD]: the pid of the process or root, whether
 * PSS is wanted, and the descriptors through which the tree is made to run. The first line of
 * output is "first WALL_NS CPU_NS", from the start of the program (BENCH_STARTED_NS) to its
 * first sample. Each line of input gives one line of output: hot COUNT               samples
 * without a pause slow COUNT RUN PAUSE_MS  before each, the root and RUN more of the tree run a
 * little, and then there is a pause "CPU_NS WALL_NS ALLOCATIONS PROCESSES NOTE": the first three
 * for all samples together, with nothing of what was done between them. */
#include "driver.h"

#include <ctype.h>
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
	uint64_t (*allocations)(void); /* from alloc_count.so, when that is loaded */
	int ask, told;
	int64_t processes;
	int64_t clocks_ns; /* what it costs to read the clocks */
};

void cannot(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

pid_t pid_of_name(const char *name)
{
	return isdigit((unsigned char)*name) ? atoi(name) : 0;
}

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct cost cost_so_far(const struct session *s)
{
	return (struct cost){
		.cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID),
		.wall_ns = now_ns(CLOCK_MONOTONIC),
		.allocations = s->allocations ? s->allocations() : 0,
	};
}

/* Reading the clocks is not what is to be measured. */
static void add_since(struct cost *sum, const struct session *s, const struct cost *before)
{
	struct cost after = cost_so_far(s);

	sum->cpu_ns += after.cpu_ns - before->cpu_ns - s->clocks_ns;
	sum->wall_ns += after.wall_ns - before->wall_ns - s->clocks_ns;
	sum->allocations += after.allocations - before->allocations;
}

static struct cost hot(struct session *s, int count)
{
	struct cost sum = { 0 }, before = cost_so_far(s);

	for (int i = 0; i < count; i++)
		s->processes = target_sample();
	add_since(&sum, s, &before);
	return sum;
}

static void measure_clocks(struct session *s)
{
	struct cost sum = { 0 };

	for (int i = 0; i < CLOCK_TRIES; i++) {
		struct cost before = cost_so_far(s);

		add_since(&sum, s, &before);
	}
	s->clocks_ns = sum.cpu_ns / CLOCK_TRIES;
}

static void pause_ms(int ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static void run_members(const struct session *s, int count)
{
	char reply[32];

	if (dprintf(s->ask, "%d\n", count) < 0)
		cannot("the tree");
	do {
		ssize_t n = read(s->told, reply, sizeof(reply));

		if (n <= 0)
			cannot("the tree");
		reply[0] = reply[n - 1];
	} while (reply[0] != '\n');
}

static struct cost slow(struct session *s, int count, int run, int pause)
{
	struct cost sum = { 0 };

	while (count-- > 0) {
		struct cost before;

		if (run > 0)
			run_members(s, run);
		if (pause > 0)
			pause_ms(pause);
		before = cost_so_far(s);
		s->processes = target_sample();
		add_since(&sum, s, &before);
	}
	return sum;
}

static int obey(struct session *s, const char *line)
{
	struct cost cost;
	int count, run, pause;

	if (sscanf(line, "hot %d", &count) == 1)
		cost = hot(s, count);
	else if (sscanf(line, "slow %d %d %d", &count, &run, &pause) == 3)
		cost = slow(s, count, run, pause);
	else
		return -1;
	printf("%lld %lld %llu %lld %s\n", (long long)cost.cpu_ns, (long long)cost.wall_ns,
	       (unsigned long long)cost.allocations, (long long)s->processes, target_note());
	return fflush(stdout);
}

static void first_sample(struct session *s, const struct target *target)
{
	const char *started = getenv("BENCH_STARTED_NS");
	struct cost cost;

	target_open(target);
	s->processes = target_sample();
	cost = cost_so_far(s);
	printf("first %lld %lld\n", started ? (long long)cost.wall_ns - atoll(started) : 0,
	       (long long)cost.cpu_ns);
	fflush(stdout);
}

static enum kind kind_of(const char *word)
{
	if (strcmp(word, "system") == 0)
		return KIND_SYSTEM;
	return strcmp(word, "tree") == 0 ? KIND_TREE : KIND_PID;
}

int main(int argc, char **argv)
{
	struct session s = { .ask = -1, .told = -1 };
	struct target target;
	char line[128];
	void *found;

	if (argc < 5)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	found = dlsym(RTLD_DEFAULT, "alloc_count");
	memcpy(&s.allocations, &found, sizeof(found));
	target = (struct target){ argv[1], kind_of(argv[2]), atoi(argv[3]), atoi(argv[4]) };
	if (argc > 6) {
		s.ask = atoi(argv[5]);
		s.told = atoi(argv[6]);
	}
	first_sample(&s, &target);
	measure_clocks(&s);
	while (fgets(line, sizeof(line), stdin)) {
		if (obey(&s, line) != 0)
			return 2;
	}
	return 0;
}
