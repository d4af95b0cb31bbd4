/* SPDX-License-Identifier: MIT */
/* Uses the library for a long time, and looks at what only time shows: soak SECONDS
 *
 *   - a tracker of a tree that never rests, sampled 1000 times a second
 *   - a tracker of the machine, sampled ten times a second
 *   - commands, one after the other, on a thread of their own
 *
 * It fails if a counter falls, if differences do not add up to the totals, if the CPU time of the
 * tree is not that of wait4(2) in the end, if a command has another exit code than its own, or if
 * descriptors, threads or memory of this process grow. It prints the first 20 failures. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "churn.h"

#define SECOND_NS INT64_C(1000000000)
#define INTERVAL_NS (SECOND_NS / 1000)
#define SYSTEM_EVERY 100 /* samples of the tree */
#define PARTS 10
#define SETTLED_PARTS 2
#define EXIT_CODE 7
/* The allocator's own, and a page or two of each thread's stack. */
#define GROWTH_MAX_KIB 1024
/* What wait4(2) cuts off of each process is less than a tick of its clock, and this share is far
 * above it. */
#define DRIFT_PER_MILLE 2
#define DRIFT_NS (20 * SECOND_NS / 1000)

static atomic_uint failures, commands;
static atomic_bool must_end;
static pthread_mutex_t command_lock = PTHREAD_MUTEX_INITIALIZER; /* held while a command exists */

static void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (atomic_fetch_add(&failures, 1) < 20) {
		fputs("soak: ", stdout);
		vprintf(format, args);
		putchar('\n');
	}
	va_end(args);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* --- What this process holds --- */

struct holdings {
	unsigned fds, threads;
	uint64_t kib; /* RSS without pages of files */
};

static unsigned count_entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* Waits until there is no command, so that two of them can be compared. */
static struct holdings read_holdings(void)
{
	struct holdings out = { 0 };
	char line[200];
	FILE *status;

	pthread_mutex_lock(&command_lock);
	out.fds = count_entries("/proc/self/fd");
	out.threads = count_entries("/proc/self/task");
	status = fopen("/proc/self/status", "re");
	while (status && fgets(line, sizeof(line), status))
		sscanf(line, "RssAnon: %" SCNu64, &out.kib);
	if (status)
		fclose(status);
	pthread_mutex_unlock(&command_lock);
	return out;
}

static void check_memory(const struct holdings *settled, const struct holdings *last)
{
	if (last->kib > settled->kib + GROWTH_MAX_KIB)
		fail("%" PRIu64 " KiB, and %" PRIu64 " before", last->kib, settled->kib);
}

static void check_fds(const char *when, const struct holdings *before, const struct holdings *now)
{
	if (now->fds > before->fds)
		fail("%s: %u descriptors, and %u before", when, now->fds, before->fds);
}

/* A thread may take a moment to end. */
static void check_threads(const struct holdings *before)
{
	struct holdings now = read_holdings();

	for (int i = 0; i < 1000 && now.threads > before->threads; i++) {
		usleep(10000);
		now = read_holdings();
	}
	if (now.threads > before->threads)
		fail("%u threads are left, and %u were before", now.threads, before->threads);
	check_fds("at the end", before, &now);
}

/* --- A tracker that is sampled --- */

struct followed {
	const char *name;
	struct rt_tracker *tracker;
	struct rt_metrics first, last;
	uint64_t samples, cpu_ns; /* cpu_ns: the sum of the differences */
	int64_t interval_ns;
};

static uint64_t get_u64(const struct rt_metrics *m, const struct rt_field *field)
{
	uint64_t value;

	memcpy(&value, (const char *)m + field->offset, sizeof(value));
	return value;
}

/* Every counter of the header, by the description that the library has of it. */
static void check_counters(const struct followed *f, const struct rt_metrics *m)
{
	struct rt_field field;

	for (uint32_t i = 0; rt_field_get(RT_STRUCT_METRICS, i, &field, sizeof(field)) == 0; i++) {
		if (field.role != RT_FIELD_COUNTER || field.type != RT_TYPE_U64)
			continue;
		if ((m->valid & f->last.valid & field.has) != field.has)
			continue;
		if (get_u64(m, &field) < get_u64(&f->last, &field))
			fail("%s: %s fell from %" PRIu64 " to %" PRIu64, f->name, field.name,
			     get_u64(&f->last, &field), get_u64(m, &field));
	}
}

static void add_difference(struct followed *f, const struct rt_metrics *m)
{
	struct rt_delta delta;
	int err = rt_diff(&f->last, m, &delta, sizeof(delta));

	if (err < 0) {
		fail("%s: rt_diff: %s", f->name, rt_strerror(err));
		return;
	}
	f->interval_ns += (int64_t)delta.interval_ns;
	f->cpu_ns += delta.cpu_user_ns + delta.cpu_system_ns;
}

static void take(struct followed *f, int expected)
{
	struct rt_metrics m;
	int err = rt_sample(f->tracker, &m, sizeof(m));

	if (err != expected) {
		fail("%s: rt_sample: %s", f->name, rt_strerror(err));
		return;
	}
	if (f->samples++ == 0) {
		f->first = m;
	} else {
		check_counters(f, &m);
		add_difference(f, &m);
	}
	f->last = m;
}

static void check_sums(const struct followed *f)
{
	const uint64_t cpu_ns = f->last.cpu_user_ns + f->last.cpu_system_ns - f->first.cpu_user_ns -
	                        f->first.cpu_system_ns;
	const uint64_t ns = f->last.monotonic_ns - f->first.monotonic_ns;

	if (f->cpu_ns != cpu_ns)
		fail("%s: differences of CPU time add up to %" PRIu64 " ns of %" PRIu64, f->name,
		     f->cpu_ns, cpu_ns);
	if ((uint64_t)f->interval_ns != ns)
		fail("%s: intervals add up to %" PRId64 " ns of %" PRIu64, f->name, f->interval_ns,
		     ns);
}

