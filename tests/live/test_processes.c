/* SPDX-License-Identifier: MIT */
/* Every process of a tree: counted and listed, however short its life; what the supervisor
 * itself takes; and trackers that hear of forks.
 *
 * The commands are this program again. What they start they write down themselves, in memory
 * that they share with the test: that is the truth which the library's account is held against. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"

#define MS UINT64_C(1000000)
#define MIB (UINT64_C(1) << 20)
#define FOR_EVER (-1)
#define MOST 1024
#define SHORT_LIVED 20
#define ORPHANS 10
#define THREADED 20
#define AT_MOST 50 /* of all these: 21, and some whose end is told late */
#define AT_ONCE 300
/* where a busy machine overflows the buffer for events, which is small but for root */
#define TRIES 10
#define KNOWN_BYTES 1000003

struct life {
	int32_t pid, ppid, exit_code, signal;
	int is_orphan;    /* the supervisor reaps it */
	int is_executing; /* another program */
	uint64_t cpu_ns;  /* just before its end */
	char comm[16];
};

struct truth {
	atomic_uint forks, lives;
	struct life life[MOST];
	uint64_t read_chars, supervisor_kib;
	int32_t recycled_pid, waiter_pid;
	atomic_int may_go;
};

static struct truth *truth;
static struct rt_command *command;
static struct rt_outcome outcome;
static struct rt_metrics m;
static char own_path[PATH_MAX];

static uint64_t own_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* What follows runs in the commands. */

static struct life *enter(int32_t ppid)
{
	struct life *life = &truth->life[atomic_fetch_add(&truth->lives, 1)];

	*life = (struct life){ .pid = getpid(), .ppid = ppid, .exit_code = -1 };
	prctl(PR_GET_NAME, life->comm);
	return life;
}

static void leave(struct life *life, int code)
{
	life->exit_code = code;
	life->cpu_ns = own_cpu_ns();
	_exit(code);
}

static pid_t fork_one(void)
{
	pid_t pid = fork();

	if (pid < 0)
		_exit(96);
	if (pid > 0)
		atomic_fetch_add(&truth->forks, 1);
	return pid;
}

static void reap_children(void)
{
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

static void start_short_lived(void)
{
	int32_t parent = getpid();

	for (int i = 0; i < SHORT_LIVED; i++) {
		if (fork_one() == 0)
			leave(enter(parent), i);
	}
	reap_children();
}

static void start_killed(void)
{
	int32_t parent = getpid();

	if (fork_one() == 0) {
		struct life *life = enter(parent);

		life->signal = SIGTERM;
		raise(SIGTERM);
		_exit(97);
	}
	reap_children();
}

static void live_as_orphan(int32_t parent)
{
	struct life *life = enter(parent);

	life->is_orphan = 1;
	while (getppid() == parent)
		usleep(100);
	burn_cpu_ns(2 * MS);
	leave(life, 5);
}

static void await_end(int32_t pid)
{
	while (kill(pid, 0) == 0)
		usleep(500);
}

/* Nobody but the supervisor waits for them; when this returns it has. */
static void start_orphans(int count)
{
	unsigned first = atomic_load(&truth->lives), last;
	int32_t parent = getpid();

	for (int i = 0; i < count; i++) {
		if (fork_one() == 0) {
			struct life *life = enter(parent);
			int32_t self = getpid();

			if (fork_one() == 0)
				live_as_orphan(self);
			leave(life, 0);
		}
	}
	reap_children();
	last = first + 2 * (unsigned)count;
	while (atomic_load(&truth->lives) < last)
		usleep(500);
	for (unsigned i = first; i < last; i++)
		await_end(truth->life[i].pid);
}

static void *end_thread(void *arg)
{
	return arg;
}

/* A thread that was joined may be told of later than the process that ended after that. */
static void start_threads(void)
{
	int32_t parent = getpid();
	pthread_t thread[8];

	for (int child = 0; child < THREADED; child++) {
		if (fork_one() == 0) {
			struct life *life = enter(parent);

			life->exit_code = 4;
			for (int i = 0; i < 8; i++)
				pthread_create(&thread[i], NULL, end_thread, NULL);
			for (int i = 0; i < 8; i++)
				pthread_join(thread[i], NULL);
			_exit(4); /* at once */
		}
	}
	reap_children();
}

static void start_many_with_threads(void)
{
	for (int i = 0; i < 10; i++)
		start_threads();
}

static void start_with_names(void)
{
	static const char *const names[] = { "a b  c",       "it's \"quoted\"", ") R 1 (2",
		                             "\xff\xfe\x80", "fifteen_bytes__", "" };
	int32_t parent = getpid();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (fork_one() == 0) {
			struct life *life;

			prctl(PR_SET_NAME, names[i]);
			life = enter(parent);
			leave(life, 6);
		}
	}
	reap_children();
}

/* The name of who executes another program is that program's. */
static void start_executing(void)
{
	int32_t parent = getpid();

	if (fork_one() == 0) {
		struct life *life = enter(parent);

		life->exit_code = 11;
		life->is_executing = 1;
		strcpy(life->comm, "sh");
		execl("/bin/sh", "sh", "-c", "exit 11", (char *)NULL);
		_exit(95);
	}
	reap_children();
}

/* All are there at the same time, and nobody else is. */
static void start_at_once(int count)
{
	int32_t parent = getpid();

	for (int i = 0; i < count; i++) {
		if (fork_one() == 0) {
			struct life *life = enter(parent);

			while (!atomic_load(&truth->may_go))
				usleep(1000);
			leave(life, 0);
		}
	}
	atomic_store(&truth->may_go, 1);
	reap_children();
}

