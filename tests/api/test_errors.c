/* SPDX-License-Identifier: MIT */
/* The documented error of every public call. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "fixture.h"
#include "suite.h"

#define FILLED 0x5A
#define LARGEST 4096 /* size of a struct that the library takes at most */

/* Where structs that have grown since ended in 0.1: shorter ones have never been. */
#define END_OF(type, field) (offsetof(struct type, field) + sizeof(((struct type *)NULL)->field))
#define OPTS_0_1 END_OF(rt_opts, reserved)
#define METRICS_0_1 END_OF(rt_metrics, zfs_pools)
#define PROCESS_0_1 END_OF(rt_process, threads)
#define OUTCOME_0_1 END_OF(rt_outcome, overhead_cpu_ns)

static int is_filled(const void *data, size_t size)
{
	const unsigned char *bytes = data;

	while (size > 0 && bytes[size - 1] == FILLED)
		size--;
	return size == 0;
}

/* A pid that was just used and is free now: no other process takes it before the kernel has gone
 * round. */
static pid_t departed_pid(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return pid;
}

static struct rt_tracker *self_tracker(void)
{
	struct rt_tracker *t;

	ck_assert_int_eq(rt_pid_tracker_new(&t, getpid(), NULL), 0);
	return t;
}

static struct rt_tracker *system_tracker(void)
{
	struct rt_tracker *t;

	ck_assert_int_eq(rt_system_tracker_new(&t, NULL), 0);
	return t;
}

static struct rt_metrics sample(struct rt_tracker *t)
{
	struct rt_metrics m;

	ck_assert_int_eq(rt_sample(t, &m, sizeof(m)), 0);
	return m;
}

START_TEST(version_is_that_of_the_headers)
{
	ck_assert_uint_eq(rt_version(), RT_VERSION);
	ck_assert_uint_eq(RT_VERSION_ENCODE(0, 1, 2), 0x000102);
}
END_TEST

START_TEST(every_error_number_has_words)
{
	static const int documented[] = { EINVAL, EFAULT,  ESRCH,      ENOENT,  EMFILE,    ENOMEM,
		                          E2BIG,  EACCES,  EOPNOTSUPP, EBADMSG, ETIMEDOUT, ENODATA,
		                          ESTALE, ENOEXEC, EAGAIN,     EINTR,   ECHILD };

	for (size_t i = 0; i < sizeof(documented) / sizeof(documented[0]); i++) {
		ck_assert_str_eq(rt_strerror(-documented[i]), rt_strerror(documented[i]));
		ck_assert_uint_gt(strlen(rt_strerror(-documented[i])), 0);
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(rt_strerror(-documented[i]), rt_strerror(-documented[j]));
	}
	ck_assert_ptr_nonnull(rt_strerror(0));
	ck_assert_str_ne(rt_strerror(0), rt_strerror(-EINVAL));
	ck_assert_ptr_nonnull(rt_strerror(-99999));
	ck_assert_ptr_nonnull(rt_strerror(INT_MIN));
	ck_assert_ptr_nonnull(rt_strerror(INT_MAX));
}
END_TEST

START_TEST(getrusage_refuses)
{
	static const int unknown[] = { 2, -2, 3, INT_MAX, INT_MIN };
	struct rt_rusage usage;

	memset(&usage, FILLED, sizeof(usage));
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		ck_assert_int_eq(rt_getrusage(unknown[i], &usage), -EINVAL);
	ck_assert(is_filled(&usage, sizeof(usage)));
	ck_assert_int_eq(rt_getrusage(RT_RUSAGE_SELF, NULL), -EFAULT);
}
END_TEST

struct visitor {
	pthread_barrier_t barrier;
	int32_t tid;
};

static void *stay_until_seen(void *arg)
{
	struct visitor *visitor = arg;

	visitor->tid = (int32_t)syscall(SYS_gettid);
	pthread_barrier_wait(&visitor->barrier);
	pthread_barrier_wait(&visitor->barrier);
	return NULL;
}

START_TEST(pid_getrusage_refuses)
{
	static const int32_t ill[] = { 0, -1, INT32_MIN };
	struct rt_rusage usage;
	uint32_t valid = 0xDEAD;

	memset(&usage, FILLED, sizeof(usage));
	for (size_t i = 0; i < sizeof(ill) / sizeof(ill[0]); i++)
		ck_assert_int_eq(rt_pid_getrusage(ill[i], &usage, &valid), -EINVAL);
	ck_assert_int_eq(rt_pid_getrusage(departed_pid(), &usage, &valid), -ESRCH);
	ck_assert_int_eq(rt_pid_getrusage(INT32_MAX, &usage, &valid), -ESRCH);
	ck_assert_int_eq(rt_pid_getrusage(getpid(), NULL, &valid), -EFAULT);
	ck_assert_int_eq(rt_pid_getrusage(getpid(), &usage, NULL), -EFAULT);
	ck_assert(is_filled(&usage, sizeof(usage)));
	ck_assert_uint_eq(valid, 0xDEAD);
}
END_TEST

