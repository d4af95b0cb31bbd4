/* SPDX-License-Identifier: MIT */
/* Trackers of running trees that the kernel accounts for, against the kernel's account of a cgroup
 * that only the tree is in. */
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "group_truth.h"
#include "record.h"
#include "refusals.h"
#include "suite.h"
#include "tracking.h"

#define MS UINT64_C(1000000)
#define ROUNDS_BEFORE 20
#define ROUNDS 60
#define START_TRIES 100
#define STORMS 3
#define FORKERS 3
#define STORM_MS 2500
#define EXECUTORS 8
#define CROWD 4000
#define MANY 3000 /* more than the ring has room for */
/* By which the accounts of running threads may lag, of all that run at a time. */
#define TICKS_NS (10 * MS * (uint64_t)(FORKERS + 1))
#define COUNTERS (RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_CTXSW | RT_HAS_IO)

/* What the tree does. Memory that it shares with the test. */
struct stage {
	void (*round)(struct stage *stage);
	struct group_truth group;
	atomic_uint forks;
	atomic_bool is_under_way; /* ROUNDS_BEFORE have been made */
	atomic_bool may_go_on;
	atomic_bool may_end;
	atomic_int daemon;  /* pid of one that runs on */
	uint64_t before_ns; /* of the root, before it joined the group */
};

static uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

static pid_t fork_counted(struct stage *stage)
{
	pid_t pid = fork();

	if (pid < 0)
		_exit(96);
	if (pid > 0)
		atomic_fetch_add(&stage->forks, 1);
	return pid;
}

/* --- Rounds. All that they start has begun to exit when they return. --- */

