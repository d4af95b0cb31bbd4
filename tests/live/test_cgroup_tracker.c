/* SPDX-License-Identifier: MIT */
/* A real cgroup that the test makes, in each hierarchy where it may: what is reported of it, beside
 * its own files and what its processes say of themselves. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"
#include "tracking.h"

#define HIERARCHIES_MAX 8
#define HELD_BYTES ((size_t)50 << 20)
#define BURNT_NS UINT64_C(150000000)
#define CHILDREN_MAX 4

/* The directories of the cgroup, and the processes in it. */
static struct {
	char name[64];
	char dir[HIERARCHIES_MAX][256];
	int count;
	char cpu[300], memory[300]; /* directories of the accounts; "": there is none */
	bool is_cpu_v2, is_memory_v2;
	pid_t child[CHILDREN_MAX];
	int children;
} group;

static uint64_t read_number(const char *dir, const char *file, const char *key)
{
	char path[512], line[256];
	unsigned long long number = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "re");
	ck_assert_msg(f, "%s", path);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0 &&
		    sscanf(line + strlen(key), "%llu", &number) == 1)
			break;
	fclose(f);
	return number;
}

static bool write_text(const char *dir, const char *file, const char *text)
{
	char path[512];
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text);
}

static bool has_file(const char *dir, const char *file)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return access(path, R_OK) == 0;
}

/* Not in hierarchies that change how processes run: cpu, cpuset, freezer and the like. */
static bool is_harmless(const char *type, const char *options)
{
	if (strcmp(type, "cgroup2") == 0)
		return true;
	return strcmp(type, "cgroup") == 0 && !strstr(options, "cpu,") &&
	       !strstr(options, "cpuset") &&
	       (strstr(options, "cpuacct") || strstr(options, "memory") || strstr(options, "pids"));
}

static void make_in(const char *point, const char *type)
{
	char dir[256];

	snprintf(dir, sizeof(dir), "%s/rtrack-live-%d", point, getpid());
	if (mkdir(dir, 0755) < 0)
		return;
	snprintf(group.dir[group.count++], sizeof(group.dir[0]), "%s", dir);
	if (has_file(dir, "cpu.stat") || (!group.cpu[0] && has_file(dir, "cpuacct.usage"))) {
		snprintf(group.cpu, sizeof(group.cpu), "%s", dir);
		group.is_cpu_v2 = strcmp(type, "cgroup2") == 0;
	}
	if (has_file(dir, "memory.current") || has_file(dir, "memory.usage_in_bytes")) {
		snprintf(group.memory, sizeof(group.memory), "%s", dir);
		group.is_memory_v2 = strcmp(type, "cgroup2") == 0;
	}
}

static void make_cgroup(void)
{
	char line[1024], root[256], point[128], type[32], options[256];
	FILE *f = fopen("/proc/self/mountinfo", "re");

	memset(&group, 0, sizeof(group));
	snprintf(group.name, sizeof(group.name), "/rtrack-live-%d", getpid());
	while (f && group.count < HIERARCHIES_MAX && fgets(line, sizeof(line), f)) {
		const char *rest = strstr(line, " - ");

		if (rest && sscanf(line, "%*s %*s %*s %255s %127s", root, point) == 2 &&
		    sscanf(rest, " - %31s %*s %255s", type, options) == 2 &&
		    strcmp(root, "/") == 0 && is_harmless(type, options))
			make_in(point, type);
	}
	if (f)
		fclose(f);
}

/* A process that has just ended may keep the directory for a moment. */
static void remove_dirs(void)
{
	const struct timespec nap = { .tv_nsec = 10000000 };

	for (int i = 0; i < group.count; i++)
		for (int tries = 0; rmdir(group.dir[i]) < 0 && errno == EBUSY && tries < 1000;
		     tries++)
			nanosleep(&nap, NULL);
	group.count = 0;
}

static void end_child(int i)
{
	if (group.child[i] <= 0)
		return;
	kill(group.child[i], SIGKILL);
	waitpid(group.child[i], NULL, 0);
	group.child[i] = 0;
}

static void tear_down(void)
{
	for (int i = 0; i < group.children; i++)
		end_child(i);
	remove_dirs();
}

static bool enter(void)
{
	bool is_in = true;

	for (int i = 0; i < group.count; i++)
		is_in &= write_text(group.dir[i], "cgroup.procs", "0");
	return is_in;
}

static uint64_t own_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Use CPU time in the cgroup, a part of it in children that no process waits for. Tell what was
 * used at least. */
static void burn(volatile uint64_t *used_ns)
{
	uint64_t start_ns = own_cpu_ns();

	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			while (own_cpu_ns() < BURNT_NS / 3)
				;
			_exit(0);
		}
		while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	while (own_cpu_ns() - start_ns < BURNT_NS)
		;
	*used_ns = own_cpu_ns() - start_ns + BURNT_NS;
}