START_TEST(pid_getrusage_refuses_a_thread)
{
	struct visitor visitor;
	struct rt_rusage usage;
	pthread_t thread;
	uint32_t valid;

	pthread_barrier_init(&visitor.barrier, NULL, 2);
	ck_assert_int_eq(pthread_create(&thread, NULL, stay_until_seen, &visitor), 0);
	pthread_barrier_wait(&visitor.barrier);
	ck_assert_int_eq(rt_pid_getrusage(visitor.tid, &usage, &valid), -ESRCH);
	pthread_barrier_wait(&visitor.barrier);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&visitor.barrier);
}
END_TEST

/* Both constructors take the same options. */
static int new_tracker(int kind, struct rt_tracker **out, const struct rt_opts *opts)
{
	return kind == RT_KIND_PID ? rt_pid_tracker_new(out, getpid(), opts)
	                           : rt_system_tracker_new(out, opts);
}

static void assert_opts(int kind, const struct rt_opts *opts, int expected)
{
	struct rt_tracker *t = (struct rt_tracker *)&t;

	ck_assert_int_eq(new_tracker(kind, &t, opts), expected);
	ck_assert_msg(!t == (expected != 0), "kind %d, expected %d: *out is %p", kind, expected,
	              (void *)t);
	rt_tracker_free(t);
}

START_TEST(constructors_refuse_options)
{
	const struct rt_opts good = { .size = sizeof(good) };
	struct rt_opts o = good;

	assert_opts(_i, NULL, 0);
	assert_opts(_i, &good, 0);
	ck_assert_int_eq(new_tracker(_i, NULL, NULL), -EFAULT);
	o.size = 0;
	assert_opts(_i, &o, -EINVAL);
	o.size = OPTS_0_1 - 1;
	assert_opts(_i, &o, -EINVAL);
	o.size = LARGEST + 1;
	assert_opts(_i, &o, -EINVAL);
	o.size = OPTS_0_1;
	assert_opts(_i, &o, 0);
	o = good;
	o.flags = UINT32_C(1) << 31;
	assert_opts(_i, &o, -EINVAL);
	o.flags = RT_OPT_PROCESS_EVENTS << 1;
	assert_opts(_i, &o, -EINVAL);
	o.flags = RT_OPT_NO_CHILDREN | RT_OPT_NETWORK_FILESYSTEMS | RT_OPT_PROCESS_EVENTS;
	assert_opts(_i, &o, 0);
	o = good;
	o.want = UINT64_C(1) << 63;
	assert_opts(_i, &o, -EINVAL);
	o = good;
	o.reserved = 1;
	assert_opts(_i, &o, -EINVAL);
}
END_TEST

START_TEST(constructors_need_a_proc)
{
	struct fixture f;
	struct rt_opts o = { .size = sizeof(o), .root = f.root };

	fixture_new(&f);
	fixture_remove(&f, "proc");
	assert_opts(_i, &o, -ENOENT);
	fixture_free(&f);
	assert_opts(_i, &o, -ENOENT);
}
END_TEST

START_TEST(constructors_need_the_right_to_read_proc)
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
	assert_opts(_i, &o, -EACCES);
	if (getuid() == 0)
		ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(chmod(proc, 0755), 0);
	fixture_free(&f);
}
END_TEST

START_TEST(constructors_need_descriptors)
{
	struct rlimit limit;
	int lowest_free = dup(STDIN_FILENO);

	ck_assert_int_ge(lowest_free, 0);
	close(lowest_free);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)lowest_free;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_opts(_i, NULL, -EMFILE);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_opts(_i, NULL, 0);
}
END_TEST

START_TEST(pid_tracker_refuses_pids)
{
	static const int32_t ill[] = { 0, -1, INT32_MIN };
	struct rt_tracker *t = (struct rt_tracker *)&t;

	for (size_t i = 0; i < sizeof(ill) / sizeof(ill[0]); i++) {
		ck_assert_int_eq(rt_pid_tracker_new(&t, ill[i], NULL), -EINVAL);
		ck_assert_ptr_null(t);
	}
	ck_assert_int_eq(rt_pid_tracker_new(&t, departed_pid(), NULL), -ESRCH);
	ck_assert_ptr_null(t);
	ck_assert_int_eq(rt_pid_tracker_new(&t, INT32_MAX, NULL), -ESRCH);
	ck_assert_ptr_null(t);
}
END_TEST

