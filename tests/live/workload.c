/* SPDX-License-Identifier: MIT */
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "commands.h"
#include "suite.h"

#define MS UINT64_C(1000000)
#define EXIT_CODE 3
#define SHORT_LIVED 20
#define THREADED 20
#define THREADS 8
#define LATE_MS 30            /* longer than the supervisor waits for more events */
#define LEFT_BY_LEADER_MS 500 /* likewise, on a busy system */
/* A busy system overflows the event buffer, which is small unless the user is root. */
#define TRIES 10

/* These functions run in the workload. */

static void reap_children(void)
{
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

static void start_short_lived(struct record *record)
{
	int32_t parent = getpid();

	for (int i = 0; i < SHORT_LIVED; i++) {
		if (fork_recorded(record) == 0)
			exit_recorded(record_self(record, parent), i);
	}
	reap_children();
}

static void start_killed(struct record *record)
{
	int32_t parent = getpid();

	if (fork_recorded(record) == 0) {
		struct recorded_process *self = record_self(record, parent);

		self->signal = SIGTERM;
		raise(SIGTERM);
		_exit(97);
	}
	reap_children();
}

static void run_as_orphan(struct record *record, int32_t parent)
{
	struct recorded_process *self = record_self(record, parent);

	self->is_orphan = true;
	while (getppid() == parent)
		usleep(100);
	burn_cpu_ns(2 * MS);
	exit_recorded(self, 5);
}

static void wait_until_reaped(const struct recorded_process *process)
{
	while (atomic_load(&process->pid) == 0 || kill(process->pid, 0) == 0)
		usleep(500);
}

/* Only the supervisor waits for the orphans. It has reaped them all when this returns. */
static void start_orphans(struct record *record, int count)
{
	unsigned first = atomic_load(&record->process_count), last;
	int32_t parent = getpid();

	for (int i = 0; i < count; i++) {
		if (fork_recorded(record) == 0) {
			struct recorded_process *middle = record_self(record, parent);

			if (fork_recorded(record) == 0)
				run_as_orphan(record, middle->pid);
			exit_recorded(middle, 0);
		}
	}
	reap_children();
	last = first + 2 * (unsigned)count;
	while (atomic_load(&record->process_count) < last)
		usleep(500);
	for (unsigned i = first; i < last; i++)
		wait_until_reaped(&record->process[i]);
}

static void *return_at_once(void *arg)
{
	return arg;
}

/* The exit event of a joined thread may arrive later than that of its process. */
static void start_threaded(struct record *record)
{
	int32_t parent = getpid();
	pthread_t threads[THREADS];

	for (int child = 0; child < THREADED; child++) {
		if (fork_recorded(record) == 0) {
			struct recorded_process *self = record_self(record, parent);

			self->exit_code = 4;
			for (int i = 0; i < THREADS; i++)
				pthread_create(&threads[i], NULL, return_at_once, NULL);
			for (int i = 0; i < THREADS; i++)
				pthread_join(threads[i], NULL);
			exit_recorded(self, 4); /* at once */
		}
	}
	reap_children();
}

static void start_with_odd_names(struct record *record)
{
	static const char *const names[] = { "a b  c",       "it's \"quoted\"", ") R 1 (2",
		                             "\xff\xfe\x80", "fifteen_bytes__", "" };
	int32_t parent = getpid();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (fork_recorded(record) == 0) {
			prctl(PR_SET_NAME, names[i]);
			exit_recorded(record_self(record, parent), 6);
		}
	}
	reap_children();
}

/* A process that executes another program has the name of that program. */
static void start_executing(struct record *record)
{
	int32_t parent = getpid();

	if (fork_recorded(record) == 0) {
		struct recorded_process *self = record_self(record, parent);

		self->exit_code = 11;
		self->is_executing = true;
		strcpy(self->comm, "sh");
		execl("/bin/sh", "sh", "-c", "exit 11", (char *)NULL);
		_exit(95);
	}
	reap_children();
}

static void run_mixed(struct record *record)
{
	start_short_lived(record);
	start_killed(record);
	start_orphans(record, WORKLOAD_ORPHANS);
	for (int i = 0; i < 10; i++)
		start_threaded(record);
	start_with_odd_names(record);
	start_executing(record);
}

/* All children exist at the same time, and no other process does. */
static void run_at_once(struct record *record)
{
	int32_t parent = getpid();

	for (int i = 0; i < WORKLOAD_AT_ONCE; i++) {
		if (fork_recorded(record) == 0) {
			struct recorded_process *self = record_self(record, parent);

			while (!atomic_load(&record->may_exit))
				usleep(1000);
			exit_recorded(self, 0);
		}
	}
	atomic_store(&record->may_exit, true);
	reap_children();
}

