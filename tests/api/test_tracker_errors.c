/* SPDX-License-Identifier: MIT */
/* The documented errors of the calls on trackers. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "arguments.h"
#include "children.h"
#include "fixture.h"
#include "suite.h"

/* Both kinds of tracker take the same options. */
static int new_tracker(int kind, struct rt_tracker **out, const struct rt_opts *opts)
{
	return kind == RT_KIND_PID ? rt_pid_tracker_new(out, getpid(), opts)
	                           : rt_system_tracker_new(out, opts);
}

/* On failure the constructor sets the out parameter to NULL. */
static void check_new_tracker(int kind, const struct rt_opts *opts, int expected)
{
	struct rt_tracker *tracker = (struct rt_tracker *)&tracker;

	ck_assert_int_eq(new_tracker(kind, &tracker, opts), expected);
	ck_assert_msg(!tracker == (expected != 0), "kind %d, expected %d: *out is %p", kind,
	              expected, (void *)tracker);
	rt_tracker_free(tracker);
}

static uint32_t flags_of_kind(int kind)
{
	return kind == RT_KIND_PID
	           ? RT_OPT_NO_CHILDREN | RT_OPT_PROCESS_EVENTS | RT_OPT_NO_MEMORY_READS |
	                 RT_OPT_IO_WITH_REAPED | RT_OPT_PSS_READS
	           : RT_OPT_NETWORK_FILESYSTEMS | RT_OPT_OWN_LIMITS;
}

START_TEST(new_tracker_with_good_options_succeeds)
{
	const struct rt_opts all_defaults = { .size = sizeof(all_defaults) };
	const struct rt_opts oldest = { .size = OPTS_0_1 };
	const struct rt_opts all_flags = { .size = sizeof(all_flags), .flags = flags_of_kind(_i) };

	check_new_tracker(_i, NULL, 0);
	check_new_tracker(_i, &all_defaults, 0);
	check_new_tracker(_i, &oldest, 0);
	check_new_tracker(_i, &all_flags, 0);
}
END_TEST

START_TEST(new_tracker_with_bad_options_is_refused)
{
	const uint32_t size = sizeof(struct rt_opts);
	const struct rt_opts bad[] = {
		{ .size = 0 },
		{ .size = OPTS_0_1 - 1 },
		{ .size = SIZE_LIMIT + 1 },
		{ .size = size, .flags = UINT32_C(1) << 31 },
		{ .size = size, .flags = UINT32_C(1) << 12 },
		{ .size = size, .want = UINT64_C(1) << 63 },
		{ .size = size, .reserved = 1 },
	};

	for (size_t i = 0; i < COUNT_OF(bad); i++)
		check_new_tracker(_i, &bad[i], -EINVAL);
	ck_assert_int_eq(new_tracker(_i, NULL, NULL), -EFAULT);
}
END_TEST

START_TEST(new_tracker_without_proc_returns_enoent)
{
	struct fixture f;
	struct rt_opts o = { .size = sizeof(o), .root = f.root };

	fixture_new(&f);
	fixture_remove(&f, "proc");
	check_new_tracker(_i, &o, -ENOENT);
	fixture_free(&f);
	check_new_tracker(_i, &o, -ENOENT);
}
END_TEST

START_TEST(new_tracker_with_unreadable_proc_returns_eacces)
{
	struct fixture f;
	char proc[160];
	struct rt_opts o = { .size = sizeof(o), .root = f.root };

	fixture_new(&f);
	ck_assert_int_eq(chmod(f.root, 0755), 0);
	strcat(strcpy(proc, f.root), "/proc");
	ck_assert_int_eq(chmod(proc, 0), 0);
	if (geteuid() == 0)
		ck_assert_int_eq(seteuid(65534), 0);
	check_new_tracker(_i, &o, -EACCES);
	if (getuid() == 0)
		ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(chmod(proc, 0755), 0);
	fixture_free(&f);
}
END_TEST

START_TEST(new_tracker_without_free_descriptor_returns_emfile)
{
	struct rlimit limit;
	int lowest_free = dup(STDIN_FILENO);

	ck_assert_int_ge(lowest_free, 0);
	close(lowest_free);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)lowest_free;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	check_new_tracker(_i, NULL, -EMFILE);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	check_new_tracker(_i, NULL, 0);
}
END_TEST

