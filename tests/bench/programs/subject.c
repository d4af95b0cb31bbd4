/* SPDX-License-Identifier: MIT */
/* What is measured: processes that wait, and run for a short while on request.
 *
 *   subject tree COUNT            a tree of COUNT processes, with this one; each has 16 children at
 *                                 most
 *   subject threads COUNT         one process with COUNT threads
 *   subject memory MIB            one process with so much memory, in small pages
 *   subject storm COUNT [stay]    starts the smallest program COUNT times, one after another
 *   subject forks COUNT           starts the smallest program COUNT times a second
 *   subject fork-storm COUNT      forks COUNT children a second for 3 s; they exit at once
 *
 * The first three print "ready" and then read lines from standard input. A line is a number RUN:
 * this process and RUN others of the tree, different ones each time, run for a short while. The
 * answer is "ran". At the end of the input all processes exit. A storm, of programs or forks,
 * prints its wall and CPU time in ns. With "stay" it then waits for the end of the input. Forks go
 * on until the end of the input.
 *
 * The kernel kills each process when its parent exits, this one too. All of them hold standard
 * output, so reading it to its end waits until all have exited. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FAN_OUT 16
#define COUNT_MAX 20000
#define RUN_NS 20000
#define SETTLE_NS 1000000
#define THREAD_STACK 65536
#define FORK_STORM_S 3

/* Memory that the tree shares. */
struct shared_page {
	atomic_uint started, done;
	atomic_uint turn[COUNT_MAX]; /* of each process: is incremented to make it run */
};

static struct shared_page *shared;

static _Noreturn void fail_with_errno(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t read_wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void wait_while(atomic_uint *word, unsigned int value)
{
	while (atomic_load(word) == value)
		syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void wake(atomic_uint *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void add_one(atomic_uint *word)
{
	atomic_fetch_add(word, 1);
	wake(word);
}

static void wait_until(atomic_uint *word, unsigned int value)
{
	for (unsigned int now = atomic_load(word); now < value; now = atomic_load(word))
		wait_while(word, now);
}

static void kill_with_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

static void run_a_little(void)
{
	int64_t end = read_wall_ns() + RUN_NS;

	while (read_wall_ns() < end)
		;
}

static _Noreturn void wait_for_turns(int index)
{
	for (unsigned int turn = 0;; turn++) {
		wait_while(&shared->turn[index], turn);
		run_a_little();
		add_one(&shared->done);
	}
}

/* Start the children of process number index, and they start theirs. The processes are numbered
 * level by level, so that each number gives the numbers of its children. Does not return in a
 * child. */
static void start_children(int index, int count)
{
	pid_t self = getpid();

	for (int i = 1; i <= FAN_OUT && FAN_OUT * index + i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			fail_with_errno("fork");
		if (pid > 0)
			continue;
		kill_with_parent(self);
		close(STDIN_FILENO);
		start_children(FAN_OUT * index + i, count);
		add_one(&shared->started);
		wait_for_turns(FAN_OUT * index + i);
	}
}

static void run_processes(int run, int count, int *next)
{
	struct timespec settle = { 0, SETTLE_NS };

	run_a_little();
	if (run > count - 1)
		run = count - 1;
	if (run <= 0)
		return;
	atomic_store(&shared->done, 0);
	for (int i = 0; i < run; i++) {
		add_one(&shared->turn[1 + *next]);
		*next = (*next + 1) % (count - 1);
	}
	wait_until(&shared->done, (unsigned int)run);
	/* The last ones need a moment to sleep again. */
	nanosleep(&settle, NULL);
}

static void print_line(const char *word)
{
	puts(word);
	if (fflush(stdout) != 0)
		exit(1);
}

static void serve(int count)
{
	char line[32];
	int next = 0;

	print_line("ready");
	while (fgets(line, sizeof(line), stdin)) {
		run_processes(atoi(line), count, &next);
		print_line("ran");
	}
}

static void run_tree(int count)
{
	shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		fail_with_errno("mmap");
	start_children(0, count);
	wait_until(&shared->started, (unsigned int)count - 1);
	serve(count);
}

static void *sleep_forever(void *nothing)
{
	while (pause())
		;
	return nothing;
}

static void run_threads(int count)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, THREAD_STACK);
	for (int i = 1; i < count; i++) {
		errno = pthread_create(&thread, &attributes, sleep_forever, NULL);
		if (errno)
			fail_with_errno("pthread_create");
	}
	serve(1);
}

static void run_memory(int mib)
{
	size_t size = (size_t)mib << 20;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		fail_with_errno("mmap");
	madvise(memory, size, MADV_NOHUGEPAGE);
	memset(memory, 1, size);
	serve(1);
}

/* CPU time of this process and of the children that it has waited for. */
static int64_t read_cpu_ns(void)
{
	int64_t sum_us = 0;

	for (int which = RUSAGE_CHILDREN; which <= RUSAGE_SELF; which++) {
		struct rusage used;

		getrusage(which, &used);
		sum_us += (int64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000;
		sum_us += used.ru_utime.tv_usec + used.ru_stime.tv_usec;
	}
	return sum_us * 1000;
}

static void start_and_reap(void)
{
	char path[] = "/bin/true", *arguments[] = { path, NULL };
	pid_t pid;

	errno = posix_spawn(&pid, path, NULL, NULL, arguments, environ);
	if (errno || waitpid(pid, NULL, 0) != pid)
		fail_with_errno("posix_spawn");
}

static void sleep_until(int64_t wall_ns)
{
	int64_t now = read_wall_ns();
	struct timespec pause = { 0, wall_ns > now ? wall_ns - now : 0 };

	nanosleep(&pause, NULL);
}

/* Evenly over the second, as far as the machine keeps up. */
static void run_forks(int count)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int64_t next = read_wall_ns();

	print_line("ready");
	while (poll(&input, 1, 0) == 0) {
		int64_t now = read_wall_ns();

		sleep_until(next);
		start_and_reap();
		next = (next > now ? next : now) + 1000000000 / count;
	}
}

static void print_since(int64_t start_ns, int64_t used_ns)
{
	printf("%lld %lld\n", (long long)(read_wall_ns() - start_ns),
	       (long long)(read_cpu_ns() - used_ns));
	fflush(stdout);
}

/* If the machine cannot keep up, it takes longer. */
static void run_fork_storm(int count)
{
	int64_t start = read_wall_ns(), used = read_cpu_ns();

	for (int i = 0; i < count * FORK_STORM_S; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			fail_with_errno("fork");
		sleep_until(start + (i + 1) * (INT64_C(1000000000) / count));
	}
	print_since(start, used);
}

static void run_storm(int count, bool stays)
{
	int64_t start = read_wall_ns(), used = read_cpu_ns();

	while (count-- > 0)
		start_and_reap();
	print_since(start, used);
	while (stays && getchar() != EOF)
		;
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 0;

	if (count < 1 || count > COUNT_MAX)
		return 2;
	kill_with_parent(getppid());
	if (strcmp(argv[1], "tree") == 0)
		run_tree(count);
	else if (strcmp(argv[1], "threads") == 0)
		run_threads(count);
	else if (strcmp(argv[1], "memory") == 0)
		run_memory(count);
	else if (strcmp(argv[1], "storm") == 0)
		run_storm(count, argc > 3 && strcmp(argv[3], "stay") == 0);
	else if (strcmp(argv[1], "forks") == 0)
		run_forks(count);
	else if (strcmp(argv[1], "fork-storm") == 0)
		run_fork_storm(count);
	else
		return 2;
	return 0;
}