static void hold(volatile uint64_t *is_held)
{
	char *memory =
	    mmap(NULL, HELD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory != MAP_FAILED) {
		memset(memory, 1, HELD_BYTES);
		*is_held = 1;
	}
	for (;;)
		pause();
}

static void stay(volatile uint64_t *is_there)
{
	*is_there = 1;
	for (;;)
		pause();
}

/* Start a process in the cgroup. */
static pid_t start(void (*run)(volatile uint64_t *), volatile uint64_t *result)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (!enter())
			_exit(1);
		run(result);
		_exit(0);
	}
	group.child[group.children++] = pid;
	return pid;
}

static void wait_for(volatile uint64_t *result)
{
	const struct timespec nap = { .tv_nsec = 1000000 };

	for (int tries = 0; *result == 0 && tries < 100000; tries++)
		nanosleep(&nap, NULL);
	ck_assert_uint_ne(*result, 0);
}

static struct rt_tracker *track_name(const char *name, uint64_t want)
{
	char message[256] = "";
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .want = want,
		                      .message = message,
		                      .message_size = sizeof(message),
		                      .pss_share = 1000 };
	struct rt_tracker *t;
	int err = rt_cgroup_tracker_new(&t, name, &opts);

	ck_assert_msg(err == 0, "%d: %s", err, message);
	return t;
}

static struct rt_tracker *track_cgroup(uint64_t want)
{
	return track_name(group.name, want);
}

static uint64_t account_ns(void)
{
	if (group.is_cpu_v2)
		return read_number(group.cpu, "cpu.stat", "usage_usec ") * 1000;
	return read_number(group.cpu, "cpuacct.usage", "");
}

START_TEST(cpu_time_is_that_of_the_account)
{
	volatile uint64_t *used_ns = map_shared(sizeof(*used_ns));
	struct rt_tracker *t = track_cgroup(0);
	struct rt_metrics first = sample(t), m;
	struct rt_delta delta;
	uint64_t before_ns, after_ns;

	ck_assert_uint_eq(first.processes, 0);
	start(burn, used_ns);
	wait_for(used_ns);
	before_ns = account_ns();
	m = sample(t);
	after_ns = account_ns();
	ck_assert(m.valid & RT_HAS_CPU);
	ck_assert_uint_le(before_ns, get_sampled_ns(&m));
	ck_assert_uint_le(get_sampled_ns(&m), after_ns);
	/* The account of the process itself, and of the children that it did not wait for. A tick
	 * may be charged late. */
	ck_assert_uint_ge(get_sampled_ns(&m) + 20000000, *used_ns);
	ck_assert_int_eq(rt_diff(&first, &m, &delta, sizeof(delta)), 0);
	ck_assert_uint_eq(delta.cpu_user_ns + delta.cpu_system_ns,
	                  get_sampled_ns(&m) - get_sampled_ns(&first));
	rt_tracker_free(t);
}
END_TEST

START_TEST(memory_is_charged_and_its_members_are_listed)
{
	volatile uint64_t *is_held = map_shared(sizeof(*is_held));
	struct rt_tracker *t = track_cgroup(rt_default_domains(RT_KIND_CGROUP));
	struct rt_process row;
	struct rt_metrics m;
	size_t count = 1;
	pid_t pid = start(hold, is_held);

	wait_for(is_held);
	m = sample(t);
	ck_assert_uint_eq(m.processes, 1);
	ck_assert_uint_eq(m.threads, 1);
	ck_assert_uint_ge(m.rss_bytes, HELD_BYTES);
	ck_assert(m.valid & RT_HAS_PSS);
	ck_assert_uint_ge(m.pss_bytes, HELD_BYTES);
	ck_assert_int_eq(rt_tracker_processes(t, &row, sizeof(row), &count), 0);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(row.pid, pid);
	if (group.memory[0]) {
		ck_assert(m.valid & RT_HAS_CGROUP_MEMORY);
		ck_assert_uint_ge(m.cgroup_memory_bytes, HELD_BYTES);
		ck_assert_uint_le(m.cgroup_memory_bytes, 4 * HELD_BYTES);
	}
	end_child(0);
	m = sample(t);
	ck_assert_uint_eq(m.processes, 0);
	ck_assert_uint_eq(m.rss_bytes, 0);
	if (m.valid & RT_HAS_CGROUP_MEMORY_PEAK)
		ck_assert_uint_ge(m.cgroup_memory_peak_bytes, HELD_BYTES);
	rt_tracker_free(t);
}
END_TEST