/* An open that waits for a writer would never end. */
START_TEST(fifos_in_place_of_files_are_unknown_figures)
{
	static const char *const names[] = {
		"proc/stat",           "proc/meminfo",     "proc/loadavg",
		"proc/diskstats",      "proc/net/dev",     "proc/uptime",
		"proc/self/mountinfo", "proc/1/mountinfo", "proc/pressure/cpu",
		"proc/vmstat",         "proc/self/status", "proc/sys/kernel/pid_max",
	};
	struct fixture f;
	struct rt_opts o = { .size = sizeof(o), .root = f.root };
	struct rt_tracker *tracker;
	struct rt_metrics m;
	char path[200];

	fixture_new(&f);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		fixture_write(&f, names[i], "");
		fixture_remove(&f, names[i]);
		snprintf(path, sizeof(path), "%s/%s", f.root, names[i]);
		ck_assert_int_eq(mkfifo(path, 0600), 0);
	}
	ck_assert_int_eq(rt_system_tracker_new(&tracker, &o), 0);
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	ck_assert_uint_eq(
	    (m.valid | m.partial | m.estimated) &
		(RT_HAS_CPU | RT_HAS_MEMORY | RT_HAS_LOAD | RT_HAS_DISK | RT_HAS_NETWORK),
	    0);
	rt_tracker_free(tracker);
	fixture_free(&f);
}
END_TEST

START_TEST(pid_tracker_with_bad_pid_is_refused)
{
	static const int32_t bad[] = { 0, -1, INT32_MIN };
	struct rt_tracker *tracker = (struct rt_tracker *)&tracker;

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		ck_assert_int_eq(rt_pid_tracker_new(&tracker, bad[i], NULL), -EINVAL);
		ck_assert_ptr_null(tracker);
	}
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, make_exited_pid(), NULL), -ESRCH);
	ck_assert_ptr_null(tracker);
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, INT32_MAX, NULL), -ESRCH);
	ck_assert_ptr_null(tracker);
}
END_TEST

START_TEST(free_of_null_is_allowed)
{
	rt_tracker_free(NULL);
	rt_command_free(NULL);
}
END_TEST