static void wait_for_child(struct stage *stage)
{
	pid_t pid = fork_counted(stage);

	if (pid == 0) {
		burn_cpu_ns(MS / 2);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* No process waits for the child. The read ends when the last writer has ended. */
static void wait_for_end(int pipe[2])
{
	char byte;

	close(pipe[1]);
	if (read(pipe[0], &byte, 1) != 0)
		_exit(91);
	close(pipe[0]);
}

static void leave_child_to_kernel(struct stage *stage)
{
	int ends[2];

	signal(SIGCHLD, SIG_IGN);
	if (pipe(ends) < 0)
		_exit(92);
	if (fork_counted(stage) == 0) {
		burn_cpu_ns(MS / 2);
		_exit(0);
	}
	wait_for_end(ends);
	signal(SIGCHLD, SIG_DFL);
}

static void start_daemon(struct stage *stage)
{
	int ends[2];
	pid_t middle;

	if (pipe(ends) < 0)
		_exit(92);
	middle = fork_counted(stage);
	if (middle == 0) {
		if (fork_counted(stage) == 0)
			burn_cpu_ns(MS / 2);
		_exit(0);
	}
	waitpid(middle, NULL, 0);
	wait_for_end(ends);
}

static void *execute(void *unused)
{
	(void)unused;
	execl("/bin/true", "true", (char *)NULL);
	_exit(93);
}

static void execute_by_thread(struct stage *stage)
{
	pid_t pid = fork_counted(stage);
	pthread_t thread;

	if (pid == 0) {
		burn_cpu_ns(MS / 4);
		if (pthread_create(&thread, NULL, execute, NULL) != 0)
			_exit(94);
		for (;;)
			pause();
	}
	waitpid(pid, NULL, 0);
}

static void *burn(void *unused)
{
	(void)unused;
	burn_cpu_ns(MS / 4);
	return NULL;
}

static void run_thread(struct stage *stage)
{
	pthread_t thread;

	(void)stage;
	if (pthread_create(&thread, NULL, burn, NULL) != 0)
		_exit(94);
	pthread_join(thread, NULL);
}

static void run_all(struct stage *stage)
{
	wait_for_child(stage);
	leave_child_to_kernel(stage);
	start_daemon(stage);
	execute_by_thread(stage);
	run_thread(stage);
}

static void (*const rounds[])(struct stage *stage) = {
	wait_for_child, leave_child_to_kernel, start_daemon, execute_by_thread, run_thread, run_all,
};

#define ROUND_KINDS (sizeof(rounds) / sizeof(rounds[0]))

/* --- The tree. --- */

/* The move itself takes CPU time, some of it before and some in the group. */
static void join_group(struct stage *stage)
{
	uint64_t used_ns;

	group_truth_join(&stage->group);
	used_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	stage->before_ns = used_ns - group_truth_cpu_ns(&stage->group);
}

static void wait_for(const atomic_bool *flag)
{
	while (!atomic_load(flag))
		usleep(5000);
}

static void run_rounds(void *arg)
{
	struct stage *stage = arg;

	join_group(stage);
	for (int i = 0; i < ROUNDS_BEFORE; i++)
		stage->round(stage);
	atomic_store(&stage->is_under_way, true);
	wait_for(&stage->may_go_on);
	for (int i = 0; i < ROUNDS; i++)
		stage->round(stage);
}

/* Some processes run rounds all the time, so that each moment of attaching is amid them. */
static void run_storm(void *arg)
{
	struct stage *stage = arg;
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + STORM_MS * MS;
	pid_t forkers[FORKERS];

	join_group(stage);
	for (int i = 0; i < FORKERS; i++) {
		forkers[i] = fork_counted(stage);
		if (forkers[i] > 0)
			continue;
		while (clock_ns(CLOCK_MONOTONIC) < end_ns)
			run_all(stage);
		_exit(0);
	}
	atomic_store(&stage->is_under_way, true);
	for (int i = 0; i < FORKERS; i++)
		waitpid(forkers[i], NULL, 0);
}

static void run_executors(void *arg)
{
	struct stage *stage = arg;
	pid_t executors[EXECUTORS];

	join_group(stage);
	for (int i = 0; i < EXECUTORS; i++) {
		executors[i] = fork_counted(stage);
		if (executors[i] > 0)
			continue;
		wait_for(&stage->may_go_on);
		while (!atomic_load(&stage->may_end))
			execute_by_thread(stage);
		_exit(0);
	}
	atomic_store(&stage->is_under_way, true);
	for (int i = 0; i < EXECUTORS; i++)
		waitpid(executors[i], NULL, 0);
}

static void *wait_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* As many as may be had here. */
static void start_crowd(void *unused)
{
	pthread_attr_t attr;
	pthread_t thread;

	(void)unused;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	for (int i = 0; i < CROWD; i++)
		if (pthread_create(&thread, &attr, wait_for_ever, NULL) != 0)
			break;
	pthread_attr_destroy(&attr);
}

static void start_many(void *arg)
{
	struct stage *stage = arg;
	pid_t pid;

	atomic_store(&stage->is_under_way, true);
	wait_for(&stage->may_go_on);
	for (int i = 0; i < MANY; i++) {
		pid = fork_counted(stage);
		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
		if (i != MANY / 2 || fork_counted(stage) > 0)
			continue;
		atomic_store(&stage->daemon, getpid());
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		wait_for(&stage->may_end);
		_exit(0);
	}
}

static struct stage *new_stage(void (*round)(struct stage *stage))
{
	struct stage *stage = map_shared(sizeof(*stage));

	stage->round = round;
	group_truth_make(&stage->group);
	return stage;
}

static void free_stage(struct stage *stage)
{
	group_truth_remove(&stage->group);
	munmap(stage, sizeof(*stage));
}

/* --- Trackers. --- */

/* Ask the kernel to send process events: the library is not asked. The message is a struct cn_msg,
 * which ends in a flexible array, with its data. */
static bool is_connector_open(void)
{
	struct {
		struct nlmsghdr header;
		struct cb_id id;
		uint32_t sequence, acknowledged;
		uint16_t length, flags;
		uint32_t operation;
	} request = {
		.header = { .nlmsg_len = sizeof(request), .nlmsg_type = NLMSG_DONE },
		.id = { CN_IDX_PROC, CN_VAL_PROC },
		.length = sizeof(request.operation),
		.operation = PROC_CN_MCAST_LISTEN,
	};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);
	bool is_open = fd >= 0 && send(fd, &request, sizeof(request), 0) == sizeof(request);

	if (fd >= 0)
		close(fd);
	return is_open;
}

/* A network namespace of its own has no proc connector. */
static void close_connector(void)
{
	ck_assert(is_connector_open());
	ck_assert_int_eq(unshare(CLONE_NEWNET), 0);
	ck_assert(!is_connector_open());
}

static struct rt_tracker *attach(pid_t pid)
{
	const struct rt_opts opts = { .size = sizeof(opts), .flags = RT_OPT_PROCESS_EVENTS };
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, pid, &opts), 0);
	return tracker;
}