static void do_mixed(void)
{
	start_short_lived();
	start_killed();
	start_orphans(ORPHANS);
	start_many_with_threads();
	start_with_names();
	start_executing();
}

static void do_at_once(void)
{
	start_at_once(AT_ONCE);
}

static uint64_t value_of(const char *path, const char *key)
{
	char text[4096], *at;
	FILE *file = fopen(path, "r");
	size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file)
		fclose(file);
	text[n] = '\0';
	at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static void do_five_thousand(void)
{
	static int i; /* vfork() returns twice */
	char path[64];

	for (i = 0; i < 5000; i++) {
		pid_t pid = vfork();

		if (pid == 0)
			_exit(0);
		atomic_fetch_add(&truth->forks, 1);
		waitpid(pid, NULL, 0);
	}
	snprintf(path, sizeof(path), "/proc/%d/status", getppid());
	truth->supervisor_kib = value_of(path, "VmHWM:");
}

/* What has read what, the kernel counts in each process; nobody reads after this. */
static uint64_t own_read_chars(void)
{
	char text[512];
	int fd = open("/proc/self/io", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	if (n <= 0 || strncmp(text, "rchar: ", 7) != 0)
		return 0;
	text[n] = '\0';
	return strtoull(text + 7, NULL, 10) + (uint64_t)n;
}

static void read_known_bytes(void)
{
	static char bytes[4099];
	int fd = open("/dev/zero", O_RDONLY);

	for (size_t left = KNOWN_BYTES; left;) {
		ssize_t n = read(fd, bytes, left < sizeof(bytes) ? left : sizeof(bytes));

		if (n <= 0)
			_exit(94);
		left -= (size_t)n;
	}
	close(fd);
}

static void do_read(void)
{
	for (int i = 0; i < 10; i++) {
		read_known_bytes();
		start_orphans(10);
	}
	truth->read_chars = own_read_chars();
}

static int write_last_pid(int32_t pid)
{
	char text[16];
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY),
	    n = snprintf(text, sizeof(text), "%d", pid);
	int done = fd >= 0 && write(fd, text, (size_t)n) == n;

	if (fd >= 0)
		close(fd);
	return done;
}

/* The same number again, unless somebody else is faster. An end is told only after it was waited
 * for, so that the next must not come at once. */
static void do_recycle(void)
{
	int32_t parent = getpid(), pid = fork_one();

	if (pid == 0)
		leave(enter(parent), 1);
	reap_children();
	for (int i = 0; i < 200 && !truth->recycled_pid; i++) {
		int32_t again;

		usleep(20000);
		if (!write_last_pid(pid - 1))
			return;
		again = fork_one();
		if (again == 0)
			leave(enter(parent), 2);
		reap_children();
		if (again == pid)
			truth->recycled_pid = pid;
	}
}

/* The kernel reaps them itself, and their accounts go to nobody. */
static void do_ignore(void)
{
	int32_t parent = getpid();

	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 50; i++) {
		if (fork_one() == 0) {
			struct life *life = enter(parent);

			burn_cpu_ns(20 * MS);
			leave(life, 0);
		}
		reap_children();
	}
}

static void do_burn(void)
{
	int32_t parent = getpid();

	for (int i = 0; i < 20; i++) {
		if (fork_one() == 0) {
			struct life *life = enter(parent);

			burn_cpu_ns(10 * MS);
			leave(life, 0);
		}
		reap_children();
	}
}

static void do_nothing(void)
{
}

static uint64_t sleeps_of_waiter(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", truth->waiter_pid);
	return value_of(path, "voluntary_ctxt_switches:");
}

/* Holds memory until the process that waits for this one has woken up a few times, however long
 * that takes on a busy machine. Gives up after 30 s, so that a library that never polls fails. */
static void do_hold(void)
{
	void *memory =
	    mmap(NULL, 100 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t so_far;

	if (memory == MAP_FAILED)
		_exit(90);
	memset(memory, 1, 100 * MIB);
	so_far = sleeps_of_waiter();
	for (int ms = 0; ms < 30000 && sleeps_of_waiter() < so_far + 5; ms++)
		usleep(1000);
	munmap(memory, 100 * MIB);
}

static void do_leave_one(void)
{
	int32_t parent = getpid();
	pthread_t thread;

	if (fork_one() == 0) {
		enter(parent);
		pthread_create(&thread, NULL, end_thread, NULL);
		pthread_join(thread, NULL);
		atomic_store(&truth->may_go, 1);
		pause();
	}
	while (!atomic_load(&truth->may_go))
		usleep(500);
}

static const struct {
	const char *name;
	void (*work)(void);
} workloads[] = {
	{ "mixed", do_mixed }, { "at_once", do_at_once }, { "five_thousand", do_five_thousand },
	{ "read", do_read },   { "recycle", do_recycle }, { "ignore", do_ignore },
	{ "burn", do_burn },   { "nothing", do_nothing }, { "leave_one", do_leave_one },
	{ "hold", do_hold },
};

static struct truth *map_truth(int fd)
{
	void *memory = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* It starts when it is told to, so that whoever cannot follow it from its first instruction on
 * can follow it all. */
static int be_command(char **argv)
{
	struct life *life;

	truth = map_truth(atoi(argv[2]));
	if (!truth)
		return 93;
	life = enter(getppid());
	while (!atomic_load(&truth->may_go))
		usleep(500);
	atomic_store(&truth->may_go, 0);
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		if (strcmp(workloads[i].name, argv[1]) == 0)
			workloads[i].work();
	}
	life->is_orphan = 1; /* the supervisor reaps it, too */
	leave(life, 3);
	return 92;
}

/* From here on, the tests. */

struct how {
	uint32_t rung;
	int has_list, hears;
	int is_early;   /* it forks from its first instruction on */
	int is_waiting; /* until may_go says so */
};

static int begin(const char *workload, struct how how)
{
	const struct rt_opts hearing = { .size = sizeof(hearing), .flags = RT_OPT_PROCESS_EVENTS };
	char memory[16];
	const char *argv[] = { own_path, workload, memory, NULL };
	const struct rt_command_opts opts = {
		.size = sizeof(opts),
		.argv = argv,
		.accounting = how.rung,
		.flags = how.has_list ? RT_COMMAND_LIST_PROCESSES : 0,
		.tracker = how.hears ? &hearing : NULL,
	};
	int fd = memfd_create("truth", 0), err;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, sizeof(*truth)), 0);
	truth = map_truth(fd);
	ck_assert_ptr_nonnull(truth);
	snprintf(memory, sizeof(memory), "%d", fd);
	truth->waiter_pid = getpid();
	atomic_store(&truth->may_go, how.is_early);
	err = rt_command_start(&command, &opts);
	close(fd);
	if (err == -EOPNOTSUPP && how.rung > RT_ACCOUNTING_WAIT)
		return 0;
	ck_assert_int_eq(err, 0);
	if (!how.is_early && !how.is_waiting)
		atomic_store(&truth->may_go, 1);
	return 1;
}