START_TEST(sample_with_bad_arguments_is_refused)
{
	static const size_t bad[] = { 0, 8, METRICS_0_1 - 1, SIZE_LIMIT + 1, SIZE_MAX };
	struct rt_tracker *tracker = new_self_tracker();
	struct rt_metrics m;

	memset(&m, FILLED, sizeof(m));
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		ck_assert_int_eq(rt_sample(tracker, &m, bad[i]), -EINVAL);
	ck_assert_int_eq(rt_sample(NULL, &m, sizeof(m)), -EFAULT);
	ck_assert_int_eq(rt_sample(tracker, NULL, sizeof(m)), -EFAULT);
	ck_assert(is_filled(&m, sizeof(m)));
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(sample_with_size_of_first_release_fills_that_much)
{
	struct rt_tracker *tracker = new_self_tracker();
	struct rt_metrics m;

	ck_assert_int_eq(rt_sample(tracker, &m, METRICS_0_1), 0);

	ck_assert_uint_eq(m.size, METRICS_0_1);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(peak_poll_before_first_sample_returns_enodata)
{
	struct rt_tracker *tracker = new_self_tracker();

	ck_assert_int_eq(rt_tracker_glance(NULL), -EFAULT);
	ck_assert_int_eq(rt_tracker_glance(tracker), -ENODATA);
	sample(tracker);
	ck_assert_int_eq(rt_tracker_glance(tracker), 0);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(peak_poll_of_system_tracker_returns_eopnotsupp)
{
	struct rt_tracker *tracker = new_system_tracker();

	sample(tracker);

	ck_assert_int_eq(rt_tracker_glance(tracker), -EOPNOTSUPP);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(request_to_read_memory_of_system_tracker_returns_eopnotsupp)
{
	struct rt_tracker *tracker = new_system_tracker();

	ck_assert_int_eq(rt_tracker_read_memory(tracker), -EOPNOTSUPP);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(peak_poll_without_memory_requested_returns_eopnotsupp)
{
	const struct rt_opts opts = { .size = sizeof(opts), .want = RT_HAS_CPU };
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), &opts), 0);
	sample(tracker);

	ck_assert_int_eq(rt_tracker_glance(tracker), -EOPNOTSUPP);
	rt_tracker_free(tracker);
}
END_TEST

/* Use CPU time in user mode until the process has so much of it. */
static void burn_user_seconds(double seconds)
{
	struct rusage used;

	do
		getrusage(RUSAGE_SELF, &used);
	while ((double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6 < seconds);
}

static void run_until_killed(int ready_fd)
{
	burn_user_seconds(0.05);
	if (write(ready_fd, "x", 1) != 1)
		_exit(1);
	pause();
	_exit(0);
}

START_TEST(sample_after_tree_has_ended_returns_esrch_and_last_totals)
{
	struct rt_tracker *tracker;
	struct rt_metrics before, after;
	int ready[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		run_until_killed(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, pid, NULL), 0);
	before = sample(tracker);
	/* The kernel divides the exact CPU time by ticks, and the ticks have gone on since. */
	ck_assert_uint_ge(before.cpu_user_ns, 40000000);

	ck_assert_int_eq(kill_process(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(rt_sample(tracker, &after, sizeof(after)), -ESRCH);
		ck_assert_uint_eq(after.size, sizeof(after));
		ck_assert_uint_ge(after.cpu_user_ns, before.cpu_user_ns);
	}
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(status_of_valid_bit_is_zero_and_of_others_an_error)
{
	struct rt_tracker *tracker = new_self_tracker();
	struct rt_metrics m;

	ck_assert_int_eq(rt_tracker_status(NULL, RT_HAS_CPU), -EFAULT);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_CPU), -ENODATA);
	m = sample(tracker);
	ck_assert_uint_ne(m.valid & RT_HAS_CPU, 0);
	for (int bit = 0; bit < 64; bit++) {
		if (m.valid >> bit & 1)
			ck_assert_int_eq(rt_tracker_status(tracker, UINT64_C(1) << bit), 0);
	}
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_DISK), -EOPNOTSUPP);
	ck_assert_int_eq(rt_tracker_status(tracker, 0), -EINVAL);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_CPU | RT_HAS_RSS), -EINVAL);
	ck_assert_int_eq(rt_tracker_status(tracker, UINT64_C(1) << 63), -EINVAL);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(status_of_unrequested_bit_returns_eopnotsupp)
{
	struct rt_opts o = { .size = sizeof(o), .want = RT_HAS_CPU };
	struct rt_tracker *tracker;
	struct rt_metrics m;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), &o), 0);
	m = sample(tracker);
	ck_assert_uint_eq(m.valid & (RT_HAS_CPU | RT_HAS_PSS | RT_HAS_IO), RT_HAS_CPU);
	ck_assert_uint_eq(m.pss_bytes, 0);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_PSS), -EOPNOTSUPP);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_IO), -EOPNOTSUPP);
	rt_tracker_free(tracker);
}
END_TEST

/* The six lists, with the same signature. */
static int list_processes(const struct rt_tracker *tracker, void *array, size_t size, size_t *count)
{
	return rt_tracker_processes(tracker, array, size, count);
}

static int list_cpus(const struct rt_tracker *tracker, void *array, size_t size, size_t *count)
{
	return rt_tracker_cpus(tracker, array, size, count);
}

static int list_disks(const struct rt_tracker *tracker, void *array, size_t size, size_t *count)
{
	return rt_tracker_disks(tracker, array, size, count);
}

static int list_filesystems(const struct rt_tracker *tracker, void *array, size_t size,
                            size_t *count)
{
	return rt_tracker_filesystems(tracker, array, size, count);
}

static int list_networks(const struct rt_tracker *tracker, void *array, size_t size, size_t *count)
{
	return rt_tracker_networks(tracker, array, size, count);
}

static int list_zpools(const struct rt_tracker *tracker, void *array, size_t size, size_t *count)
{
	return rt_tracker_zpools(tracker, array, size, count);
}