START_TEST(nothing_may_be_freed)
{
	rt_tracker_free(NULL);
	rt_command_free(NULL);
}
END_TEST

START_TEST(sample_refuses)
{
	static const size_t ill[] = { 0, 8, METRICS_0_1 - 1, LARGEST + 1, SIZE_MAX };
	struct rt_tracker *t = self_tracker();
	struct rt_metrics m;

	memset(&m, FILLED, sizeof(m));
	for (size_t i = 0; i < sizeof(ill) / sizeof(ill[0]); i++)
		ck_assert_int_eq(rt_sample(t, &m, ill[i]), -EINVAL);
	ck_assert_int_eq(rt_sample(NULL, &m, sizeof(m)), -EFAULT);
	ck_assert_int_eq(rt_sample(t, NULL, sizeof(m)), -EFAULT);
	ck_assert(is_filled(&m, sizeof(m)));
	ck_assert_int_eq(rt_sample(t, &m, METRICS_0_1), 0);
	ck_assert_uint_eq(m.size, METRICS_0_1);
	rt_tracker_free(t);
}
END_TEST

START_TEST(glance_refuses)
{
	struct rt_opts without_memory = { .size = sizeof(without_memory), .want = RT_HAS_CPU };
	struct rt_tracker *t = self_tracker(), *machine = system_tracker();

	ck_assert_int_eq(rt_tracker_glance(NULL), -EFAULT);
	ck_assert_int_eq(rt_tracker_glance(t), -ENODATA);
	sample(t);
	ck_assert_int_eq(rt_tracker_glance(t), 0);
	sample(machine);
	ck_assert_int_eq(rt_tracker_glance(machine), -EOPNOTSUPP);
	rt_tracker_free(t);
	rt_tracker_free(machine);
	ck_assert_int_eq(rt_pid_tracker_new(&t, getpid(), &without_memory), 0);
	sample(t);
	ck_assert_int_eq(rt_tracker_glance(t), -EOPNOTSUPP);
	rt_tracker_free(t);
}
END_TEST