START_TEST(process_that_moves_out_is_no_member)
{
	volatile uint64_t *is_there = map_shared(sizeof(*is_there));
	struct rt_tracker *t = track_cgroup(RT_HAS_PROCESSES | RT_HAS_RSS);
	char text[32], up[300];
	pid_t pid = start(stay, is_there);

	wait_for(is_there);
	ck_assert_uint_eq(sample(t).processes, 1);
	snprintf(text, sizeof(text), "%d", pid);
	for (int i = 0; i < group.count; i++) {
		snprintf(up, sizeof(up), "%s/..", group.dir[i]);
		ck_assert(write_text(up, "cgroup.procs", text));
	}
	ck_assert_uint_eq(sample(t).processes, 0);
	rt_tracker_free(t);
}
END_TEST

/* The kernel keeps the list of a file of v1 that stays open for a second after each read. */
START_TEST(members_are_those_of_now_in_each_hierarchy)
{
	struct rt_tracker *t[HIERARCHIES_MAX];
	volatile uint64_t *is_there = map_shared(2 * sizeof(*is_there));

	for (int i = 0; i < group.count; i++) {
		t[i] = track_name(group.dir[i], RT_HAS_PROCESSES);
		ck_assert_uint_eq(sample(t[i]).processes, 0);
	}
	for (int children = 1; children <= 2; children++) {
		start(stay, &is_there[children - 1]);
		wait_for(&is_there[children - 1]);
		for (int i = 0; i < group.count; i++)
			ck_assert_msg(sample(t[i]).processes == (uint64_t)children, "%s",
			              group.dir[i]);
	}
	for (int i = 0; i < group.count; i++)
		rt_tracker_free(t[i]);
}
END_TEST

START_TEST(removed_cgroup_ends_and_its_namesake_is_another)
{
	volatile uint64_t *used_ns = map_shared(sizeof(*used_ns));
	struct rt_tracker *t = track_cgroup(0);
	struct rt_metrics m, last;
	char first[256];

	start(burn, used_ns);
	wait_for(used_ns);
	waitpid(group.child[0], NULL, 0);
	group.child[0] = 0;
	m = sample(t);
	snprintf(first, sizeof(first), "%s", group.dir[0]);
	remove_dirs();
	ck_assert_int_eq(rt_sample(t, &last, sizeof(last)), -ESRCH);
	ck_assert_uint_eq(get_sampled_ns(&last), get_sampled_ns(&m));
	ck_assert_uint_eq(last.processes, 0);
	ck_assert(last.partial & RT_HAS_CPU);
	ck_assert_int_eq(mkdir(first, 0755), 0);
	ck_assert_int_eq(rt_sample(t, &last, sizeof(last)), -ESRCH);
	ck_assert_int_eq(rmdir(first), 0);
	rt_tracker_free(t);
}
END_TEST

/* The process needs more than the limit, so the kernel kills it, unless it can swap. */
START_TEST(killed_process_is_counted)
{
	volatile uint64_t *is_held = map_shared(sizeof(*is_held));
	const char *file = group.is_memory_v2 ? "memory.max" : "memory.limit_in_bytes";
	struct rt_tracker *t;
	struct rt_metrics m;
	int status;

	if (!group.memory[0] || !write_text(group.memory, file, "20971520"))
		return;
	write_text(group.memory, "memory.swap.max", "0");
	write_text(group.memory, "memory.memsw.limit_in_bytes", "20971520");
	t = track_cgroup(0);
	ck_assert_uint_eq(sample(t).cgroup_oom_kills, 0);
	start(hold, is_held);
	waitpid(group.child[0], &status, 0);
	group.child[0] = 0;
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	m = sample(t);
	ck_assert((m.valid | m.partial) & RT_HAS_CGROUP_OOM_KILLS);
	ck_assert_uint_eq(m.cgroup_oom_kills, 1);
	ck_assert_uint_eq(m.cgroup_memory_limit_bytes, 20971520);
	rt_tracker_free(t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup_tracker");
	TCase *cgroups = suite_case(suite, "cgroups");
	bool has_cpu;

	make_cgroup();
	has_cpu = group.cpu[0];
	remove_dirs();
	if (!has_cpu)
		return suite_skip("this user may make no cgroup that accounts for CPU time");
	tcase_add_checked_fixture(cgroups, make_cgroup, tear_down);
	tcase_add_test(cgroups, cpu_time_is_that_of_the_account);
	tcase_add_test(cgroups, memory_is_charged_and_its_members_are_listed);
	tcase_add_test(cgroups, process_that_moves_out_is_no_member);
	tcase_add_test(cgroups, members_are_those_of_now_in_each_hierarchy);
	tcase_add_test(cgroups, removed_cgroup_ends_and_its_namesake_is_another);
	tcase_add_test(cgroups, killed_process_is_counted);
	return suite_run(suite);
}