static void check_marks(const struct rt_metrics *m)
{
	ck_assert_uint_eq(m->source, RT_SOURCE_BPF_ACCOUNT);
	/* The tree has reaped children before. */
	ck_assert_uint_eq(m->reasons & ~(uint32_t)RT_REASON_PAST_UNKNOWN, 0);
	ck_assert_uint_eq((m->valid | m->since_valid) & (COUNTERS | RT_HAS_PROCESSES_SEEN),
	                  COUNTERS | RT_HAS_PROCESSES_SEEN);
}

/* What runs may use more between the sample and the look at the group, and the account of a running
 * thread may lag by a tick. */
static void check_is_not_above(const struct rt_metrics *m, const struct stage *stage)
{
	uint64_t most_ns = group_truth_cpu_ns(&stage->group) + stage->before_ns;

	ck_assert_uint_le(get_sampled_ns(m), most_ns + MS);
}

static void check_near(uint64_t got_ns, uint64_t truth_ns, uint64_t slack_ns)
{
	ck_assert_msg(got_ns + slack_ns >= truth_ns && got_ns <= truth_ns + slack_ns,
	              "%llu instead of %llu", (unsigned long long)got_ns,
	              (unsigned long long)truth_ns);
}

/* What a test has seen when it attached, while the tree was at rest. */
struct start {
	struct rt_metrics m;
	uint64_t group_ns;
	uint32_t forks;
};

/* The root looks at a flag now and then. If this process lacks a CPU meanwhile, the root has used
 * too much between the sample and the look at the group: both are taken again. */
static struct start note_start(struct rt_tracker *tracker, const struct stage *stage)
{
	struct start start = { .forks = atomic_load(&stage->forks) };
	uint64_t before_ns;
	int tries = 0;

	do {
		ck_assert_int_lt(tries++, START_TRIES);
		before_ns = group_truth_cpu_ns(&stage->group);
		start.m = sample(tracker);
		start.group_ns = group_truth_cpu_ns(&stage->group);
	} while (start.group_ns - before_ns > MS / 5);
	check_marks(&start.m);
	return start;
}

/* The root looks at a flag now and then between the sample and the look at the group. */
static void check_growth(const struct rt_metrics *m, const struct start *start,
                         const struct stage *stage)
{
	uint64_t truth_ns = group_truth_cpu_ns(&stage->group) - start->group_ns;

	check_marks(m);
	check_near(get_sampled_ns(m) - get_sampled_ns(&start->m), truth_ns,
	           truth_ns / 1000 + MS / 2);
	ck_assert_uint_eq(m->processes_seen - start->m.processes_seen,
	                  atomic_load(&stage->forks) - start->forks);
}

static void sample_until_done(struct rt_tracker *tracker, struct child *child,
                              const struct stage *stage, uint64_t interval_ms)
{
	struct pollfd done = { .fd = child->ready_fd, .events = POLLIN };
	uint64_t last_ns = 0;

	do {
		struct rt_metrics m = sample(tracker);

		ck_assert_uint_ge(get_sampled_ns(&m), last_ns);
		last_ns = get_sampled_ns(&m);
		check_is_not_above(&m, stage);
	} while (poll(&done, 1, (int)interval_ms) == 0);
	child_await(child);
}

/* Of the root and all that it has waited for, by wait4(2). */
static struct rusage end_with_rusage(struct child *child)
{
	struct rusage usage;

	child_end(child);
	getrusage(RUSAGE_CHILDREN, &usage); /* the test has no other */
	return usage;
}

/* The past has what was waited for, and threads as the kernel's own clock of the process has them:
 * without their last moments. The kernel does not count the last switch of each thread. */
static void check_past(const struct rt_metrics *m, const struct stage *stage,
                       const struct rusage *usage)
{
	uint64_t truth_ns = group_truth_cpu_ns(&stage->group) + stage->before_ns;

	if (stage->round == leave_child_to_kernel || stage->round == start_daemon ||
	    stage->round == run_all)
		return;
	check_near(get_sampled_ns(m), truth_ns, truth_ns / 50 + MS / 5);
	ck_assert_uint_eq(m->minor_faults, (uint64_t)usage->ru_minflt);
	check_near(m->voluntary_switches + m->involuntary_switches,
	           (uint64_t)(usage->ru_nvcsw + usage->ru_nivcsw), 2 * (ROUNDS + ROUNDS_BEFORE));
}