static void burn(double seconds)
{
	struct rusage used;

	do
		getrusage(RUSAGE_SELF, &used);
	while ((double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6 < seconds);
}

START_TEST(sample_of_an_ended_tree_has_the_last_totals)
{
	struct rt_tracker *t;
	struct rt_metrics before, after;
	int ready[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		burn(0.05);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	ck_assert_int_eq(rt_pid_tracker_new(&t, pid, NULL), 0);
	before = sample(t);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(rt_sample(t, &after, sizeof(after)), -ESRCH);
		ck_assert_uint_eq(after.size, sizeof(after));
		ck_assert_uint_ge(before.cpu_user_ns, 50000000);
		ck_assert_uint_ge(after.cpu_user_ns, before.cpu_user_ns);
	}
	rt_tracker_free(t);
}
END_TEST

START_TEST(status_of_a_pid_tracker)
{
	struct rt_tracker *t = self_tracker();
	struct rt_metrics m;

	ck_assert_int_eq(rt_tracker_status(NULL, RT_HAS_CPU), -EFAULT);
	ck_assert_int_eq(rt_tracker_status(t, RT_HAS_CPU), -ENODATA);
	m = sample(t);
	ck_assert_uint_ne(m.valid & RT_HAS_CPU, 0);
	for (int bit = 0; bit < 64; bit++)
		if (m.valid >> bit & 1)
			ck_assert_int_eq(rt_tracker_status(t, UINT64_C(1) << bit), 0);
	ck_assert_int_eq(rt_tracker_status(t, RT_HAS_DISK), -EOPNOTSUPP);
	ck_assert_int_eq(rt_tracker_status(t, 0), -EINVAL);
	ck_assert_int_eq(rt_tracker_status(t, RT_HAS_CPU | RT_HAS_RSS), -EINVAL);
	ck_assert_int_eq(rt_tracker_status(t, UINT64_C(1) << 63), -EINVAL);
	rt_tracker_free(t);
}
END_TEST

START_TEST(status_of_what_is_not_wanted)
{
	struct rt_opts o = { .size = sizeof(o), .want = RT_HAS_CPU };
	struct rt_tracker *t;
	struct rt_metrics m;

	ck_assert_int_eq(rt_pid_tracker_new(&t, getpid(), &o), 0);
	m = sample(t);
	ck_assert_uint_eq(m.valid & (RT_HAS_CPU | RT_HAS_PSS | RT_HAS_IO), RT_HAS_CPU);
	ck_assert_uint_eq(m.pss_bytes, 0);
	ck_assert_int_eq(rt_tracker_status(t, RT_HAS_PSS), -EOPNOTSUPP);
	ck_assert_int_eq(rt_tracker_status(t, RT_HAS_IO), -EOPNOTSUPP);
	rt_tracker_free(t);
}
END_TEST

/* The six lists, behind one signature. */
static int list_processes(const struct rt_tracker *t, void *array, size_t size, size_t *count)
{
	return rt_tracker_processes(t, array, size, count);
}

static int list_cpus(const struct rt_tracker *t, void *array, size_t size, size_t *count)
{
	return rt_tracker_cpus(t, array, size, count);
}

static int list_disks(const struct rt_tracker *t, void *array, size_t size, size_t *count)
{
	return rt_tracker_disks(t, array, size, count);
}

static int list_filesystems(const struct rt_tracker *t, void *array, size_t size, size_t *count)
{
	return rt_tracker_filesystems(t, array, size, count);
}

static int list_networks(const struct rt_tracker *t, void *array, size_t size, size_t *count)
{
	return rt_tracker_networks(t, array, size, count);
}

static int list_zpools(const struct rt_tracker *t, void *array, size_t size, size_t *count)
{
	return rt_tracker_zpools(t, array, size, count);
}

static const struct list {
	int (*call)(const struct rt_tracker *t, void *array, size_t size, size_t *count);
	size_t size;
	size_t size_0_1;
	int kind;
	int may_lack; /* the machine may have none, or no way to tell */
} lists[] = {
	{ list_processes, sizeof(struct rt_process), PROCESS_0_1, RT_KIND_PID, 0 },
	{ list_cpus, sizeof(struct rt_cpu), sizeof(struct rt_cpu), RT_KIND_SYSTEM, 0 },
	{ list_disks, sizeof(struct rt_disk), sizeof(struct rt_disk), RT_KIND_SYSTEM, 1 },
	{ list_filesystems, sizeof(struct rt_filesystem), sizeof(struct rt_filesystem),
	  RT_KIND_SYSTEM, 1 },
	{ list_networks, sizeof(struct rt_network), sizeof(struct rt_network), RT_KIND_SYSTEM, 1 },
	{ list_zpools, sizeof(struct rt_zpool), sizeof(struct rt_zpool), RT_KIND_SYSTEM, 1 },
};
#define LISTS ((int)(sizeof(lists) / sizeof(lists[0])))

static struct rt_tracker *tracker_of_kind(int kind)
{
	return kind == RT_KIND_PID ? self_tracker() : system_tracker();
}

START_TEST(lists_refuse)
{
	const struct list *l = &lists[_i];
	const size_t ill[] = { 0, l->size_0_1 - 1, LARGEST + 1, SIZE_MAX };
	struct rt_tracker *t = tracker_of_kind(l->kind);
	struct rt_tracker *other = tracker_of_kind(RT_KIND_PID + RT_KIND_SYSTEM - l->kind);
	size_t count = 0;

	ck_assert_int_eq(l->call(t, NULL, l->size, &count), -ENODATA);
	sample(t);
	sample(other);
	ck_assert_int_eq(l->call(other, NULL, l->size, &count), -EOPNOTSUPP);
	ck_assert_int_eq(l->call(NULL, NULL, l->size, &count), -EFAULT);
	ck_assert_int_eq(l->call(t, NULL, l->size, NULL), -EFAULT);
	count = 1;
	ck_assert_int_eq(l->call(t, NULL, l->size, &count), -EFAULT);
	count = 0;
	for (size_t i = 0; i < sizeof(ill) / sizeof(ill[0]); i++)
		ck_assert_int_eq(l->call(t, NULL, ill[i], &count), -EINVAL);
	rt_tracker_free(t);
	rt_tracker_free(other);
}
END_TEST

START_TEST(lists_tell_how_many_there_are)
{
	const struct list *l = &lists[_i];
	struct rt_tracker *t = tracker_of_kind(l->kind);
	size_t count = 0, items;
	char *rows;
	int err;

	sample(t);
	err = l->call(t, NULL, l->size, &count);
	ck_assert(err == 0 || (err == -ENODATA && l->may_lack));
	items = err ? 0 : count;
	ck_assert(items > 0 || l->may_lack);
	rows = malloc((items + 1) * l->size);
	memset(rows, FILLED, (items + 1) * l->size);
	count = items + 1;
	ck_assert_int_eq(l->call(t, rows, l->size, &count), err);
	if (err == 0)
		ck_assert_uint_eq(count, items);
	ck_assert(is_filled(rows + items * l->size, l->size));
	free(rows);
	rt_tracker_free(t);
}
END_TEST

START_TEST(diff_refuses)
{
	static const size_t ill[] = { 0, sizeof(struct rt_delta) - 1, LARGEST + 1, SIZE_MAX };
	struct rt_tracker *t = self_tracker();
	struct rt_metrics from = sample(t), to = sample(t), cut;
	struct rt_delta d;

	memset(&d, FILLED, sizeof(d));
	ck_assert_int_eq(rt_diff(NULL, &to, &d, sizeof(d)), -EFAULT);
	ck_assert_int_eq(rt_diff(&from, NULL, &d, sizeof(d)), -EFAULT);
	ck_assert_int_eq(rt_diff(&from, &to, NULL, sizeof(d)), -EFAULT);
	for (size_t i = 0; i < sizeof(ill) / sizeof(ill[0]); i++)
		ck_assert_int_eq(rt_diff(&from, &to, &d, ill[i]), -EINVAL);
	cut = from;
	cut.size = 0;
	ck_assert_int_eq(rt_diff(&cut, &to, &d, sizeof(d)), -EINVAL);
	cut = to;
	cut.size = LARGEST + 1;
	ck_assert_int_eq(rt_diff(&from, &cut, &d, sizeof(d)), -EINVAL);
	ck_assert_int_eq(rt_diff(&to, &from, &d, sizeof(d)), -EINVAL);
	ck_assert(is_filled(&d, sizeof(d)));
	ck_assert_int_eq(rt_diff(&from, &to, &d, sizeof(d)), 0);
	rt_tracker_free(t);
}
END_TEST

START_TEST(diff_refuses_samples_of_two_trackers)
{
	struct rt_tracker *a = self_tracker(), *b = self_tracker(), *s = system_tracker();
	struct rt_metrics of_a = sample(a), of_b = sample(b), of_s = sample(s);
	struct rt_delta d;

	ck_assert_int_eq(rt_diff(&of_a, &of_b, &d, sizeof(d)), -ESTALE);
	ck_assert_int_eq(rt_diff(&of_a, &of_s, &d, sizeof(d)), -ESTALE);
	rt_tracker_free(a);
	a = self_tracker();
	of_b = sample(a);
	ck_assert_int_eq(rt_diff(&of_a, &of_b, &d, sizeof(d)), -ESTALE);
	rt_tracker_free(a);
	rt_tracker_free(b);
	rt_tracker_free(s);
}
END_TEST

START_TEST(diff_of_the_same_instant_has_no_rate)
{
	struct rt_tracker *t = self_tracker();
	struct rt_metrics m = sample(t);
	struct rt_delta d;

	ck_assert_int_eq(rt_diff(&m, &m, &d, sizeof(d)), 0);
	ck_assert_uint_eq(d.interval_ns, 0);
	ck_assert_uint_eq(d.valid & RT_HAS_RATE, 0);
	ck_assert_uint_ne(d.valid & RT_HAS_CPU, 0);
	ck_assert_double_eq(d.cores_used, 0);
	ck_assert_uint_eq(d.cpu_user_ns + d.cpu_system_ns, 0);
	rt_tracker_free(t);
}
END_TEST

static const char *const true_argv[] = { "true", NULL };

static void assert_start(const struct rt_command_opts *opts, int expected)
{
	struct rt_command *c = (struct rt_command *)&c;

	ck_assert_int_eq(rt_command_start(&c, opts), expected);
	ck_assert_msg(!c == (expected != 0), "expected %d: *out is %p", expected, (void *)c);
	if (c)
		ck_assert_int_eq(rt_command_wait(c, -1, NULL, 0), 0);
	rt_command_free(c);
}

START_TEST(command_refuses_options)
{
	const char *const nothing[] = { NULL };
	const struct rt_command_opts good = { .size = sizeof(good), .argv = true_argv };
	struct rt_opts tracker = { .size = sizeof(tracker) };
	struct rt_command_opts o = good;

	assert_start(&good, 0);
	ck_assert_int_eq(rt_command_start(NULL, &good), -EFAULT);
	assert_start(NULL, -EFAULT);
	o.argv = NULL;
	assert_start(&o, -EFAULT);
	o.argv = nothing;
	assert_start(&o, -EINVAL);
	o = good;
	o.size = sizeof(o) - 1;
	assert_start(&o, -EINVAL);
	o.size = 0;
	assert_start(&o, -EINVAL);
	o = good;
	o.flags = RT_COMMAND_LIST_PROCESSES << 1;
	assert_start(&o, -EINVAL);
	o.flags = UINT32_C(1) << 31;
	assert_start(&o, -EINVAL);
	o.flags = RT_COMMAND_LIST_PROCESSES;
	assert_start(&o, 0);
	o = good;
	o.accounting = RT_ACCOUNTING_BPF + 1;
	assert_start(&o, -EINVAL);
	o.accounting = RT_ACCOUNTING_BPF;
	assert_start(&o, -EOPNOTSUPP);
	o = good;
	o.reserved = 1;
	assert_start(&o, -EINVAL);
	o = good;
	o.tracker = &tracker;
	assert_start(&o, 0);
	tracker.root = "/";
	assert_start(&o, -EINVAL);
	tracker = (struct rt_opts){ .size = 4 };
	assert_start(&o, -EINVAL);
	tracker = (struct rt_opts){ .size = OPTS_0_1 };
	assert_start(&o, 0);
	tracker = (struct rt_opts){ .size = sizeof(tracker), .flags = RT_OPT_PROCESS_EVENTS << 1 };
	assert_start(&o, -EINVAL);
}
END_TEST

/* Options of a later release, behind which the caller's own memory goes on. */
START_TEST(command_takes_longer_options_of_its_tracker)
{
	struct {
		struct rt_opts opts;
		uint64_t unknown[4], not_ours[4];
	} tracker = { .opts.size = sizeof(tracker) - sizeof(tracker.not_ours) };
	const struct rt_command_opts o = { .size = sizeof(o),
		                           .argv = true_argv,
		                           .tracker = &tracker.opts };

	memset(tracker.not_ours, FILLED, sizeof(tracker.not_ours));
	assert_start(&o, 0);
	tracker.unknown[3] = 1;
	assert_start(&o, -E2BIG);
}
END_TEST

static void assert_exec_error(const char *program, const char *cwd, int expected)
{
	const char *const argv[] = { program, NULL };
	struct rt_command_opts o = { .size = sizeof(o), .argv = argv, .cwd = cwd };

	assert_start(&o, expected);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* no child was left behind */
	ck_assert_int_eq(errno, ECHILD);
}

START_TEST(command_tells_why_it_cannot_start)
{
	struct fixture f;
	char path[200];

	/* an unreadable directory in it would be -EACCES */
	ck_assert_int_eq(setenv("PATH", "/usr/bin:/bin", 1), 0);
	fixture_new(&f);
	assert_exec_error("/nonexistent/program", NULL, -ENOENT);
	assert_exec_error("no-program-has-this-name", NULL, -ENOENT);
	assert_exec_error("true", "/nonexistent", -ENOENT);
	fixture_write(&f, "plain", "\x7f\x01garbage");
	strcat(strcpy(path, f.root), "/plain");
	assert_exec_error(path, NULL, -EACCES);
	ck_assert_int_eq(chmod(path, 0755), 0);
	assert_exec_error(path, NULL, -ENOEXEC);
	assert_exec_error(f.root, NULL, -EACCES);
	fixture_free(&f);
}
END_TEST

START_TEST(command_with_too_many_arguments)
{
	const size_t len = (size_t)8 << 20;
	char *word = malloc(len);
	const char *argv[] = { "true", word, NULL };
	struct rt_command_opts o = { .size = sizeof(o), .argv = argv };

	memset(word, 'x', len);
	word[len - 1] = '\0';
	assert_start(&o, -E2BIG);
	free(word);
}
END_TEST

static struct rt_command *start_sleep_at(const char *seconds, uint32_t accounting)
{
	const char *const argv[] = { "sleep", seconds, NULL };
	struct rt_command_opts o = { .size = sizeof(o), .argv = argv, .accounting = accounting };
	struct rt_command *c;

	ck_assert_int_eq(rt_command_start(&c, &o), 0);
	return c;
}

static struct rt_command *start_sleep(const char *seconds)
{
	return start_sleep_at(seconds, RT_ACCOUNTING_AUTO);
}

START_TEST(wait_refuses_and_times_out)
{
	static const size_t ill[] = { 0, OUTCOME_0_1 - 1, LARGEST + 1 };
	struct rt_command *c = start_sleep("60");
	struct rt_outcome out;

	ck_assert_int_eq(rt_command_wait(NULL, 0, &out, sizeof(out)), -EFAULT);
	for (size_t i = 0; i < sizeof(ill) / sizeof(ill[0]); i++)
		ck_assert_int_eq(rt_command_wait(c, 0, &out, ill[i]), -EINVAL);
	ck_assert_int_eq(rt_command_wait(c, 0, &out, sizeof(out)), -ETIMEDOUT);
	ck_assert_int_eq(rt_command_wait(c, 1000000, NULL, 0), -ETIMEDOUT);
	ck_assert_int_eq(rt_command_signal(c, SIGKILL), 0);
	ck_assert_int_eq(rt_command_wait(c, -1, &out, sizeof(out)), 0);
	ck_assert_int_eq(out.signal, SIGKILL);
	ck_assert_int_eq(out.exit_code, -1);
	rt_command_free(c);
}
END_TEST

static struct rt_command *start_listed(const char *seconds)
{
	const char *const argv[] = { "sleep", seconds, NULL };
	struct rt_command_opts o = { .size = sizeof(o),
		                     .flags = RT_COMMAND_LIST_PROCESSES,
		                     .argv = argv };
	struct rt_command *c;

	ck_assert_int_eq(rt_command_start(&c, &o), 0);
	return c;
}

START_TEST(processes_refuse)
{
	const size_t size = sizeof(struct rt_command_process),
		     ill[] = { 0, size - 1, LARGEST + 1, SIZE_MAX };
	struct rt_command *c = start_listed("60");
	struct rt_command_process row;
	size_t count = 0;

	ck_assert_int_eq(rt_command_processes(c, NULL, size, &count), -ENODATA);
	ck_assert_int_eq(rt_command_signal(c, SIGKILL), 0);
	ck_assert_int_eq(rt_command_wait(c, -1, NULL, 0), 0);
	ck_assert_int_eq(rt_command_processes(NULL, NULL, size, &count), -EFAULT);
	ck_assert_int_eq(rt_command_processes(c, NULL, size, NULL), -EFAULT);
	for (size_t i = 0; i < sizeof(ill) / sizeof(ill[0]); i++)
		ck_assert_int_eq(rt_command_processes(c, NULL, ill[i], &count), -EINVAL);
	count = 1;
	ck_assert_int_eq(rt_command_processes(c, NULL, size, &count), -EFAULT);
	ck_assert_int_eq(rt_command_processes(c, &row, size, &count), 0);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(row.pid, rt_command_pid(c));
	ck_assert_int_eq(row.signal, SIGKILL);
	ck_assert_int_eq(row.exit_code, -1);
	rt_command_free(c);
}
END_TEST

START_TEST(processes_must_have_been_asked_for)
{
	struct rt_command *c = start_sleep("0");
	size_t count = 0;

	ck_assert_int_eq(rt_command_processes(c, NULL, sizeof(struct rt_command_process), &count),
	                 -EOPNOTSUPP);
	ck_assert_int_eq(rt_command_wait(c, -1, NULL, 0), 0);
	ck_assert_int_eq(rt_command_processes(c, NULL, sizeof(struct rt_command_process), &count),
	                 -EOPNOTSUPP);
	rt_command_free(c);
}
END_TEST

START_TEST(wait_gives_the_same_outcome_again)
{
	struct rt_command *c = start_sleep("0");
	struct rt_outcome first, again;

	ck_assert_int_eq(rt_command_wait(c, -1, &first, sizeof(first)), 0);
	ck_assert_int_eq(rt_command_wait(c, 0, &again, sizeof(again)), 0);
	ck_assert_mem_eq(&first, &again, sizeof(first));
	ck_assert_int_eq(first.exit_code, 0);
	rt_command_free(c);
}
END_TEST

static void on_alarm(int signal)
{
	(void)signal;
}

START_TEST(wait_is_interrupted_by_a_handler)
{
	struct sigaction act = { .sa_handler = on_alarm };
	struct rt_command *c = start_sleep("60");
	struct rt_outcome out;

	ck_assert_int_eq(sigaction(SIGALRM, &act, NULL), 0);
	alarm(1);
	ck_assert_int_eq(rt_command_wait(c, -1, &out, sizeof(out)), -EINTR);
	ck_assert_int_eq(rt_command_signal(c, SIGKILL), 0);
	ck_assert_int_eq(rt_command_wait(c, -1, &out, sizeof(out)), 0);
	rt_command_free(c);
}
END_TEST

/* On the lowest rung the program is the caller's own child, and anybody in the caller may reap
 * it. */
START_TEST(wait_tells_when_somebody_else_has_reaped)
{
	struct rt_command *c = start_sleep_at("0", RT_ACCOUNTING_POLL);
	struct rt_outcome out;

	ck_assert_int_eq(waitpid(rt_command_pid(c), NULL, 0), rt_command_pid(c));
	ck_assert_int_eq(rt_command_wait(c, -1, &out, sizeof(out)), -ECHILD);
	ck_assert_uint_eq(out.size, sizeof(out));
	rt_command_free(c);
}
END_TEST

START_TEST(signal_refuses)
{
	struct rt_command *c = start_sleep("60");

	ck_assert_int_eq(rt_command_signal(NULL, SIGTERM), -EFAULT);
	ck_assert_int_eq(rt_command_kill(NULL), -EFAULT);
	ck_assert_int_eq(rt_command_signal(c, 999), -EINVAL);
	ck_assert_int_eq(rt_command_signal(c, -1), -EINVAL);
	ck_assert_int_eq(rt_command_signal(c, SIGKILL), 0);
	ck_assert_int_eq(rt_command_wait(c, -1, NULL, 0), 0);
	ck_assert_int_eq(rt_command_signal(c, SIGKILL), -ESRCH);
	ck_assert_int_eq(rt_command_signal(c, 0), -ESRCH);
	rt_command_free(c);
}
END_TEST

START_TEST(field_tables_refuse)
{
	static const uint32_t unknown[] = { 0, RT_STRUCT_COMMAND_PROCESS + 1, UINT32_MAX };
	static const size_t ill[] = { 0, sizeof(struct rt_field) - 1, LARGEST + 1 };
	struct rt_field field;
	uint32_t count = rt_field_count(RT_STRUCT_METRICS);

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		ck_assert_uint_eq(rt_field_count(unknown[i]), 0);
		ck_assert_uint_eq(rt_field_struct_size(unknown[i]), 0);
		ck_assert_int_eq(rt_field_get(unknown[i], 0, &field, sizeof(field)), -EINVAL);
	}
	for (size_t i = 0; i < sizeof(ill) / sizeof(ill[0]); i++)
		ck_assert_int_eq(rt_field_get(RT_STRUCT_METRICS, 0, &field, ill[i]), -EINVAL);
	ck_assert_int_eq(rt_field_get(RT_STRUCT_METRICS, count - 1, &field, sizeof(field)), 0);
	ck_assert_int_eq(rt_field_get(RT_STRUCT_METRICS, count, &field, sizeof(field)), -EINVAL);
	ck_assert_int_eq(rt_field_get(RT_STRUCT_METRICS, UINT32_MAX, &field, sizeof(field)),
	                 -EINVAL);
	ck_assert_int_eq(rt_field_get(RT_STRUCT_METRICS, 0, NULL, sizeof(field)), -EFAULT);
}
END_TEST

