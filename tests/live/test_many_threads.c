/* SPDX-License-Identifier: MIT */
/* One host with many threads: each starts commands by one accounting method, another one signals or
 * kills each while it is waited for, some watch a large tree and the whole host, and the host forks
 * meanwhile. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "commands.h"
#include "descriptors.h"
#include "suite.h"
#include "threads.h"

#define ROUNDS 9
#define FORKS 6
#define TREE 100
#define PATIENCE_S 100 /* after which a forked child that hangs is ended */
#define EXIT_CODE 7

static const uint32_t methods[] = { RT_ACCOUNTING_POLL, RT_ACCOUNTING_WAIT, RT_ACCOUNTING_CGROUP,
	                            RT_ACCOUNTING_BPF, RT_ACCOUNTING_AUTO };
#define METHODS (sizeof(methods) / sizeof(methods[0]))

enum ending { BY_ITSELF, BY_SIGNAL, BY_KILL, ENDINGS };

/* What a thread that starts commands does. Only the main thread may use the assertions of libcheck:
 * so the others record what they find. `wrong` is the number of the step that went wrong. */
struct runner {
	pthread_t thread;
	uint32_t method;
	int err, wrong;
	unsigned rounds;
};

struct watcher {
	pthread_t thread;
	pid_t pid; /* 0: the system */
	uint64_t least;
	int err;
	unsigned samples;
	bool has_fallen, has_lost;
};

struct ender {
	struct rt_command *command;
	enum ending ending;
	int err;
};

static _Atomic bool is_over;

static void *end_command(void *arg)
{
	struct ender *ender = arg;

	if (ender->ending == BY_SIGNAL)
		ender->err = rt_command_signal(ender->command, SIGTERM);
	else if (ender->ending == BY_KILL)
		ender->err = rt_command_kill(ender->command);
	return NULL;
}

static bool is_as_ended(const struct rt_outcome *out, enum ending ending)
{
	if (ending == BY_ITSELF)
		return out->exit_code == EXIT_CODE && out->signal == 0;
	return out->signal == (ending == BY_SIGNAL ? SIGTERM : SIGKILL);
}

/* Returns 0, or the number of the step that went wrong. */
static int wait_while_it_is_ended(struct rt_command *command, enum ending ending)
{
	struct ender ender = { .command = command, .ending = ending };
	struct rt_outcome out;
	pthread_t thread;
	int err;

	if (pthread_create(&thread, NULL, end_command, &ender))
		return 1;
	err = rt_command_wait(command, WAIT_FOREVER, &out, sizeof(out));
	pthread_join(thread, NULL);
	if (err < 0)
		return 2;
	if (ender.err < 0)
		return 3;
	if (!is_as_ended(&out, ending))
		return 4;
	return out.valid & out.partial || out.valid & out.estimated ? 5 : 0;
}

static void *run_commands(void *arg)
{
	static const char *const lasting[] = { "sh", "-c", "sh -c : & exec sleep 1000", NULL };
	static const char *const brief[] = { "sh", "-c", "sh -c :; exit 7", NULL };
	const struct rt_command_opts opts = { .accounting = ((struct runner *)arg)->method };
	struct runner *runner = arg;

	for (; runner->rounds < ROUNDS && !runner->wrong; runner->rounds++) {
		enum ending ending = (enum ending)(runner->rounds % ENDINGS);
		struct rt_command *command;

		runner->err = start_command(&command, opts, ending == BY_ITSELF ? brief : lasting);
		if (runner->err < 0)
			break;
		runner->wrong = wait_while_it_is_ended(command, ending);
		rt_command_free(command);
	}
	return NULL;
}

static void *watch(void *arg)
{
	struct watcher *watcher = arg;
	struct rt_process rows[8];
	struct rt_tracker *tracker;
	struct rt_metrics now;
	uint64_t cpu_ns, before_ns = 0;

	watcher->err = watcher->pid ? rt_pid_tracker_new(&tracker, watcher->pid, NULL)
	                            : rt_system_tracker_new(&tracker, NULL);
	if (watcher->err < 0)
		return NULL;
	for (; watcher->err == 0 && !is_over; watcher->samples++) {
		size_t count = sizeof(rows) / sizeof(rows[0]);

		watcher->err = rt_sample(tracker, &now, sizeof(now));
		cpu_ns = now.cpu_user_ns + now.cpu_system_ns;
		watcher->has_fallen |= cpu_ns < before_ns;
		watcher->has_lost |= now.processes < watcher->least;
		before_ns = cpu_ns;
		if (watcher->pid && watcher->err == 0)
			watcher->err = rt_tracker_glance(tracker);
		if (watcher->pid && watcher->err == 0)
			watcher->err = rt_tracker_processes(tracker, rows, sizeof(rows[0]), &count);
	}
	rt_tracker_free(tracker);
	return NULL;
}