static int list_gpus(const struct rt_tracker *tracker, void *array, size_t size, size_t *count)
{
	return rt_tracker_gpus(tracker, array, size, count);
}

static int list_gpu_processes(const struct rt_tracker *tracker, void *array, size_t size,
                              size_t *count)
{
	return rt_tracker_gpu_processes(tracker, array, size, count);
}

static const struct list {
	int (*call)(const struct rt_tracker *tracker, void *array, size_t size, size_t *count);
	size_t size;
	size_t size_0_1;
	int kind;
	bool may_lack; /* the system may have none, or no way to list them */
	uint64_t want; /* 0: listed by default */
} list_calls[] = {
	{ list_processes, sizeof(struct rt_process), PROCESS_0_1, RT_KIND_PID, false },
	{ list_cpus, sizeof(struct rt_cpu), CPU_0_1, RT_KIND_SYSTEM, false },
	{ list_disks, sizeof(struct rt_disk), sizeof(struct rt_disk), RT_KIND_SYSTEM, true },
	{ list_filesystems, sizeof(struct rt_filesystem), sizeof(struct rt_filesystem),
	  RT_KIND_SYSTEM, true },
	{ list_networks, sizeof(struct rt_network), sizeof(struct rt_network), RT_KIND_SYSTEM,
	  true },
	{ list_zpools, sizeof(struct rt_zpool), sizeof(struct rt_zpool), RT_KIND_SYSTEM, true },
	{ list_gpus, sizeof(struct rt_gpu), sizeof(struct rt_gpu), RT_KIND_SYSTEM, true,
	  RT_HAS_GPU },
	{ list_gpu_processes, sizeof(struct rt_gpu_process), sizeof(struct rt_gpu_process),
	  RT_KIND_SYSTEM, true, RT_HAS_GPU_MEMORY },
};
#define LISTS ((int)(COUNT_OF(list_calls)))

static struct rt_tracker *new_tracker_of_kind(int kind)
{
	return kind == RT_KIND_PID ? new_self_tracker() : new_system_tracker();
}

static struct rt_tracker *new_tracker_for(const struct list *l)
{
	const struct rt_opts opts = { .size = sizeof(opts), .want = l->want };
	struct rt_tracker *tracker;

	if (!l->want)
		return new_tracker_of_kind(l->kind);
	ck_assert_int_eq(rt_system_tracker_new(&tracker, &opts), 0);
	return tracker;
}

START_TEST(list_with_bad_arguments_is_refused)
{
	const struct list *l = &list_calls[_i];
	const size_t bad[] = { 0, l->size_0_1 - 1, SIZE_LIMIT + 1, SIZE_MAX };
	struct rt_tracker *tracker = new_tracker_for(l);
	struct rt_tracker *other = new_tracker_of_kind(RT_KIND_PID + RT_KIND_SYSTEM - l->kind);
	size_t count = 0;

	ck_assert_int_eq(l->call(tracker, NULL, l->size, &count), -ENODATA);
	sample(tracker);
	sample(other);
	ck_assert_int_eq(l->call(other, NULL, l->size, &count), -EOPNOTSUPP);
	ck_assert_int_eq(l->call(NULL, NULL, l->size, &count), -EFAULT);
	ck_assert_int_eq(l->call(tracker, NULL, l->size, NULL), -EFAULT);
	count = 1;
	ck_assert_int_eq(l->call(tracker, NULL, l->size, &count), -EFAULT);
	count = 0;
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		ck_assert_int_eq(l->call(tracker, NULL, bad[i], &count), -EINVAL);
	rt_tracker_free(tracker);
	rt_tracker_free(other);
}
END_TEST

START_TEST(list_with_spare_room_sets_count_and_writes_no_more)
{
	const struct list *l = &list_calls[_i];
	struct rt_tracker *tracker = new_tracker_for(l);
	size_t count = 0, items;
	char *rows;
	int err;

	sample(tracker);
	err = l->call(tracker, NULL, l->size, &count);
	ck_assert(err == 0 || (err == -ENODATA && l->may_lack));
	items = err ? 0 : count;
	ck_assert(items > 0 || l->may_lack);
	rows = malloc((items + 1) * l->size);
	memset(rows, FILLED, (items + 1) * l->size);
	count = items + 1;

	ck_assert_int_eq(l->call(tracker, rows, l->size, &count), err);

	if (err == 0)
		ck_assert_uint_eq(count, items);
	ck_assert(is_filled(rows + items * l->size, l->size));
	free(rows);
	rt_tracker_free(tracker);
}
END_TEST