static void check_rounds(uint32_t kind, uint64_t interval_ms)
{
	struct stage *stage = new_stage(rounds[kind]);
	struct rt_tracker *tracker;
	struct rusage usage;
	struct start start;
	struct rt_metrics m;
	struct child child;

	child_start_async(&child, run_rounds, stage);
	wait_for(&stage->is_under_way);
	tracker = attach(child.pid);
	start = note_start(tracker, stage);
	atomic_store(&stage->may_go_on, true);
	sample_until_done(tracker, &child, stage, interval_ms);
	child_let_die(&child);

	m = sample_ended(tracker);

	check_growth(&m, &start, stage);
	usage = end_with_rusage(&child);
	check_past(&m, stage, &usage);
	rt_tracker_free(tracker);
	free_stage(stage);
}

START_TEST(short_processes_between_samples_are_in_the_totals)
{
	check_rounds((uint32_t)_i % ROUND_KINDS, _i < (int)ROUND_KINDS ? 100 : 1000);
}
END_TEST

START_TEST(short_processes_without_connector_are_in_the_totals)
{
	close_connector();
	check_rounds((uint32_t)_i, 100);
}
END_TEST

/* Each attempt hits another moment. What the tree had used by the first sample is known by the
 * group's account before and after it. */
START_TEST(tree_that_forks_while_it_is_attached_to_is_counted_once)
{
	struct stage *stage = new_stage(wait_for_child);
	uint64_t before_ns, after_ns, end_ns, growth_ns;
	struct rt_tracker *tracker;
	struct rt_metrics first, m;
	struct child child;

	child_start_async(&child, run_storm, stage);
	wait_for(&stage->is_under_way);
	tracker = attach(child.pid);
	before_ns = group_truth_cpu_ns(&stage->group);
	first = sample(tracker);
	after_ns = group_truth_cpu_ns(&stage->group);
	sample_until_done(tracker, &child, stage, 50);
	child_let_die(&child);

	m = sample_ended(tracker);

	check_marks(&m);
	end_ns = group_truth_cpu_ns(&stage->group);
	growth_ns = get_sampled_ns(&m) - get_sampled_ns(&first);
	ck_assert_uint_gt(end_ns, after_ns);
	ck_assert_uint_ge(growth_ns + TICKS_NS, end_ns - after_ns);
	ck_assert_uint_le(growth_ns, end_ns - before_ns + TICKS_NS);
	child_end(&child);
	rt_tracker_free(tracker);
	free_stage(stage);
}
END_TEST

/* A thread that executes a program ends the leader of its process and takes its place. The walk
 * that adopts the tree comes to the executors, to a crowd, and only then to what they have forked:
 * so some leaders end meanwhile. */
START_TEST(process_that_executes_while_it_is_attached_to_is_counted_once)
{
	struct stage *stage = new_stage(execute_by_thread);
	struct child child, crowd;
	struct rt_tracker *tracker;
	struct rt_metrics m;

	child_start_async(&child, run_executors, stage);
	wait_for(&stage->is_under_way);
	child_start(&crowd, start_crowd, NULL);
	atomic_store(&stage->may_go_on, true);
	tracker = attach(child.pid);
	atomic_store(&stage->may_end, true);
	child_end(&crowd);
	sample_until_done(tracker, &child, stage, 50);
	child_let_die(&child);

	m = sample_ended(tracker);

	check_marks(&m);
	check_is_not_above(&m, stage);
	child_end(&child);
	rt_tracker_free(tracker);
	free_stage(stage);
}
END_TEST