static void await_end_of_command(void)
{
	ck_assert_int_eq(rt_command_wait(command, FOR_EVER, &outcome, sizeof(outcome)), 0);
	ck_assert_int_eq(outcome.exit_code, 3);
	ck_assert_int_eq(outcome.signal, 0);
}

static void end(void)
{
	rt_command_free(command);
	munmap(truth, sizeof(*truth));
}

/* 0 where there is no such rung. On a busy machine events may be lost, which is told; then once
 * more. */
static int run(const char *workload, struct how how)
{
	for (int i = 0; begin(workload, how); i++) {
		await_end_of_command();
		if (outcome.valid & RT_HAS_PROCESSES)
			return 1;
		ck_assert_uint_ne(outcome.partial & RT_HAS_PROCESSES, 0);
		ck_assert_uint_le(outcome.processes, atomic_load(&truth->forks) + 1);
		if (i == TRIES)
			ck_abort_msg("events were lost");
		end();
	}
	return 0;
}

static const uint32_t rungs[] = { RT_ACCOUNTING_WAIT, RT_ACCOUNTING_CGROUP };
enum { RUNGS = sizeof(rungs) / sizeof(rungs[0]) };

START_TEST(everybody_is_counted)
{
	if (!run("mixed", (struct how){ .rung = rungs[_i] }))
		return;
	ck_assert_uint_eq(atomic_load(&truth->forks), atomic_load(&truth->lives) - 1);
	ck_assert_uint_eq(outcome.processes, atomic_load(&truth->forks) + 1);
	ck_assert_uint_eq(outcome.partial & RT_HAS_PROCESSES, 0);
	ck_assert_uint_ne(outcome.valid & RT_HAS_PROCESSES_PEAK, 0);
	ck_assert_uint_ge(outcome.processes_peak, 2);
	ck_assert_uint_le(outcome.processes_peak, AT_MOST);
	end();
}
END_TEST

START_TEST(most_at_the_same_time_are_told)
{
	if (!run("at_once", (struct how){ .rung = rungs[_i] }))
		return;
	ck_assert_uint_eq(outcome.processes, AT_ONCE + 1);
	ck_assert_uint_eq(outcome.processes_peak, AT_ONCE + 1);
	end();
}
END_TEST

START_TEST(one_alone_is_one)
{
	ck_assert_int_eq(run("nothing", (struct how){ .rung = RT_ACCOUNTING_WAIT }), 1);
	ck_assert_uint_eq(outcome.processes, 1);
	ck_assert_uint_eq(outcome.processes_peak, 1);
	end();
}
END_TEST

START_TEST(polling_counts_whom_it_sees)
{
	ck_assert_int_eq(begin("mixed", (struct how){ .rung = RT_ACCOUNTING_POLL }), 1);
	await_end_of_command();
	ck_assert_uint_eq(outcome.valid & (RT_HAS_PROCESSES | RT_HAS_PROCESSES_PEAK), 0);
	ck_assert_uint_ne(outcome.partial & RT_HAS_PROCESSES, 0);
	ck_assert_uint_ge(outcome.processes, 1);
	ck_assert_uint_le(outcome.processes, atomic_load(&truth->forks) + 1);
	ck_assert_uint_eq(outcome.processes_peak, 0);
	end();
}
END_TEST

START_TEST(polling_with_events_counts_everybody)
{
	ck_assert_int_eq(
	    run("mixed", (struct how){ .rung = RT_ACCOUNTING_POLL, .hears = 1, .is_early = _i }),
	    1);
	ck_assert_uint_eq(outcome.processes, atomic_load(&truth->forks) + 1);
	end();
}
END_TEST

static struct rt_command_process *rows;
static size_t row_count;

static void fetch_rows(void)
{
	row_count = 0;
	ck_assert_int_eq(rt_command_processes(command, NULL, sizeof(*rows), &row_count), 0);
	rows = calloc(row_count, sizeof(*rows));
	ck_assert_ptr_nonnull(rows);
	ck_assert_int_eq(rt_command_processes(command, rows, sizeof(*rows), &row_count), 0);
}