/* A GPU is not touched unless it is asked for. */
START_TEST(gpus_that_are_not_wanted_are_not_listed)
{
	struct rt_tracker *tracker = new_system_tracker();
	size_t count = 0;

	sample(tracker);
	ck_assert_int_eq(rt_tracker_gpus(tracker, NULL, sizeof(struct rt_gpu), &count),
	                 -EOPNOTSUPP);
	ck_assert_int_eq(
	    rt_tracker_gpu_processes(tracker, NULL, sizeof(struct rt_gpu_process), &count),
	    -EOPNOTSUPP);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_GPU), -EOPNOTSUPP);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(diff_with_bad_arguments_is_refused)
{
	static const size_t bad[] = { 0, DELTA_0_1 - 1, SIZE_LIMIT + 1, SIZE_MAX };
	struct rt_tracker *tracker = new_self_tracker();
	struct rt_metrics from = sample(tracker), to = sample(tracker), cut;
	struct rt_delta d;

	memset(&d, FILLED, sizeof(d));
	ck_assert_int_eq(rt_diff(NULL, &to, &d, sizeof(d)), -EFAULT);
	ck_assert_int_eq(rt_diff(&from, NULL, &d, sizeof(d)), -EFAULT);
	ck_assert_int_eq(rt_diff(&from, &to, NULL, sizeof(d)), -EFAULT);
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		ck_assert_int_eq(rt_diff(&from, &to, &d, bad[i]), -EINVAL);
	cut = from;
	cut.size = 0;
	ck_assert_int_eq(rt_diff(&cut, &to, &d, sizeof(d)), -EINVAL);
	cut = to;
	cut.size = SIZE_LIMIT + 1;
	ck_assert_int_eq(rt_diff(&from, &cut, &d, sizeof(d)), -EINVAL);
	ck_assert_int_eq(rt_diff(&to, &from, &d, sizeof(d)), -EINVAL);
	ck_assert(is_filled(&d, sizeof(d)));
	ck_assert_int_eq(rt_diff(&from, &to, &d, sizeof(d)), 0);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(diff_of_samples_of_two_trackers_returns_estale)
{
	struct rt_tracker *a = new_self_tracker(), *b = new_self_tracker();
	struct rt_tracker *s = new_system_tracker();
	struct rt_metrics of_a = sample(a), of_b = sample(b), of_s = sample(s);
	struct rt_delta d;

	ck_assert_int_eq(rt_diff(&of_a, &of_b, &d, sizeof(d)), -ESTALE);
	ck_assert_int_eq(rt_diff(&of_a, &of_s, &d, sizeof(d)), -ESTALE);
	rt_tracker_free(a);
	a = new_self_tracker();
	of_b = sample(a);
	ck_assert_int_eq(rt_diff(&of_a, &of_b, &d, sizeof(d)), -ESTALE);
	rt_tracker_free(a);
	rt_tracker_free(b);
	rt_tracker_free(s);
}
END_TEST

START_TEST(diff_of_one_sample_with_itself_has_no_rate)
{
	struct rt_tracker *tracker = new_self_tracker();
	struct rt_metrics m = sample(tracker);
	struct rt_delta d;

	ck_assert_int_eq(rt_diff(&m, &m, &d, sizeof(d)), 0);

	ck_assert_uint_eq(d.interval_ns, 0);
	ck_assert_uint_eq(d.valid & RT_HAS_RATE, 0);
	ck_assert_uint_ne(d.valid & RT_HAS_CPU, 0);
	ck_assert_double_eq(d.cores_used, 0);
	ck_assert_uint_eq(d.cpu_user_ns + d.cpu_system_ns, 0);
	rt_tracker_free(tracker);
}
END_TEST

/* A program with an older header has kept one of the two. */
START_TEST(diff_of_a_shorter_sample_lacks_the_counters_past_its_end)
{
	struct rt_tracker *tracker = new_self_tracker();
	struct rt_metrics pair[2] = { sample(tracker), sample(tracker) };
	struct rt_delta d;

	ck_assert_int_eq(rt_diff(&pair[0], &pair[1], &d, sizeof(d)), 0);
	ck_assert_uint_ne(d.valid & RT_HAS_IO_CALLS, 0);

	pair[_i].size = offsetof(struct rt_metrics, read_calls);
	ck_assert_int_eq(rt_diff(&pair[0], &pair[1], &d, sizeof(d)), 0);
	ck_assert_uint_eq((d.valid | d.partial | d.estimated) & RT_HAS_IO_CALLS, 0);
	ck_assert_uint_ne(d.valid & RT_HAS_IO, 0);

	/* Two counters have this bit. One of them is not enough. */
	pair[_i].size += (uint32_t)sizeof(uint64_t);
	ck_assert_int_eq(rt_diff(&pair[0], &pair[1], &d, sizeof(d)), 0);
	ck_assert_uint_eq((d.valid | d.partial | d.estimated) & RT_HAS_IO_CALLS, 0);
	rt_tracker_free(tracker);
}
END_TEST

static void add_constructors(TCase *tcase)
{
	const int first = RT_KIND_PID, end = RT_KIND_SYSTEM + 1;

	tcase_add_loop_test(tcase, new_tracker_with_good_options_succeeds, first, end);
	tcase_add_loop_test(tcase, new_tracker_with_bad_options_is_refused, first, end);
	tcase_add_loop_test(tcase, new_tracker_without_proc_returns_enoent, first, end);
	tcase_add_loop_test(tcase, new_tracker_with_unreadable_proc_returns_eacces, first, end);
	tcase_add_loop_test(tcase, new_tracker_without_free_descriptor_returns_emfile, first, end);
	tcase_add_test(tcase, fifos_in_place_of_files_are_unknown_figures);
	tcase_add_test(tcase, pid_tracker_with_bad_pid_is_refused);
	tcase_add_test(tcase, free_of_null_is_allowed);
}

int main(void)
{
	Suite *suite = suite_create("tracker_errors");
	TCase *samples, *peak_polls, *lists, *diffs;

	add_constructors(suite_case(suite, "constructors"));
	samples = suite_case(suite, "samples");
	tcase_add_test(samples, sample_with_bad_arguments_is_refused);
	tcase_add_test(samples, sample_with_size_of_first_release_fills_that_much);
	tcase_add_test(samples, sample_after_tree_has_ended_returns_esrch_and_last_totals);
	tcase_add_test(samples, status_of_valid_bit_is_zero_and_of_others_an_error);
	tcase_add_test(samples, status_of_unrequested_bit_returns_eopnotsupp);
	peak_polls = suite_case(suite, "peak polls");
	tcase_add_test(peak_polls, peak_poll_before_first_sample_returns_enodata);
	tcase_add_test(peak_polls, peak_poll_of_system_tracker_returns_eopnotsupp);
	tcase_add_test(peak_polls, request_to_read_memory_of_system_tracker_returns_eopnotsupp);
	tcase_add_test(peak_polls, peak_poll_without_memory_requested_returns_eopnotsupp);
	lists = suite_case(suite, "lists");
	tcase_add_loop_test(lists, list_with_bad_arguments_is_refused, 0, LISTS);
	tcase_add_loop_test(lists, list_with_spare_room_sets_count_and_writes_no_more, 0, LISTS);
	tcase_add_test(lists, gpus_that_are_not_wanted_are_not_listed);
	diffs = suite_case(suite, "diffs");
	tcase_add_test(diffs, diff_with_bad_arguments_is_refused);
	tcase_add_test(diffs, diff_of_samples_of_two_trackers_returns_estale);
	tcase_add_test(diffs, diff_of_one_sample_with_itself_has_no_rate);
	tcase_add_loop_test(diffs, diff_of_a_shorter_sample_lacks_the_counters_past_its_end, 0, 2);
	return suite_run(suite);
}