static TCase *add(Suite *suite, const char *name, const TTest *test)
{
	TCase *tcase = suite_case(suite, name);

	tcase_add_test(tcase, test);
	return tcase;
}

static void add_trackers(Suite *suite)
{
	TCase *tcase = suite_case(suite, "constructors");
	const int first = RT_KIND_PID, end = RT_KIND_SYSTEM + 1;

	tcase_add_loop_test(tcase, constructors_refuse_options, first, end);
	tcase_add_loop_test(tcase, constructors_need_a_proc, first, end);
	tcase_add_loop_test(tcase, constructors_need_the_right_to_read_proc, first, end);
	tcase_add_loop_test(tcase, constructors_need_descriptors, first, end);
	tcase_add_test(tcase, pid_tracker_refuses_pids);
	add(suite, "free", nothing_may_be_freed);
	tcase = add(suite, "sample", sample_refuses);
	tcase_add_test(tcase, sample_of_an_ended_tree_has_the_last_totals);
	add(suite, "glance", glance_refuses);
	tcase = add(suite, "status", status_of_a_pid_tracker);
	tcase_add_test(tcase, status_of_what_is_not_wanted);
	tcase = suite_case(suite, "lists");
	tcase_add_loop_test(tcase, lists_refuse, 0, LISTS);
	tcase_add_loop_test(tcase, lists_tell_how_many_there_are, 0, LISTS);
	tcase = add(suite, "diff", diff_refuses);
	tcase_add_test(tcase, diff_refuses_samples_of_two_trackers);
	tcase_add_test(tcase, diff_of_the_same_instant_has_no_rate);
}