static int is_of(const struct rt_command_process *row, const struct life *life)
{
	return row->pid == life->pid && row->exit_code == life->exit_code &&
	       row->signal == life->signal;
}

/* On a busy machine a number may come round to a process that ends the same way. */
static const struct rt_command_process *find_row(const struct life *life)
{
	const struct rt_command_process *found = NULL;
	unsigned listed = 0, lived = 0;

	for (size_t i = 0; i < row_count; i++) {
		if (is_of(&rows[i], life) && listed++ == 0)
			found = &rows[i];
	}
	for (unsigned i = 0; i < atomic_load(&truth->lives); i++) {
		const struct life *other = &truth->life[i];

		lived += other->pid == life->pid && other->exit_code == life->exit_code &&
		         other->signal == life->signal;
	}
	ck_assert_msg(found != NULL, "%d, which ended with %d or signal %d, is not there",
	              life->pid, life->exit_code, life->signal);
	ck_assert_uint_eq(listed, lived);
	return found;
}

static uint64_t row_cpu_ns(const struct rt_command_process *row)
{
	return row->cpu_user_ns + row->cpu_system_ns;
}

/* In whole microseconds, as the kernel keeps what it was waited for; and what it takes to end. */
static void check_final(const struct rt_command_process *row, const struct life *life)
{
	ck_assert_uint_ne(row->valid & RT_HAS_CPU, 0);
	if (life->signal)
		return;
	ck_assert_uint_ge(row_cpu_ns(row), life->cpu_ns);
	if (!life->is_executing)
		ck_assert_uint_le(row_cpu_ns(row), life->cpu_ns + 50 * MS);
}

static void check_row(const struct life *life)
{
	const struct rt_command_process *row = find_row(life);

	ck_assert_int_eq(row->ppid, life->ppid);
	if (!life->is_executing || row->comm[0]) /* too short-lived to be asked for its new name */
		ck_assert_str_eq(row->comm, life->comm);
	ck_assert_uint_gt(row->start_realtime_ns, 0);
	ck_assert_uint_le(row->start_realtime_ns, row->end_realtime_ns);
	ck_assert_uint_eq(row->valid & row->partial, 0);
	ck_assert_uint_eq(row->flags & RT_PROCESS_RUNNING, 0);
	if (row->flags & RT_PROCESS_FINAL)
		check_final(row, life);
}

static void check_order_and_time(void)
{
	struct timespec now;
	uint64_t now_ns, cpu_ns = 0;

	clock_gettime(CLOCK_REALTIME, &now);
	now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	for (size_t i = 0; i < row_count; i++) {
		ck_assert_uint_le(i ? rows[i - 1].start_realtime_ns
		                    : outcome.start_realtime_ns - 20 * MS,
		                  rows[i].start_realtime_ns);
		ck_assert_uint_le(rows[i].end_realtime_ns, now_ns + 20 * MS);
		ck_assert_uint_eq(rows[i].size, sizeof(rows[i]));
		if (rows[i].valid & RT_HAS_CPU)
			cpu_ns += row_cpu_ns(&rows[i]);
	}
	/* Nothing that ran is in it twice. */
	ck_assert_uint_le(cpu_ns,
	                  outcome.cpu_user_ns + outcome.cpu_system_ns + row_count * 1000 + 1000);
}

START_TEST(everybody_is_listed_once)
{
	if (!run("mixed", (struct how){ .rung = rungs[_i], .has_list = 1 }))
		return;
	fetch_rows();
	ck_assert_uint_eq(outcome.processes, atomic_load(&truth->forks) + 1);
	ck_assert_uint_eq(row_count, outcome.processes);
	for (unsigned i = 0; i < atomic_load(&truth->lives); i++)
		check_row(&truth->life[i]);
	check_order_and_time();
	ck_assert_int_eq(find_row(&truth->life[0])->pid, rt_command_pid(command));
	free(rows);
	end();
}
END_TEST

START_TEST(whom_the_supervisor_reaps_is_final)
{
	uint64_t known_ns = 0, final_ns = 0;

	ck_assert_int_eq(run("mixed", (struct how){ .rung = RT_ACCOUNTING_WAIT, .has_list = 1 }),
	                 1);
	fetch_rows();
	for (unsigned i = 0; i < atomic_load(&truth->lives); i++) {
		const struct rt_command_process *row = find_row(&truth->life[i]);

		if (!truth->life[i].is_orphan)
			continue;
		ck_assert_uint_eq(row->flags, RT_PROCESS_FINAL);
		ck_assert_uint_ne(row->valid & RT_HAS_CPU, 0);
		if (geteuid() == 0) /* newer kernels tell nobody else what a zombie has read */
			ck_assert_uint_ne(row->valid & RT_HAS_IO, 0);
		known_ns += truth->life[i].cpu_ns;
		final_ns += row_cpu_ns(row);
	}
	ck_assert_uint_ge(known_ns, ORPHANS * 2 * MS);
	ck_assert_uint_ge(final_ns, known_ns);
	ck_assert_uint_le(final_ns, outcome.cpu_low_ns + (ORPHANS + 1) * 1000);
	free(rows);
	end();
}
END_TEST

