/* SPDX-License-Identifier: MIT */
/* Peak polls between two samples: by rt_tracker_glance(), and by rt_command_wait(). */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"
#include "tracking.h"
#include "workload.h"

#define PEAK_BYTES (UINT64_C(100) << 20)
/* Each CPU keeps some pages to itself before it adds them to RSS (lib/percpu_counter.c). */
#define UNSEEN_BYTES (UINT64_C(4) << 20)
#define WORKER_CPU_NS 120000000u

enum { PHASE_WAIT, PHASE_FORK, PHASE_START, PHASE_PEAK, PHASE_END };

static void wait_for_phase(atomic_int *phase, int value)
{
	while (atomic_load(phase) < value)
		usleep(500);
}

/* Hold the memory until the test says that it has polled. */
static void hold_memory(void *arg)
{
	atomic_int *phase = arg;
	char *memory;

	wait_for_phase(phase, PHASE_START);
	memory = mmap(NULL, PEAK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		_exit(90);
	memset(memory, 1, PEAK_BYTES);
	atomic_store(phase, PHASE_PEAK);
	wait_for_phase(phase, PHASE_END);
	munmap(memory, PEAK_BYTES);
}

static int is_at_peak(void *phase)
{
	return atomic_load((atomic_int *)phase) == PHASE_PEAK;
}

static struct rt_tracker *new_tracker(pid_t pid, uint32_t flags)
{
	const struct rt_opts opts = { .size = sizeof(opts), .flags = flags };
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, pid, &opts), 0);
	return tracker;
}

START_TEST(peak_poll_with_short_peak_between_samples_reports_peak)
{
	uint32_t flags = _i ? RT_OPT_PROCESS_EVENTS : 0;
	struct rt_tracker *polled, *unpolled;
	atomic_int *phase = map_shared(sizeof(*phase));
	struct child child;
	struct rt_metrics m;

	child_start_async(&child, hold_memory, phase);
	polled = new_tracker(child.pid, flags);
	unpolled = new_tracker(child.pid, flags);
	ck_assert_int_eq(rt_tracker_glance(polled), -ENODATA); /* no sample yet */
	ck_assert_uint_lt(sample(polled).peak_tree_rss_bytes, PEAK_BYTES);
	ck_assert_uint_lt(sample(unpolled).peak_tree_rss_bytes, PEAK_BYTES);
	atomic_store(phase, PHASE_START);
	wait_until(is_at_peak, phase);

	ck_assert_int_eq(rt_tracker_glance(polled), 0);

	atomic_store(phase, PHASE_END);
	child_await(&child);
	m = sample(polled);
	ck_assert_uint_ge(m.peak_tree_rss_bytes, PEAK_BYTES - UNSEEN_BYTES);
	ck_assert_uint_lt(m.peak_tree_rss_bytes, 2 * PEAK_BYTES);
	ck_assert_uint_ge(m.peak_tree_bytes, PEAK_BYTES - UNSEEN_BYTES);
	ck_assert_uint_le(m.peak_tree_bytes, m.peak_tree_rss_bytes);
	ck_assert_uint_ne((m.partial | m.estimated) & RT_HAS_PEAK_FOOTPRINT, 0);
	ck_assert_uint_lt(m.rss_bytes, PEAK_BYTES);
	m = sample(unpolled);
	ck_assert_uint_lt(m.peak_tree_rss_bytes, PEAK_BYTES);
	/* It is at least what `status` says of the only member. */
	ck_assert_uint_ge(m.peak_tree_bytes, PEAK_BYTES - UNSEEN_BYTES);
	ck_assert_uint_ne((m.partial | m.estimated) & RT_HAS_PEAK_FOOTPRINT, 0);
	child_end(&child);
	rt_tracker_free(polled);
	rt_tracker_free(unpolled);
	munmap(phase, sizeof(*phase));
}
END_TEST

struct worker {
	atomic_int phase, has_forked;
	atomic_uint_fast64_t cpu_ns; /* of the worker, by its own clock, before the poll */
};

static int has_forked(void *arg)
{
	return atomic_load(&((struct worker *)arg)->has_forked);
}