/* --- Commands --- */

static void run_command(void)
{
	static const char *const argv[] = { "sh", "-c", "exit 7", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts), .argv = argv };
	struct rt_command *command;
	struct rt_outcome outcome;
	int err = rt_command_start(&command, &opts);

	if (err < 0) {
		fail("rt_command_start: %s", rt_strerror(err));
		return;
	}
	err = rt_command_wait(command, 60 * SECOND_NS, &outcome, sizeof(outcome));
	if (err < 0)
		fail("rt_command_wait: %s", rt_strerror(err));
	else if (outcome.exit_code != EXIT_CODE)
		fail("a command has the exit code %d", (int)outcome.exit_code);
	rt_command_free(command);
	atomic_fetch_add(&commands, 1);
}

static void *run_commands(void *unused)
{
	(void)unused;
	while (!atomic_load(&must_end)) {
		pthread_mutex_lock(&command_lock);
		run_command();
		pthread_mutex_unlock(&command_lock);
		usleep(100000);
	}
	return NULL;
}

/* --- The soak --- */

static void report(const struct followed *tree, const struct followed *system, int64_t seconds,
                   const struct holdings *h)
{
	printf("%4" PRId64 " s: %" PRIu64 " samples of the tree, %" PRIu64
	       " of the machine, %u commands, %" PRIu64
	       " processes; %u descriptors, %u threads, %" PRIu64 " KiB\n",
	       seconds, tree->samples, system->samples, atomic_load(&commands),
	       tree->last.processes_seen, h->fds, h->threads, h->kib);
	fflush(stdout);
}

static void sleep_until(int64_t at_ns)
{
	const struct timespec at = { .tv_sec = at_ns / SECOND_NS, .tv_nsec = at_ns % SECOND_NS };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

/* Samples that are late are left out, as by any program that keeps its rhythm. */
static void sample_until(struct followed *tree, struct followed *system, int64_t end_ns)
{
	int64_t at_ns = now_ns();

	while (at_ns < end_ns) {
		sleep_until(at_ns);
		take(tree, 0);
		if (tree->samples % SYSTEM_EVERY == 1)
			take(system, 0);
		at_ns += INTERVAL_NS;
		if (at_ns < now_ns())
			at_ns = now_ns();
	}
}

static void soak(struct followed *tree, struct followed *system, int64_t seconds)
{
	const int64_t start_ns = now_ns();
	struct holdings settled = { 0 }, now = { 0 };

	for (int64_t part = 1; part <= PARTS; part++) {
		sample_until(tree, system, start_ns + part * seconds * SECOND_NS / PARTS);
		now = read_holdings();
		report(tree, system, part * seconds / PARTS, &now);
		if (part == SETTLED_PARTS)
			settled = now;
	}
	check_memory(&settled, &now);
}

static void check_drift(const struct followed *tree, uint64_t true_ns)
{
	const int64_t cpu_ns = (int64_t)(tree->last.cpu_user_ns + tree->last.cpu_system_ns);
	const int64_t apart = cpu_ns - (int64_t)true_ns;

	printf("CPU time of the tree: %.3f s, by wait4(2) %.3f s\n", (double)cpu_ns / 1e9,
	       (double)true_ns / 1e9);
	if (llabs(apart) > DRIFT_NS + (int64_t)true_ns * DRIFT_PER_MILLE / 1000)
		fail("the CPU time of the tree is %" PRId64 " ns off", apart);
}

static bool is_open(struct followed *f, int err)
{
	if (err < 0)
		fail("tracker of the %s: %s", f->name, rt_strerror(err));
	return err == 0;
}

/* The root is a zombie when the last sample is taken: its account is final, and still there. */
static void end_tree(struct churn *churn, struct followed *tree)
{
	if (churn_end(churn) < 0)
		fail("the tree cannot be ended");
	take(tree, -ESRCH); /* a zombie is left of it */
	check_drift(tree, churn_reap(churn));
}

static void soak_tree(struct churn *churn, int64_t seconds)
{
	struct followed tree = { .name = "tree" }, system = { .name = "machine" };
	struct holdings first, last;

	if (is_open(&tree, rt_pid_tracker_new(&tree.tracker, churn->pid, NULL)) &&
	    is_open(&system, rt_system_tracker_new(&system.tracker, NULL))) {
		take(&tree, 0);
		take(&system, 0);
		first = read_holdings();
		soak(&tree, &system, seconds);
		end_tree(churn, &tree);
		last = read_holdings();
		check_fds("when the tree has ended", &first, &last);
		check_sums(&tree);
		check_sums(&system);
	}
	rt_tracker_free(tree.tracker);
	rt_tracker_free(system.tracker);
}

int main(int argc, char **argv)
{
	const int64_t seconds = argc == 2 ? atoll(argv[1]) : 0;
	struct holdings before;
	struct churn churn;
	pthread_t thread;

	if (seconds <= 0) {
		fputs("usage: soak SECONDS\n", stderr);
		return 2;
	}
	if (churn_start(&churn) < 0 || pthread_create(&thread, NULL, run_commands, NULL) != 0) {
		fputs("soak: cannot start\n", stderr);
		return 1;
	}
	before = read_holdings();
	soak_tree(&churn, seconds);
	check_threads(&before);
	atomic_store(&must_end, true);
	pthread_join(thread, NULL);
	if (atomic_load(&commands) == 0)
		fail("no command was run");
	printf("%u failures\n", atomic_load(&failures));
	return atomic_load(&failures) ? 1 : 0;
}