START_TEST(three_hundred_at_once_are_listed)
{
	ck_assert_int_eq(run("at_once", (struct how){ .rung = RT_ACCOUNTING_WAIT, .has_list = 1 }),
	                 1);
	fetch_rows();
	ck_assert_uint_eq(row_count, AT_ONCE + 1);
	for (unsigned i = 0; i < atomic_load(&truth->lives); i++)
		check_row(&truth->life[i]);
	check_order_and_time();
	free(rows);
	end();
}
END_TEST

static int32_t parent_of(int32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return (int32_t)value_of(path, "PPid:");
}

/* Nobody is left who could say so. */
START_TEST(a_count_that_was_cut_short_is_no_count)
{
	ck_assert_int_eq(
	    begin("mixed", (struct how){ .rung = RT_ACCOUNTING_WAIT, .is_waiting = 1 }), 1);
	ck_assert_int_eq(kill(parent_of(rt_command_pid(command)), SIGKILL), 0);
	ck_assert_int_eq(rt_command_wait(command, 0, NULL, 0), -ETIMEDOUT);
	rt_command_signal(command, SIGKILL);
	ck_assert_int_eq(rt_command_wait(command, FOR_EVER, &outcome, sizeof(outcome)), -ECHILD);
	ck_assert_uint_eq(outcome.valid & (RT_HAS_PROCESSES | RT_HAS_PROCESSES_PEAK), 0);
	ck_assert_uint_ne(outcome.partial & RT_HAS_PROCESSES, 0);
	end();
}
END_TEST

/* A thread of it has ended, which is no end. */
START_TEST(who_runs_on_has_no_end)
{
	const struct rt_command_process *row = NULL;

	ck_assert_int_eq(
	    run("leave_one", (struct how){ .rung = RT_ACCOUNTING_WAIT, .has_list = 1 }), 1);
	fetch_rows();
	ck_assert_uint_eq(outcome.left_running, 1);
	for (size_t i = 0; i < row_count; i++) {
		if (rows[i].flags & RT_PROCESS_RUNNING)
			row = &rows[i];
	}
	ck_assert_ptr_nonnull(row);
	ck_assert_int_eq(row->pid, truth->life[1].pid);
	kill(row->pid, SIGKILL);
	ck_assert_int_eq(row->exit_code, -1);
	ck_assert_int_eq(row->signal, 0);
	ck_assert_uint_eq(row->end_realtime_ns, 0);
	free(rows);
	end();
}
END_TEST

START_TEST(polling_lists_the_program_and_how_it_ended)
{
	ck_assert_int_eq(begin("mixed", (struct how){ .rung = RT_ACCOUNTING_POLL, .has_list = 1 }),
	                 1);
	await_end_of_command();
	fetch_rows();
	ck_assert_uint_ge(row_count, 1);
	ck_assert_uint_le(row_count, atomic_load(&truth->forks) + 1);
	ck_assert_int_eq(find_row(&truth->life[0])->pid, rt_command_pid(command));
	ck_assert_int_eq(find_row(&truth->life[0])->ppid, getpid());
	free(rows);
	end();
}
END_TEST

START_TEST(a_number_that_comes_round_is_listed_twice)
{
	struct life first, second;

	ck_assert_int_eq(run("recycle", (struct how){ .rung = RT_ACCOUNTING_WAIT, .has_list = 1 }),
	                 1);
	fetch_rows();
	ck_assert_uint_eq(outcome.processes, atomic_load(&truth->forks) + 1);
	ck_assert_uint_eq(row_count, outcome.processes);
	if (truth->recycled_pid) { /* may nobody say which number is next, this is a plain tree */
		first = second = (struct life){ .pid = truth->recycled_pid };
		first.exit_code = 1;
		second.exit_code = 2;
		ck_assert_uint_lt(find_row(&first)->end_realtime_ns,
		                  find_row(&second)->start_realtime_ns);
	}
	ck_assert(truth->recycled_pid || geteuid() != 0 || atomic_load(&truth->forks) > 1);
	free(rows);
	end();
}
END_TEST

static int ask(struct rt_command *c, void *array, size_t element_size, size_t *count)
{
	return rt_command_processes(c, array, element_size, count);
}

/* A caller of another release: what it does not know is not written, what we do not know is
 * zeroed. */
START_TEST(rows_fit_whoever_asks)
{
	enum { WIDE = sizeof(struct rt_command_process) + 16, ROWS = 3 };
	_Alignas(8) unsigned char wide[ROWS][WIDE];
	unsigned char untouched[WIDE];
	size_t count = 2;

	ck_assert_int_eq(begin("mixed", (struct how){ .rung = RT_ACCOUNTING_WAIT, .has_list = 1 }),
	                 1);
	ck_assert_int_eq(ask(command, wide, WIDE, &count), -ENODATA);
	await_end_of_command();
	memset(wide, 0xa5, sizeof(wide));
	memset(untouched, 0xa5, sizeof(untouched));
	ck_assert_int_eq(ask(command, wide, WIDE, &count), 0);
	ck_assert_uint_gt(count, 2);
	for (size_t i = 0; i < 2; i++) {
		struct rt_command_process row;

		memcpy(&row, wide[i], sizeof(row));
		ck_assert_uint_eq(row.size, sizeof(row));
		ck_assert_int_gt(row.pid, 0);
		for (size_t at = sizeof(row); at < WIDE; at++)
			ck_assert_uint_eq(wide[i][at], 0);
	}
	ck_assert_mem_eq(wide[2], untouched, WIDE);
	count = 2;
	ck_assert_int_eq(ask(command, wide, sizeof(struct rt_command_process) - 8, &count),
	                 -EINVAL);
	ck_assert_int_eq(ask(command, wide, 100000, &count), -EINVAL);
	ck_assert_int_eq(ask(command, NULL, WIDE, &count), -EFAULT);
	ck_assert_int_eq(ask(command, wide, WIDE, NULL), -EFAULT);
	ck_assert_int_eq(ask(NULL, wide, WIDE, &count), -EFAULT);
	ck_assert_uint_eq(count, 2);
	end();
	ck_assert_int_eq(begin("nothing", (struct how){ .rung = RT_ACCOUNTING_WAIT }), 1);
	await_end_of_command();
	ck_assert_int_eq(ask(command, wide, WIDE, &count), -EOPNOTSUPP);
	end();
}
END_TEST