/* Some thousand page faults. */
static void touch_memory(void)
{
	char *memory =
	    mmap(NULL, PEAK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		_exit(90);
	for (size_t at = 0; at < PEAK_BYTES / 4; at += 4096)
		memory[at] = 1;
}

static void burn_in_worker(struct worker *worker)
{
	struct timespec used;

	atomic_store(&worker->has_forked, 1);
	wait_for_phase(&worker->phase, PHASE_START);
	burn_cpu_ns(WORKER_CPU_NS);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	atomic_store(&worker->cpu_ns, (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec);
	atomic_store(&worker->phase, PHASE_PEAK);
	wait_for_phase(&worker->phase, PHASE_END);
	_exit(0);
}

/* The kernel reaps the worker by itself, and then the parent waits for another child, which has
 * more page faults than the worker. */
static void wait_and_lose_worker(void *arg)
{
	struct worker *worker = arg;

	wait_for_phase(&worker->phase, PHASE_FORK);
	signal(SIGCHLD, SIG_IGN);
	if (fork() == 0)
		burn_in_worker(worker);
	while (waitpid(-1, NULL, 0) >= 0)
		;
	signal(SIGCHLD, SIG_DFL);
	if (fork() == 0) {
		touch_memory();
		_exit(0);
	}
	waitpid(-1, NULL, 0);
}

/* The worker starts after the first sample and is gone by the second. */
START_TEST(worker_that_only_polls_saw_and_no_process_waited_for_is_in_the_total)
{
	struct worker *worker = map_shared(sizeof(*worker));
	struct rt_tracker *tracker;
	struct rt_metrics first, last;
	struct child child;

	child_start_async(&child, wait_and_lose_worker, worker);
	tracker = new_tracker(child.pid, _i ? RT_OPT_PROCESS_EVENTS : 0);
	first = sample(tracker);
	atomic_store(&worker->phase, PHASE_FORK);
	wait_until(has_forked, worker);
	ck_assert_int_eq(rt_tracker_glance(tracker), 0);
	atomic_store(&worker->phase, PHASE_START);
	wait_until(is_at_peak, &worker->phase);

	ck_assert_int_eq(rt_tracker_glance(tracker), 0);

	atomic_store(&worker->phase, PHASE_END);
	child_await(&child);
	last = sample(tracker);
	ck_assert_uint_ge(worker->cpu_ns, WORKER_CPU_NS);
	ck_assert_uint_ge(get_sampled_ns(&last), get_sampled_ns(&first) + worker->cpu_ns);
	if (last.source == RT_SOURCE_BPF_ACCOUNT) {
		ck_assert_uint_ne(last.valid & RT_HAS_CPU, 0);
	} else {
		ck_assert_uint_eq(last.valid & RT_HAS_CPU, 0);
		ck_assert(last.reasons & RT_REASON_UNWAITED);
	}
	child_end(&child);
	rt_tracker_free(tracker);
	munmap(worker, sizeof(*worker));
}
END_TEST

enum { OLD = 10, NEW = 20, ROWS_MAX = 100 };

static pid_t fork_sleeper(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		for (;;)
			pause();
	}
	return pid;
}

/* Between the sample and the poll, the processes of the first round exit, and others start. Every
 * second one of them exits, too. The rest are killed when the poll is over. */
static void turn_over(void *arg)
{
	atomic_int *phase = arg;
	pid_t old[OLD], new[NEW];

	for (int i = 0; i < OLD; i++)
		old[i] = fork_sleeper();
	atomic_store(phase, PHASE_FORK);
	wait_for_phase(phase, PHASE_START);
	for (int i = 0; i < OLD; i++)
		kill_process(old[i], SIGKILL);
	for (int i = 0; i < NEW; i++)
		new[i] = fork_sleeper();
	for (int i = 0; i < NEW; i += 2)
		kill_process(new[i], SIGKILL);
	for (int i = 0; i < OLD + NEW / 2; i++)
		wait(NULL);
	touch_memory();
	atomic_store(phase, PHASE_PEAK);
	wait_for_phase(phase, PHASE_END);
	for (int i = 1; i < NEW; i += 2)
		kill_process(new[i], SIGKILL);
	for (int i = 0; i < NEW / 2; i++)
		wait(NULL);
}

static int has_started(void *phase)
{
	return atomic_load((atomic_int *)phase) == PHASE_FORK;
}

static size_t list(const struct rt_tracker *tracker, struct rt_process rows[ROWS_MAX])
{
	size_t count = ROWS_MAX;

	memset(rows, 0, ROWS_MAX * sizeof(*rows));
	ck_assert_int_eq(rt_tracker_processes(tracker, rows, sizeof(*rows), &count), 0);
	ck_assert_uint_le(count, ROWS_MAX);
	return count;
}

START_TEST(list_after_peak_polls_is_that_of_the_last_sample)
{
	struct rt_process before[ROWS_MAX], after[ROWS_MAX];
	atomic_int *phase = map_shared(sizeof(*phase));
	struct rt_tracker *tracker;
	struct child child;

	child_start_async(&child, turn_over, phase);
	wait_until(has_started, phase);
	tracker = new_tracker(child.pid, _i ? RT_OPT_PROCESS_EVENTS : 0);
	ck_assert_uint_eq(sample(tracker).processes, 1 + OLD);
	ck_assert_uint_eq(list(tracker, before), 1 + OLD);
	atomic_store(phase, PHASE_START);
	wait_until(is_at_peak, phase);

	for (int polls = 0; polls < 3; polls++) {
		ck_assert_int_eq(rt_tracker_glance(tracker), 0);
		ck_assert_uint_eq(list(tracker, after), 1 + OLD);
		ck_assert_mem_eq(before, after, sizeof(before));
	}

	ck_assert_uint_eq(sample(tracker).processes, 1 + NEW / 2);
	ck_assert_uint_eq(list(tracker, after), 1 + NEW / 2);
	for (int i = 0; i < 1 + NEW / 2; i++)
		ck_assert_uint_ne(after[i].valid & RT_HAS_CPU, 0);
	atomic_store(phase, PHASE_END);
	child_await(&child);
	child_end(&child);
	rt_tracker_free(tracker);
	munmap(phase, sizeof(*phase));
}
END_TEST

START_TEST(wait_with_short_peak_between_samples_reports_peak)
{
	struct workload_opts opts = { .accounting = RT_ACCOUNTING_WAIT };
	struct rt_metrics m;
	struct workload w;

	ck_assert(start_workload(&w, "hold", opts));
	finish_workload(&w);

	ck_assert_int_eq(rt_sample(rt_command_tracker(w.command), &m, sizeof(m)), -ESRCH);
	ck_assert_uint_ge(m.peak_tree_rss_bytes, WORKLOAD_HELD_BYTES - UNSEEN_BYTES);
	ck_assert_uint_ge(w.outcome.peak_tree_bytes, WORKLOAD_HELD_BYTES - UNSEEN_BYTES);
	ck_assert_uint_le(w.outcome.peak_tree_bytes, w.outcome.peak_tree_high_bytes);
	ck_assert_uint_ge(w.outcome.peak_tree_bytes, w.outcome.peak_tree_low_bytes);
	ck_assert_uint_eq(w.outcome.peak_tree_kind, RT_PEAK_FOOTPRINT);
	ck_assert_uint_ne((w.outcome.partial | w.outcome.estimated) & RT_HAS_PEAK_FOOTPRINT, 0);
	ck_assert_uint_eq(w.outcome.valid & RT_HAS_PEAK_FOOTPRINT, 0);
	free_workload(&w);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("peak_poll");
	TCase *trackers = suite_case(suite, "trackers"), *commands = suite_case(suite, "commands");

	if (is_workload(argc))
		return run_as_workload(argv);
	tcase_add_loop_test(trackers, peak_poll_with_short_peak_between_samples_reports_peak, 0, 2);
	tcase_add_loop_test(
	    trackers, worker_that_only_polls_saw_and_no_process_waited_for_is_in_the_total, 0, 2);
	tcase_add_loop_test(trackers, list_after_peak_polls_is_that_of_the_last_sample, 0, 2);
	tcase_add_test(commands, wait_with_short_peak_between_samples_reports_peak);
	return suite_run(suite);
}