static void run_five_thousand(struct record *record)
{
	static int i; /* vfork() returns twice */
	char path[64];

	for (i = 0; i < 5000; i++) {
		pid_t pid = vfork();

		if (pid == 0)
			_exit(0);
		atomic_fetch_add(&record->forks, 1);
		waitpid(pid, NULL, 0);
	}
	snprintf(path, sizeof(path), "/proc/%d/status", getppid());
	record->supervisor_kib = read_proc_value(path, "VmHWM:");
}

/* What this process has read, from the kernel's own counter. No read may follow this one. */
static uint64_t read_self_read_chars(void)
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
	char bytes[4099];
	int fd = open("/dev/zero", O_RDONLY);

	for (size_t left = WORKLOAD_READ_BYTES; left;) {
		ssize_t n = read(fd, bytes, left < sizeof(bytes) ? left : sizeof(bytes));

		if (n <= 0)
			_exit(94);
		left -= (size_t)n;
	}
	close(fd);
}

static void run_read(struct record *record)
{
	for (int i = 0; i < WORKLOAD_ROUNDS; i++) {
		read_known_bytes();
		start_orphans(record, 10);
	}
	record->read_chars = read_self_read_chars();
}

static bool write_last_pid(int32_t pid)
{
	char text[16];
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
	int n = snprintf(text, sizeof(text), "%d", pid);
	bool is_done = fd >= 0 && write(fd, text, (size_t)n) == n;

	if (fd >= 0)
		close(fd);
	return is_done;
}

/* Start a second process with the pid of the first, unless another process takes that pid first.
 * The exit event arrives after the process was waited for, so pause before the next fork. */
static void run_recycle(struct record *record)
{
	int32_t parent = getpid(), pid = fork_recorded(record);

	if (pid == 0)
		exit_recorded(record_self(record, parent), 1);
	reap_children();
	for (int i = 0; i < 200 && !record->recycled_pid; i++) {
		int32_t again;

		usleep(20000);
		if (!write_last_pid(pid - 1))
			return;
		again = fork_recorded(record);
		if (again == 0)
			exit_recorded(record_self(record, parent), 2);
		reap_children();
		if (again == pid)
			record->recycled_pid = pid;
	}
}

static void run_nothing(struct record *record)
{
	(void)record;
}

static uint64_t read_waiter_switches(const struct record *record)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", record->waiter_pid);
	return read_proc_value(path, "voluntary_ctxt_switches:");
}

/* Hold memory until the process that waits for this one has woken up five times, which takes long
 * on a busy system. Give up after 30 s, so that a library that never polls fails the test. */
