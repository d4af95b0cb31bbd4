/* SPDX-License-Identifier: MIT */
/* What a recorder costs, and how many ticks it misses, at 1 kHz.
 *
 *	bench-recorder-cost [SECONDS [ROUNDS [BUSY]]]
 *
 * Cost: in each round, a thread calls rt_sample() after each clock_nanosleep(), and then a recorder
 * samples the same process. Times are CPU times for each sample; the median counts.
 * Ticks: a recorder runs for SECONDS, with a reader each second, beside a thread that only sleeps
 * until each tick; with BUSY, so many loops for each CPU run, too.
 * It says whether the targets are met, and does not fail if they are not: that depends on the
 * machine. It fails if a tick is neither taken nor missed. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#define NS_PER_S UINT64_C(1000000000)
#define INTERVAL_NS UINT64_C(1000000)
#define ROUND_NS (NS_PER_S / 2)
#define ROUNDS_MAX 101
#define BUSY_MAX 256
#define ROOM 4096

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t at_ns)
{
	const struct timespec at = { .tv_sec = (time_t)(at_ns / NS_PER_S),
		                     .tv_nsec = (long)(at_ns % NS_PER_S) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
		;
}

static void fail(const char *what)
{
	printf("not ok - %s\n", what);
	exit(1);
}

static pid_t start_child(void (*work)(void))
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid > 0)
		return pid;
	for (;;) {
		work();
		if (getppid() != parent)
			_exit(0);
	}
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The subject has run between any two samples. */
static void run_a_little(void)
{
	sleep_until(clock_ns(CLOCK_MONOTONIC) + INTERVAL_NS / 4);
}

static void spin(void)
{
	for (volatile unsigned turns = 0; turns < 100000000; turns++)
		;
}

static struct rt_tracker *track(pid_t pid)
{
	struct rt_tracker *t;

	if (rt_pid_tracker_new(&t, pid, NULL))
		fail("rt_pid_tracker_new()");
	return t;
}

static struct rt_recorder *record(pid_t pid)
{
	const struct rt_recorder_opts opts = { .size = sizeof(opts), .interval_ns = INTERVAL_NS };
	struct rt_recorder *r;

	if (rt_recorder_new(&r, track(pid), &opts))
		fail("rt_recorder_new()");
	return r;
}

static struct rt_recorder_totals totals_of(const struct rt_recorder *r)
{
	struct rt_recorder_totals totals;

	if (rt_recorder_get_totals(r, &totals, sizeof(totals)))
		fail("rt_recorder_get_totals()");
	return totals;
}

/* --- A bare loop. --- */

struct loop {
	struct rt_tracker *tracker; /* NULL: it only sleeps */
	atomic_bool is_over;
	atomic_ullong turns, missed;
};

static void *run_loop(void *arg)
{
	struct loop *loop = arg;
	uint64_t next_ns = clock_ns(CLOCK_MONOTONIC);
	struct rt_metrics m;

	while (!atomic_load(&loop->is_over)) {
		uint64_t passed;

		if (loop->tracker)
			rt_sample(loop->tracker, &m, sizeof(m));
		atomic_fetch_add(&loop->turns, 1);
		passed = (clock_ns(CLOCK_MONOTONIC) - next_ns) / INTERVAL_NS;
		atomic_fetch_add(&loop->missed, passed);
		next_ns += (passed + 1) * INTERVAL_NS;
		sleep_until(next_ns);
	}
	return NULL;
}

/* CPU time of all threads but this one. */
static uint64_t other_threads_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static double loop_cost_ns(pid_t pid)
{
	struct loop loop = { .tracker = track(pid) };
	uint64_t before_ns, cost_ns, turns;
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_loop, &loop))
		fail("pthread_create()");
	sleep_until(clock_ns(CLOCK_MONOTONIC) + ROUND_NS / 10);
	before_ns = other_threads_ns();
	turns = atomic_load(&loop.turns);
	sleep_until(clock_ns(CLOCK_MONOTONIC) + ROUND_NS);
	cost_ns = other_threads_ns() - before_ns;
	turns = atomic_load(&loop.turns) - turns;
	atomic_store(&loop.is_over, true);
	pthread_join(thread, NULL);
	rt_tracker_free(loop.tracker);
	return (double)cost_ns / (double)turns;
}