START_TEST(the_supervisor_stays_small)
{
	ck_assert_int_eq(run("five_thousand", (struct how){ .rung = RT_ACCOUNTING_WAIT }), 1);
	ck_assert_uint_eq(outcome.processes, 5001);
	ck_assert_uint_gt(truth->supervisor_kib, 0);
	ck_assert_uint_le(truth->supervisor_kib, 2048);
	end();
}
END_TEST

/* It reads files of whom it reaps, and the kernel adds what those have read: that must not be
 * confused. */
START_TEST(what_the_supervisor_reads_is_not_the_program_s)
{
	ck_assert_int_eq(begin("read", (struct how){ .rung = RT_ACCOUNTING_WAIT, .has_list = _i }),
	                 1);
	await_end_of_command();
	ck_assert_int_eq(rt_sample(rt_command_tracker(command), &m, sizeof(m)), -ESRCH);
	ck_assert_uint_gt(truth->read_chars, UINT64_C(10) * KNOWN_BYTES);
	ck_assert_uint_eq(m.read_chars, truth->read_chars);
	end();
}
END_TEST

/* Trackers of a child of our own. */

static struct rt_tracker *tracker;
static int pipe_of_daemons[2];

static void shared_truth(void)
{
	truth =
	    mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(truth, MAP_FAILED);
}

static int has_gone(void *pid)
{
	return kill(*(int32_t *)pid, 0) < 0;
}

/* Its parent is gone at once. It lives until somebody lets it go, or for a while. */
static void start_daemon(void (*work)(void))
{
	pid_t middle = fork_one();

	if (middle == 0) {
		if (fork_one() == 0) {
			struct life *life = enter(0);

			work();
			leave(life, 0);
		}
		_exit(0);
	}
	waitpid(middle, NULL, 0);
}

static void live_thirty_ms(void)
{
	usleep(30000);
}

static void start_daemons_and_see_them_end(void *arg)
{
	char byte;

	(void)arg;
	while (!atomic_load(&truth->may_go))
		usleep(500);
	for (int i = 0; i < 5; i++)
		start_daemon(live_thirty_ms);
	close(pipe_of_daemons[1]);
	if (read(pipe_of_daemons[0], &byte, 1) != 0) /* they held its other end */
		_exit(91);
}

static void track(pid_t pid)
{
	const struct rt_opts opts = { .size = sizeof(opts), .flags = RT_OPT_PROCESS_EVENTS };

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, pid, &opts), 0);
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	ck_assert_uint_eq(m.processes_seen, 1);
}

/* If not, once more, as run() does. */
static int has_heard_all(void)
{
	return !(m.reasons & RT_REASON_EVENTS_LOST);
}

static int see_daemons_come_and_go(void)
{
	struct child child;
	int is_heard;

	shared_truth();
	ck_assert_int_eq(pipe(pipe_of_daemons), 0);
	child_start_async(&child, start_daemons_and_see_them_end, NULL);
	close(pipe_of_daemons[0]);
	close(pipe_of_daemons[1]);
	track(child.pid);
	atomic_store(&truth->may_go, 1);
	child_await(&child);
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	is_heard = has_heard_all();
	if (is_heard)
		ck_assert_uint_eq(m.processes_seen, 1 + atomic_load(&truth->forks));
	ck_assert_uint_eq(atomic_load(&truth->forks), 10);
	child_end(&child);
	rt_tracker_free(tracker);
	munmap(truth, sizeof(*truth));
	return is_heard;
}

START_TEST(daemons_between_two_samples_are_heard_of)
{
	for (int i = 0; i < TRIES; i++) {
		if (see_daemons_come_and_go())
			return;
	}
	ck_abort_msg("events were lost");
}
END_TEST

static void burn_and_wait(void)
{
	burn_cpu_ns(50 * MS);
	truth->life[0].cpu_ns = own_cpu_ns();
	atomic_store(&truth->may_go, 2);
	while (atomic_load(&truth->may_go) == 2)
		usleep(500);
}

static void start_one_daemon(void *arg)
{
	(void)arg;
	while (!atomic_load(&truth->may_go))
		usleep(500);
	start_daemon(burn_and_wait);
	while (atomic_load(&truth->may_go) == 1)
		usleep(500);
}

static int follow_a_daemon(void)
{
	struct rt_process list[4];
	struct child child;
	size_t count = 4;
	int is_heard, is_listed = 0;

	shared_truth();
	child_start_async(&child, start_one_daemon, NULL);
	track(child.pid);
	atomic_store(&truth->may_go, 1);
	child_await(&child);
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	is_heard = has_heard_all();
	ck_assert_int_eq(rt_tracker_processes(tracker, list, sizeof(list[0]), &count), 0);
	for (size_t i = 0; i < count; i++)
		is_listed |= list[i].pid == truth->life[0].pid;
	if (is_heard) {
		ck_assert_uint_eq(m.processes, 2);
		ck_assert_uint_eq(m.processes_seen, 3);
		ck_assert_int_eq(is_listed, 1);
		ck_assert_uint_ge(m.cpu_user_ns + m.cpu_system_ns, truth->life[0].cpu_ns);
	}
	ck_assert_uint_ge(truth->life[0].cpu_ns, 50 * MS);
	atomic_store(&truth->may_go, 3);
	child_end(&child);
	rt_tracker_free(tracker);
	wait_until(has_gone, &truth->life[0].pid);
	munmap(truth, sizeof(*truth));
	return is_heard;
}