static void add_commands(Suite *suite)
{
	TCase *tcase = add(suite, "start", command_refuses_options);

	tcase_add_test(tcase, command_takes_longer_options_of_its_tracker);
	tcase_add_test(tcase, command_tells_why_it_cannot_start);
	tcase_add_test(tcase, command_with_too_many_arguments);
	tcase = add(suite, "wait", wait_refuses_and_times_out);
	tcase_add_test(tcase, wait_gives_the_same_outcome_again);
	tcase_add_test(tcase, wait_is_interrupted_by_a_handler);
	tcase_add_test(tcase, wait_tells_when_somebody_else_has_reaped);
	tcase = add(suite, "processes", processes_refuse);
	tcase_add_test(tcase, processes_must_have_been_asked_for);
	add(suite, "signal", signal_refuses);
}

int main(void)
{
	Suite *suite = suite_create("errors");
	TCase *tcase = add(suite, "version", version_is_that_of_the_headers);

	tcase_add_test(tcase, every_error_number_has_words);
	tcase = add(suite, "getrusage", getrusage_refuses);
	tcase_add_test(tcase, pid_getrusage_refuses);
	tcase_add_test(tcase, pid_getrusage_refuses_a_thread);
	add_trackers(suite);
	add_commands(suite);
	add(suite, "fields", field_tables_refuse);
	return suite_run(suite);
}