static double recorder_cost_ns(pid_t pid)
{
	struct rt_recorder *r = record(pid);
	uint64_t before_ns, cost_ns, taken;

	sleep_until(clock_ns(CLOCK_MONOTONIC) + ROUND_NS / 10);
	before_ns = other_threads_ns();
	taken = totals_of(r).taken;
	sleep_until(clock_ns(CLOCK_MONOTONIC) + ROUND_NS);
	cost_ns = other_threads_ns() - before_ns;
	taken = totals_of(r).taken - taken;
	rt_recorder_free(r);
	return (double)cost_ns / (double)taken;
}

static int compare(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return values[count / 2];
}

static void compare_costs(int rounds)
{
	double loop[ROUNDS_MAX], recorder[ROUNDS_MAX], ratio[ROUNDS_MAX];
	pid_t pid = start_child(run_a_little);

	for (int i = 0; i < rounds; i++) {
		loop[i] = loop_cost_ns(pid);
		recorder[i] = recorder_cost_ns(pid);
		ratio[i] = recorder[i] / loop[i];
	}
	end_child(pid);
	printf("# a sample: %.0f ns in a bare loop, %.0f ns in a recorder\n", median(loop, rounds),
	       median(recorder, rounds));
	printf("# of one round: %+.1f %% (target: +5 %%)\n", (median(ratio, rounds) - 1) * 100);
}

/* --- Ticks. --- */

struct times {
	uint64_t read, first_ns, last_ns; /* samples, and their times */
};

static void drain(struct rt_recorder *r, struct times *times)
{
	static struct rt_metrics samples[ROOM];
	size_t count = ROOM;

	if (rt_recorder_read(r, samples, sizeof(samples[0]), &count))
		fail("rt_recorder_read()");
	for (size_t i = 0; i < count; i++) {
		if (samples[i].monotonic_ns <= times->last_ns)
			fail("times do not rise");
		times->last_ns = samples[i].monotonic_ns;
		if (!times->first_ns)
			times->first_ns = times->last_ns;
	}
	times->read += count;
}

static void count_ticks(unsigned seconds, unsigned busy)
{
	struct loop loop = { 0 };
	struct times times = { 0 };
	struct rt_recorder_totals totals;
	pid_t pid = start_child(run_a_little), children[BUSY_MAX];
	uint64_t begin_ns, end_ns, ticks;
	unsigned count = busy * (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	struct rt_recorder *r;
	pthread_t thread;

	count = count < BUSY_MAX ? count : BUSY_MAX;
	for (unsigned i = 0; i < count; i++)
		children[i] = start_child(spin);
	if (pthread_create(&thread, NULL, run_loop, &loop))
		fail("pthread_create()");
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	r = record(pid);
	for (unsigned i = 0; i < seconds; i++) {
		sleep(1);
		drain(r, &times);
	}
	totals = totals_of(r);
	end_ns = clock_ns(CLOCK_MONOTONIC);
	atomic_store(&loop.is_over, true);
	pthread_join(thread, NULL);
	for (unsigned i = 0; i < count; i++)
		end_child(children[i]);
	end_child(pid);
	ticks = totals.taken + totals.missed;
	printf("# %u busy loops, %.3f s: %llu taken, %llu missed, %llu dropped, %llu read\n", count,
	       (double)(end_ns - begin_ns) / 1e9, (unsigned long long)totals.taken,
	       (unsigned long long)totals.missed, (unsigned long long)totals.dropped,
	       (unsigned long long)times.read);
	printf("# taken + missed: %llu ticks, which is %.3f s\n", (unsigned long long)ticks,
	       (double)ticks * (double)INTERVAL_NS / 1e9);
	printf("# missed: %.2f %%, by a loop that only sleeps %.2f %% (target when idle: 1 more)\n",
	       100 * (double)totals.missed / (double)ticks,
	       100 * (double)loop.missed / (double)(loop.turns + loop.missed));
	if ((ticks - 1) * INTERVAL_NS > end_ns - begin_ns ||
	    ticks * INTERVAL_NS < times.last_ns - times.first_ns)
		fail("ticks and time differ");
	rt_recorder_free(r);
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 3, rounds = argc > 2 ? atoi(argv[2]) : 5;
	int busy = argc > 3 ? atoi(argv[3]) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (seconds < 1 || rounds < 0 || rounds > ROUNDS_MAX || busy < 0)
		return 2;
	printf("1..1\n");
	if (rounds > 0)
		compare_costs(rounds);
	count_ticks((unsigned)seconds, 0);
	if (argc <= 3 || busy > 0)
		count_ticks((unsigned)seconds, busy > 0 ? (unsigned)busy : 4);
	printf("ok 1 - each tick was taken or missed\n");
	return 0;
}