START_TEST(an_orphan_that_lives_is_a_member)
{
	for (int i = 0; i < TRIES; i++) {
		if (follow_a_daemon())
			return;
	}
	ck_abort_msg("events were lost");
}
END_TEST

/* One of the two hears what comes; the other knows that it does not. */
START_TEST(a_forked_tracker_takes_nothing_from_its_parent)
{
	struct child child;
	pid_t other;
	int status;

	shared_truth();
	ck_assert_int_eq(pipe(pipe_of_daemons), 0);
	child_start_async(&child, start_daemons_and_see_them_end, NULL);
	close(pipe_of_daemons[0]);
	close(pipe_of_daemons[1]);
	track(child.pid);
	atomic_store(&truth->may_go, 1);
	child_await(&child);
	other = fork();
	if (other == 0)
		_exit(rt_sample(tracker, &m, sizeof(m)) == 0 && m.reasons & RT_REASON_EVENTS_LOST
		          ? 0
		          : 1);
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	if (has_heard_all())
		ck_assert_uint_eq(m.processes_seen, 1 + atomic_load(&truth->forks));
	child_end(&child);
	rt_tracker_free(tracker);
	munmap(truth, sizeof(*truth));
}
END_TEST

/* It lasts until it was glanced at. */
static void spike(void *arg)
{
	char *memory;

	(void)arg;
	while (atomic_load(&truth->may_go) != 1)
		usleep(500);
	memory = mmap(NULL, 100 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		_exit(90);
	memset(memory, 1, 100 * MIB);
	atomic_store(&truth->may_go, 2);
	while (atomic_load(&truth->may_go) == 2)
		usleep(500);
	munmap(memory, 100 * MIB);
}

static int is_at_its_peak(void *arg)
{
	(void)arg;
	return atomic_load(&truth->may_go) == 2;
}

START_TEST(a_glance_sees_a_peak_between_two_samples)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .flags = _i ? RT_OPT_PROCESS_EVENTS : 0 };
	struct rt_tracker *without;
	struct child child;

	shared_truth();
	child_start_async(&child, spike, NULL);
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, child.pid, &opts), 0);
	ck_assert_int_eq(rt_pid_tracker_new(&without, child.pid, &opts), 0);
	ck_assert_int_eq(rt_tracker_glance(tracker), -ENODATA);
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	ck_assert_uint_lt(m.peak_tree_rss_bytes, 100 * MIB);
	ck_assert_int_eq(rt_sample(without, &m, sizeof(m)), 0);
	atomic_store(&truth->may_go, 1);
	wait_until(is_at_its_peak, NULL);
	ck_assert_int_eq(rt_tracker_glance(tracker), 0);
	atomic_store(&truth->may_go, 3);
	child_await(&child);
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	ck_assert_uint_ge(m.peak_tree_rss_bytes, 100 * MIB);
	ck_assert_uint_lt(m.peak_tree_rss_bytes, 200 * MIB);
	ck_assert_uint_lt(m.rss_bytes, 100 * MIB);
	ck_assert_int_eq(rt_sample(without, &m, sizeof(m)), 0);
	ck_assert_uint_lt(m.peak_tree_rss_bytes, 100 * MIB);
	child_end(&child);
	rt_tracker_free(tracker);
	rt_tracker_free(without);
	munmap(truth, sizeof(*truth));
}
END_TEST

/* rt_command_wait() polls for peaks by itself. */
START_TEST(waiting_sees_a_peak_between_two_samples)
{
	ck_assert_int_eq(begin("hold", (struct how){ .rung = RT_ACCOUNTING_WAIT }), 1);
	await_end_of_command();
	ck_assert_int_eq(rt_sample(rt_command_tracker(command), &m, sizeof(m)), -ESRCH);
	ck_assert_uint_ge(m.peak_tree_rss_bytes, 100 * MIB);
	end();
}
END_TEST

/* What a hypervisor or interrupts take counts for the inherited clock, and not for what is
 * waited for. */
static uint64_t taken_ns(void)
{
	unsigned long long user, nice, system, idle, iowait, irq = 0, softirq = 0, steal = 0;
	FILE *file = fopen("/proc/stat", "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice,
	                        &system, &idle, &iowait, &irq, &softirq, &steal),
	                 8);
	fclose(file);
	return (irq + softirq + steal) * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

static uint64_t known_work_ns(void)
{
	uint64_t sum_ns = 0;

	for (unsigned i = 0; i < atomic_load(&truth->lives); i++)
		sum_ns += truth->life[i].cpu_ns;
	return sum_ns;
}