/* One of them ends in the midst of it. A copy of the caller is no owner, and ends none. */
START_TEST(trackers_of_one_tree_do_not_disturb_each_other)
{
	struct stage *stage = new_stage(run_all);
	struct rt_tracker *trackers[3], *text;
	struct start starts[3];
	struct rt_metrics m, of_text;
	struct child child;
	pid_t copy;
	int status;

	child_start_async(&child, run_rounds, stage);
	wait_for(&stage->is_under_way);
	for (int i = 0; i < 3; i++) {
		trackers[i] = attach(child.pid);
		starts[i] = note_start(trackers[i], stage);
	}
	text = track(child.pid);
	atomic_store(&stage->may_go_on, true);
	copy = fork();
	if (copy == 0) {
		m = sample(trackers[0]);
		rt_tracker_free(trackers[0]);
		_exit(m.source == RT_SOURCE_BPF_ACCOUNT || !(m.reasons & RT_REASON_EVENTS_LOST));
	}
	ck_assert_int_eq(waitpid(copy, &status, 0), copy);
	ck_assert_int_eq(status, 0);
	rt_tracker_free(trackers[1]);
	sample_until_done(trackers[0], &child, stage, 100);
	child_let_die(&child);

	m = sample_ended(trackers[0]);
	of_text = sample_ended(text);

	check_growth(&m, &starts[0], stage);
	ck_assert_uint_le(get_sampled_ns(&of_text), get_sampled_ns(&m));
	ck_assert_uint_le(of_text.minor_faults, m.minor_faults);
	m = sample_ended(trackers[2]);
	check_growth(&m, &starts[2], stage);
	child_end(&child);
	rt_tracker_free(trackers[0]);
	rt_tracker_free(trackers[2]);
	rt_tracker_free(text);
	free_stage(stage);
}
END_TEST

static bool is_member(struct rt_tracker *tracker, int32_t pid)
{
	struct rt_process rows[8];
	size_t count = 8;
	bool is_listed = false;

	ck_assert_int_eq(rt_tracker_processes(tracker, rows, sizeof(rows[0]), &count), 0);
	for (size_t i = 0; i < count && i < 8; i++)
		is_listed |= rows[i].pid == pid;
	return is_listed;
}

START_TEST(more_events_than_the_ring_holds_lose_no_process)
{
	struct stage *stage = new_stage(wait_for_child);
	struct rt_tracker *tracker;
	struct rt_metrics m;
	struct child child;

	child_start_async(&child, start_many, stage);
	wait_for(&stage->is_under_way);
	tracker = attach(child.pid);
	ck_assert_uint_eq(sample(tracker).processes_seen, 1);
	atomic_store(&stage->may_go_on, true);
	child_await(&child);

	m = sample(tracker);

	check_marks(&m);
	ck_assert_uint_eq(atomic_load(&stage->forks), MANY + 1);
	ck_assert_uint_eq(m.processes_seen, MANY + 2);
	ck_assert_uint_eq(m.processes, 2);
	ck_assert(is_member(tracker, atomic_load(&stage->daemon)));
	atomic_store(&stage->may_end, true);
	child_end(&child);
	rt_tracker_free(tracker);
	free_stage(stage);
}
END_TEST

/* The tracker reads a process that it may: its own child. */
START_TEST(tracker_without_capabilities_says_why_it_has_no_account)
{
	struct rt_obstacle why;
	struct rt_tracker *tracker;
	struct rt_metrics m;

	close_connector();
	ck_assert_int_eq(setuid(65534), 0);
	tracker = attach(getpid());
	m = sample(tracker);

	ck_assert_uint_ne(m.source, RT_SOURCE_BPF_ACCOUNT);
	ck_assert(m.reasons & RT_REASON_EVENTS_UNHEARD);
	ck_assert_int_eq(rt_tracker_obstacle(tracker, RT_HAS_PROCESSES_SEEN, &why, sizeof(why)), 0);
	ck_assert_msg(strstr(why.text, "CAP_BPF and CAP_PERFMON."), "%s", why.text);
	rt_tracker_free(tracker);
}
END_TEST

int main(void)
{
	TCase *trackers;
	Suite *suite;

	if (!IS_BUILT)
		return suite_skip("the BPF plug-in is not built");
	if (!has_bpf_accounting())
		return suite_skip("no BPF programs that account for a tree may be loaded here");
	suite = suite_create("attach_account");
	trackers = suite_case(suite, "trackers");
	tcase_add_loop_test(trackers, short_processes_between_samples_are_in_the_totals, 0,
	                    2 * ROUND_KINDS);
	tcase_add_loop_test(trackers, tree_that_forks_while_it_is_attached_to_is_counted_once, 0,
	                    STORMS);
	tcase_add_loop_test(trackers, process_that_executes_while_it_is_attached_to_is_counted_once,
	                    0, STORMS);
	tcase_add_test(trackers, trackers_of_one_tree_do_not_disturb_each_other);
	tcase_add_test(trackers, more_events_than_the_ring_holds_lose_no_process);
	tcase_add_loop_test(trackers, short_processes_without_connector_are_in_the_totals, 0,
	                    ROUND_KINDS);
	tcase_add_test(trackers, tracker_without_capabilities_says_why_it_has_no_account);
	return suite_run(suite);
}