static void fork_many(void *unused)
{
	(void)unused;
	for (int i = 0; i < TREE; i++) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
}

/* In a process that was forked in the middle of all this. Returns its exit code. */
static int use_library(void)
{
	static const char *const argv[] = { "sh", "-c", "exit 7", NULL };
	struct rt_command *command;
	struct rt_tracker *tracker;
	struct rt_outcome out;
	struct rt_metrics now;

	end_self_after(PATIENCE_S);
	if (rt_pid_tracker_new(&tracker, getpid(), NULL) < 0)
		return 1;
	if (rt_sample(tracker, &now, sizeof(now)) < 0 || now.processes != 1)
		return 2;
	rt_tracker_free(tracker);
	if (start_command(&command, (struct rt_command_opts){ 0 }, argv) < 0)
		return 3;
	if (rt_command_wait(command, WAIT_FOREVER, &out, sizeof(out)) < 0 ||
	    out.exit_code != EXIT_CODE)
		return 4;
	rt_command_free(command);
	return 0;
}

static void fork_and_check(void)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(use_library());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(status == 0, "status %#x of a forked child", (unsigned)status);
}

/* The start of a command reaps what has ended late. This one is waited for and has no supervisor,
 * so it leaves no child itself. */
static int has_no_child(void *unused)
{
	siginfo_t info;

	(void)unused;
	run_shell_with((struct rt_command_opts){ .accounting = RT_ACCOUNTING_POLL }, "exit 0");
	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

static void check_runner(const struct runner *runner)
{
	bool is_refused;

	ck_assert_int_eq(pthread_join(runner->thread, NULL), 0);
	is_refused = runner->rounds == 0 && runner->err < 0;
	ck_assert_msg(runner->wrong == 0, "method %u: step %d is wrong in round %u", runner->method,
	              runner->wrong, runner->rounds);
	if (runner->method != RT_ACCOUNTING_CGROUP && runner->method != RT_ACCOUNTING_BPF)
		ck_assert_int_eq(runner->err, 0);
	ck_assert_msg(is_refused || runner->rounds == ROUNDS, "method %u: start %u returns %d",
	              runner->method, runner->rounds + 1, runner->err);
}

static void check_watcher(const struct watcher *watcher)
{
	ck_assert_int_eq(pthread_join(watcher->thread, NULL), 0);
	ck_assert_int_eq(watcher->err, 0);
	ck_assert_uint_gt(watcher->samples, 0);
	ck_assert(!watcher->has_fallen);
	ck_assert(!watcher->has_lost);
}

static void check_many_threads(int forks)
{
	struct runner runners[METHODS] = { 0 };
	struct watcher watchers[3] = { { .least = 1 }, { .least = 1 }, { .least = TREE + 1 } };
	const int watcher_count = sizeof(watchers) / sizeof(watchers[0]);
	int descriptors = count_descriptors();
	struct child tree;

	child_start(&tree, fork_many, NULL);
	watchers[1].pid = getpid();
	watchers[2].pid = tree.pid;
	for (int i = 0; i < watcher_count; i++)
		ck_assert_int_eq(pthread_create(&watchers[i].thread, NULL, watch, &watchers[i]), 0);
	for (size_t i = 0; i < METHODS; i++) {
		runners[i].method = methods[i];
		ck_assert_int_eq(
		    pthread_create(&runners[i].thread, NULL, run_commands, &runners[i]), 0);
	}
	for (int i = 0; i < forks; i++)
		fork_and_check();
	for (size_t i = 0; i < METHODS; i++)
		check_runner(&runners[i]);
	is_over = true;
	for (int i = 0; i < watcher_count; i++)
		check_watcher(&watchers[i]);
	child_end(&tree);
	wait_until(has_no_child, NULL);
	ck_assert_int_eq(count_descriptors(), descriptors);
}

START_TEST(many_threads_with_trackers_and_commands_are_independent)
{
	check_many_threads(0);
}
END_TEST

START_TEST(child_forked_beside_many_threads_can_use_the_library)
{
	if (IS_ADDRESS_SANITIZED || IS_THREAD_SANITIZED) {
		suite_skip_test("the allocator of a sanitizer may be locked after a fork");
		return;
	}
	check_many_threads(FORKS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("many_threads");
	TCase *threads = suite_case(suite, "threads");

	tcase_add_test(threads, many_threads_with_trackers_and_commands_are_independent);
	tcase_add_test(threads, child_forked_beside_many_threads_can_use_the_library);
	return suite_run(suite);
}