/* It was not read whose clock nobody waited for, so that only the inherited one can tell. */
START_TEST(an_inherited_clock_notices_whom_nobody_waits_for)
{
	uint64_t taken, work_ns;

	taken = taken_ns();
	if (!begin("ignore", (struct how){ .rung = RT_ACCOUNTING_WAIT_PERF }))
		return;
	await_end_of_command();
	taken = taken_ns() - taken;
	work_ns = known_work_ns();
	ck_assert_uint_ge(work_ns, 50 * 20 * MS);
	ck_assert_uint_eq(outcome.accounting, RT_ACCOUNTING_WAIT_PERF);
	ck_assert_uint_ne(outcome.reasons & RT_REASON_CLOCK_ABOVE, 0);
	ck_assert_uint_eq(outcome.complete, 0);
	ck_assert_uint_eq(outcome.valid & RT_HAS_CPU, 0);
	ck_assert_uint_lt(outcome.cpu_low_ns, work_ns / 2);
	ck_assert_uint_ge(outcome.cpu_estimate_ns, work_ns - work_ns / 20);
	ck_assert_uint_le(outcome.cpu_estimate_ns, work_ns + work_ns / 4 + taken);
	ck_assert_uint_le(outcome.cpu_estimate_ns, outcome.cpu_high_ns);
	ck_assert_uint_ge(outcome.cpu_high_ns, work_ns);
	end();
}
END_TEST

/* An ordinary tree is above its account only by as much as something took from all CPUs. */
START_TEST(an_inherited_clock_finds_no_fault_with_an_ordinary_tree)
{
	uint64_t taken, work_ns;

	for (int i = 0; i < 3; i++) {
		taken = taken_ns();
		if (!begin("burn", (struct how){ .rung = RT_ACCOUNTING_WAIT_PERF }))
			return;
		await_end_of_command();
		taken = taken_ns() - taken + 40 * MS;
		work_ns = known_work_ns();
		ck_assert_uint_ge(work_ns, 20 * 10 * MS);
		ck_assert_uint_ge(outcome.cpu_low_ns + 10 * MS, work_ns);
		ck_assert_uint_le(outcome.cpu_low_ns, outcome.cpu_estimate_ns);
		ck_assert_uint_le(outcome.cpu_estimate_ns, outcome.cpu_high_ns);
		ck_assert_uint_eq(
		    outcome.reasons & ~(uint32_t)(RT_REASON_UNVERIFIED | RT_REASON_CLOCK_ABOVE), 0);
		if (outcome.reasons & RT_REASON_CLOCK_ABOVE) {
			ck_assert_uint_gt(outcome.cpu_estimate_ns - outcome.cpu_low_ns, 10 * MS);
			ck_assert_uint_le(outcome.cpu_estimate_ns - outcome.cpu_low_ns,
			                  taken + outcome.cpu_low_ns / 20);
		}
		ck_assert_uint_eq(outcome.complete, outcome.reasons == 0);
		end();
	}
}
END_TEST

/* Does anybody tell us of forks here? */
static int has_events(void)
{
	const char *argv[] = { "true", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .accounting = RT_ACCOUNTING_WAIT };

	if (rt_command_start(&command, &opts) < 0)
		return 0;
	rt_command_wait(command, FOR_EVER, &outcome, sizeof(outcome));
	rt_command_free(command);
	return (outcome.valid & RT_HAS_PROCESSES) != 0;
}

int main(int argc, char **argv)
{
	Suite *suite = suite_create("processes");
	TCase *counts = suite_case(suite, "counts"), *lists = suite_case(suite, "lists"),
	      *apart = suite_case(suite, "apart");
	TCase *trackers = suite_case(suite, "trackers"), *clock = suite_case(suite, "clock");
	ssize_t n = readlink("/proc/self/exe", own_path, sizeof(own_path) - 1);

	if (n < 0)
		return EXIT_FAILURE;
	own_path[n] = '\0';
	if (argc > 2)
		return be_command(argv);
	tcase_add_test(counts, polling_counts_whom_it_sees);
	tcase_add_test(counts, a_count_that_was_cut_short_is_no_count);
	tcase_add_test(lists, polling_lists_the_program_and_how_it_ended);
	tcase_add_test(lists, rows_fit_whoever_asks);
	tcase_add_loop_test(apart, what_the_supervisor_reads_is_not_the_program_s, 0, 2);
	tcase_add_loop_test(trackers, a_glance_sees_a_peak_between_two_samples, 0, 2);
	tcase_add_test(trackers, waiting_sees_a_peak_between_two_samples);
	tcase_add_test(clock, an_inherited_clock_notices_whom_nobody_waits_for);
	tcase_add_test(clock, an_inherited_clock_finds_no_fault_with_an_ordinary_tree);
	if (has_events()) {
		tcase_add_loop_test(counts, everybody_is_counted, 0, RUNGS);
		tcase_add_loop_test(counts, most_at_the_same_time_are_told, 0, RUNGS);
		tcase_add_test(counts, one_alone_is_one);
		tcase_add_loop_test(counts, polling_with_events_counts_everybody, 0, 2);
		tcase_add_loop_test(lists, everybody_is_listed_once, 0, RUNGS);
		tcase_add_test(lists, whom_the_supervisor_reaps_is_final);
		tcase_add_test(lists, three_hundred_at_once_are_listed);
		tcase_add_test(lists, who_runs_on_has_no_end);
		tcase_add_test(lists, a_number_that_comes_round_is_listed_twice);
		tcase_add_test(apart, the_supervisor_stays_small);
		tcase_add_test(trackers, daemons_between_two_samples_are_heard_of);
		tcase_add_test(trackers, an_orphan_that_lives_is_a_member);
		tcase_add_test(trackers, a_forked_tracker_takes_nothing_from_its_parent);
	} else {
		printf("# no process events for us here: what needs them is left out\n");
	}
	return suite_run(suite);
}
