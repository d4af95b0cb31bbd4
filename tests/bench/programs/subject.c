/* SPDX-License-Identifier: MIT */
/* What is measured: processes that wait, and run a little when told to.
 *
 * subject tree COUNT     a tree of COUNT processes, this one included, with at most 16 children
 * each subject threads COUNT  one process of COUNT threads subject memory MIB     one process
 * with so much memory in small pages subject storm COUNT    starts as many times the smallest
 * program there is, one after another
 *
 * The first three say "ready" and then read lines from standard input: at "RUN" this process and
 * RUN others of the tree, others each time, run for a short while, and "ran" is the answer. At
 * the end of the input all is over. A storm prints how many ns it took, wall and CPU time; with
 * "stay" as last argument it then waits for the end of the input.
 *
 * Every process dies with its parent, this one included. They all hold standard output, so that
 * reading it to its end waits for all of them to be gone. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
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
#define MOST 20000
#define RUN_NS 20000
#define SETTLE_NS 1000000
#define THREAD_STACK 65536

/* Shared by the tree. */
struct board {
	atomic_uint born, done;
	atomic_uint turn[MOST]; /* of each member: grows when it is to run */
};

static struct board *board;

static _Noreturn void cannot(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now_ns(void)
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

static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

static void run_a_little(void)
{
	int64_t end = now_ns() + RUN_NS;

	while (now_ns() < end)
		;
}

static _Noreturn void wait_for_turns(int index)
{
	for (unsigned int turn = 0;; turn++) {
		wait_while(&board->turn[index], turn);
		run_a_little();
		add_one(&board->done);
	}
}

/* Members are numbered level by level, so that each knows which are its children. Does not
 * return in a child. */
static void grow(int index, int count)
{
	pid_t self = getpid();

	for (int i = 1; i <= FAN_OUT && FAN_OUT * index + i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			cannot("fork");
		if (pid > 0)
			continue;
		die_with(self);
		close(STDIN_FILENO);
		grow(FAN_OUT * index + i, count);
		add_one(&board->born);
		wait_for_turns(FAN_OUT * index + i);
	}
}

static void run_members(int run, int count, int *next)
{
	struct timespec settle = { 0, SETTLE_NS };

	run_a_little();
	if (run > count - 1)
		run = count - 1;
	if (run <= 0)
		return;
	atomic_store(&board->done, 0);
	for (int i = 0; i < run; i++) {
		add_one(&board->turn[1 + *next]);
		*next = (*next + 1) % (count - 1);
	}
	wait_until(&board->done, (unsigned int)run);
	/* The last of them still have to go back to sleep. */
	nanosleep(&settle, NULL);
}

static void say(const char *word)
{
	puts(word);
	if (fflush(stdout) != 0)
		exit(1);
}

static void serve(int count)
{
	char line[32];
	int next = 0;

	say("ready");
	while (fgets(line, sizeof(line), stdin)) {
		run_members(atoi(line), count, &next);
		say("ran");
	}
}

static void be_tree(int count)
{
	board =
	    mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		cannot("mmap");
	grow(0, count);
	wait_until(&board->born, (unsigned int)count - 1);
	serve(count);
}

static void *sleep_for_ever(void *nothing)
{
	while (pause())
		;
	return nothing;
}

static void be_threads(int count)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, THREAD_STACK);
	for (int i = 1; i < count; i++) {
		errno = pthread_create(&thread, &attributes, sleep_for_ever, NULL);
		if (errno)
			cannot("pthread_create");
	}
	serve(1);
}

static void be_memory(int mib)
{
	size_t size = (size_t)mib << 20;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		cannot("mmap");
	madvise(memory, size, MADV_NOHUGEPAGE);
	memset(memory, 1, size);
	serve(1);
}

/* Of this process and of those that it has waited for. */
static int64_t cpu_ns(void)
{
	int64_t sum_us = 0;

	for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; who++) {
		struct rusage used;

		getrusage(who, &used);
		sum_us += (int64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000;
		sum_us += used.ru_utime.tv_usec + used.ru_stime.tv_usec;
	}
	return sum_us * 1000;
}

static void be_storm(int count, int stays)
{
	char path[] = "/bin/true", *arguments[] = { path, NULL };
	int64_t start = now_ns(), used = cpu_ns();

	while (count-- > 0) {
		pid_t pid;

		errno = posix_spawn(&pid, path, NULL, NULL, arguments, environ);
		if (errno || waitpid(pid, NULL, 0) != pid)
			cannot("posix_spawn");
	}
	printf("%lld %lld\n", (long long)(now_ns() - start), (long long)(cpu_ns() - used));
	fflush(stdout);
	while (stays && getchar() != EOF)
		;
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 0;

	if (count < 1 || count > MOST)
		return 2;
	die_with(getppid());
	if (strcmp(argv[1], "tree") == 0)
		be_tree(count);
	else if (strcmp(argv[1], "threads") == 0)
		be_threads(count);
	else if (strcmp(argv[1], "memory") == 0)
		be_memory(count);
	else if (strcmp(argv[1], "storm") == 0)
		be_storm(count, argc > 3 && strcmp(argv[3], "stay") == 0);
	else
		return 2;
	return 0;
}