static void run_hold(struct record *record)
{
	void *memory = mmap(NULL, WORKLOAD_HELD_BYTES, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t switches;

	if (memory == MAP_FAILED)
		_exit(90);
	memset(memory, 1, WORKLOAD_HELD_BYTES);
	switches = read_waiter_switches(record);
	for (int ms = 0; ms < 30000 && read_waiter_switches(record) < switches + 5; ms++)
		usleep(1000);
	munmap(memory, WORKLOAD_HELD_BYTES);
}

/* Leave one process running, of which one thread has exited. */
static void run_leave_one(struct record *record)
{
	int32_t parent = getpid();
	pthread_t thread;

	if (fork_recorded(record) == 0) {
		record_self(record, parent);
		pthread_create(&thread, NULL, return_at_once, NULL);
		pthread_join(thread, NULL);
		atomic_store(&record->may_exit, true);
		pause();
	}
	while (!atomic_load(&record->may_exit))
		usleep(500);
}

static void *spin(void *arg)
{
	const cpu_set_t *cpu = arg;
	const struct sched_param param = { 0 };

	if (sched_setaffinity(0, sizeof(*cpu), cpu) != 0 ||
	    sched_setscheduler(0, SCHED_IDLE, &param) != 0)
		_exit(89);
	for (;;)
		;
	return NULL;
}

/* A process exits, and one of its threads gets no CPU to do so, since this process uses it. */
static void run_late_thread(struct record *record)
{
	int32_t parent = getpid(), child;
	cpu_set_t cpu;
	pthread_t thread;

	CPU_ZERO(&cpu);
	CPU_SET((unsigned)sched_getcpu(), &cpu);
	child = fork_recorded(record);
	if (child == 0) {
		struct recorded_process *self = record_self(record, parent);

		pthread_create(&thread, NULL, spin, &cpu);
		usleep(LATE_MS * 1000);
		exit_recorded(self, 0);
	}
	if (sched_setaffinity(0, sizeof(cpu), &cpu) != 0)
		_exit(88);
	while (waitpid(child, NULL, WNOHANG) == 0)
		burn_cpu_ns(MS);
}

/* Run on until the supervisor has surely handled the exit of the leader. */
static void *exit_after_leader(void *arg)
{
	usleep(LEFT_BY_LEADER_MS * 1000);
	exit_recorded(arg, 0);
	return NULL;
}

/* The leader of a process exits, and another thread runs on. */
static void run_leader_exits(struct record *record)
{
	int32_t parent = getpid();
	pthread_t thread;

	if (fork_recorded(record) == 0) {
		pthread_create(&thread, NULL, exit_after_leader, record_self(record, parent));
		syscall(SYS_exit, 0); /* only this thread */
	}
	reap_children();
}

static const struct {
	const char *name;
	void (*run)(struct record *record);
} workloads[] = {
	{ "at_once", run_at_once },
	{ "five_thousand", run_five_thousand },
	{ "hold", run_hold },
	{ "late_thread", run_late_thread },
	{ "leader_exits", run_leader_exits },
	{ "leave_one", run_leave_one },
	{ "mixed", run_mixed },
	{ "nothing", run_nothing },
	{ "read", run_read },
	{ "recycle", run_recycle },
};

static struct record *map_record(int fd)
{
	void *memory = mmap(NULL, sizeof(struct record), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

bool is_workload(int argc)
{
	return argc > 2;
}

/* The workload waits for may_start. So a library that cannot follow it from its first instruction
 * on can still follow all of it. */
int run_as_workload(char **argv)
{
	struct record *record = map_record(atoi(argv[2]));
	struct recorded_process *self;

	if (!record)
		return 93;
	self = record_self(record, getppid());
	while (!atomic_load(&record->may_start))
		usleep(500);
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		if (strcmp(workloads[i].name, argv[1]) == 0)
			workloads[i].run(record);
	}
	self->is_orphan = true; /* the supervisor reaps it, too */
	exit_recorded(self, EXIT_CODE);
	return 92;
}

/* These functions run in the test. */

bool start_workload(struct workload *workload, const char *name, struct workload_opts how)
{
	const struct rt_opts tracker = { .size = sizeof(tracker), .flags = RT_OPT_PROCESS_EVENTS };
	char program[PATH_MAX], descriptor[16];
	const char *argv[] = { program, name, descriptor, NULL };
	const struct rt_command_opts opts = {
		.size = sizeof(opts),
		.argv = argv,
		.accounting = how.accounting,
		.flags = (how.has_list ? RT_COMMAND_LIST_PROCESSES : 0) | flags_of_suite(),
		.tracker = how.has_events ? &tracker : NULL,
	};
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	int fd = memfd_create("record", 0), err;

	ck_assert_int_gt(length, 0);
	program[length] = '\0';
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, sizeof(struct record)), 0);
	workload->record = map_record(fd);
	ck_assert_ptr_nonnull(workload->record);
	snprintf(descriptor, sizeof(descriptor), "%d", fd);
	workload->record->waiter_pid = getpid();
	atomic_store(&workload->record->may_start, how.is_early);
	err = rt_command_start(&workload->command, &opts);
	close(fd);
	if (err == -EOPNOTSUPP && how.accounting > RT_ACCOUNTING_WAIT) {
		suite_skip_test("this accounting method cannot be had here");
		return false;
	}
	ck_assert_int_eq(err, 0);
	if (!how.is_early && !how.is_waiting)
		atomic_store(&workload->record->may_start, true);
	return true;
}

void finish_workload(struct workload *workload)
{
	struct rt_outcome *outcome = &workload->outcome;

	ck_assert_int_eq(
	    rt_command_wait(workload->command, WAIT_FOREVER, outcome, sizeof(*outcome)), 0);
	ck_assert_int_eq(outcome->exit_code, EXIT_CODE);
	ck_assert_int_eq(outcome->signal, 0);
}

bool run_workload(struct workload *workload, const char *name, struct workload_opts opts)
{
	for (int i = 0; start_workload(workload, name, opts); i++) {
		const struct rt_outcome *outcome = &workload->outcome;

		finish_workload(workload);
		if (outcome->valid & RT_HAS_PROCESSES)
			return true;
		ck_assert_uint_ne(outcome->partial & RT_HAS_PROCESSES, 0);
		ck_assert_uint_le(outcome->processes, atomic_load(&workload->record->forks) + 1);
		if (i == TRIES)
			ck_abort_msg("events were lost");
		free_workload(workload);
	}
	return false;
}

void free_workload(struct workload *workload)
{
	rt_command_free(workload->command);
	munmap(workload->record, sizeof(*workload->record));
}

bool has_process_events(void)
{
	const char *argv[] = { "true", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .accounting = RT_ACCOUNTING_WAIT };
	struct rt_outcome outcome = { 0 };
	struct rt_command *command;

	if (rt_command_start(&command, &opts) < 0)
		return false;
	rt_command_wait(command, WAIT_FOREVER, &outcome, sizeof(outcome));
	rt_command_free(command);
	return (outcome.valid & RT_HAS_PROCESSES) != 0;
}
