/* SPDX-License-Identifier: MIT */
/* The `size` of an output: the bytes that the library filled, whatever the caller's length. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "arguments.h"
#include "suite.h"

#define NOTHING_TO_FILL_IN "this system has no such row, or nothing can be traced here"

/* A call that fills a struct of the caller's length, or the first row of a list. Returns false if
 * this system has no such row. */
struct output {
	uint32_t id; /* RT_STRUCT_ value; 0: struct rt_field, which has no table */
	size_t shortest;
	bool (*fill)(void *out, size_t size);
};

static bool fill_metrics(void *out, size_t size)
{
	struct rt_tracker *tracker = new_self_tracker();

	ck_assert_int_eq(rt_sample(tracker, out, size), 0);
	rt_tracker_free(tracker);
	return true;
}

static bool fill_delta(void *out, size_t size)
{
	struct rt_tracker *tracker = new_self_tracker();
	struct rt_metrics from = sample(tracker), to = sample(tracker);

	rt_tracker_free(tracker);
	ck_assert_int_eq(rt_diff(&from, &to, out, size), 0);
	return true;
}

static bool fill_field(void *out, size_t size)
{
	ck_assert_int_eq(rt_field_get(RT_STRUCT_METRICS, 0, out, size), 0);
	return true;
}

static bool fill_constant(void *out, size_t size)
{
	ck_assert_int_eq(rt_constant_get(0, out, size), 0);
	return true;
}

static struct rt_command *run_true(void)
{
	static const char *const argv[] = { "true", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .flags = RT_COMMAND_LIST_PROCESSES };
	struct rt_command *c;

	ck_assert_int_eq(rt_command_start(&c, &opts), 0);
	return c;
}

static bool fill_outcome(void *out, size_t size)
{
	struct rt_command *c = run_true();

	ck_assert_int_eq(rt_command_wait(c, -1, out, size), 0);
	rt_command_free(c);
	return true;
}

static bool fill_command_info(void *out, size_t size)
{
	struct rt_command *c = run_true();

	ck_assert_int_eq(rt_command_get_info(c, out, size), 0);
	ck_assert_int_eq(rt_command_wait(c, -1, NULL, 0), 0);
	rt_command_free(c);
	return true;
}

static bool fill_command_process(void *out, size_t size)
{
	struct rt_command *c = run_true();
	size_t count = 1;

	ck_assert_int_eq(rt_command_wait(c, -1, NULL, 0), 0);
	ck_assert_int_eq(rt_command_processes(c, out, size, &count), 0);
	ck_assert_uint_ge(count, 1);
	rt_command_free(c);
	return true;
}

/* Trace a command that calls getrusage(2) at least once. Returns NULL if nothing can be traced
 * here. */
static struct rt_trace *new_trace(void)
{
	static const char *const argv[] = { "bash", "-c", "times >/dev/null", NULL };
	const struct rt_command_opts command = { .size = sizeof(command), .argv = argv };
	const struct rt_trace_opts opts = { .size = sizeof(opts), .command = &command };
	struct rt_trace *trace;

	return rt_trace_new(&trace, &opts) == 0 ? trace : NULL;
}

static bool fill_trace_events(void *out, size_t size)
{
	struct rt_trace *trace = new_trace();
	size_t count = 0;
	int err = 0;

	for (int i = 0; trace && err == 0 && count == 0 && i < 1000; i++) {
		struct pollfd wait = { .fd = rt_trace_fd(trace), .events = POLLIN };

		poll(&wait, 1, 100);
		count = 1;
		err = rt_trace_read(trace, out, size, &count);
	}
	rt_trace_free(trace);
	return count == 1;
}

static bool fill_trace_totals(void *out, size_t size)
{
	struct rt_trace *trace = new_trace();

	if (!trace)
		return false;
	ck_assert_int_eq(rt_trace_get_totals(trace, out, size), 0);
	rt_trace_free(trace);
	return true;
}

static bool fill_recorder_totals(void *out, size_t size)
{
	struct rt_tracker *tracker;
	struct rt_recorder *r;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), NULL), 0);
	ck_assert_int_eq(rt_recorder_new(&r, tracker, NULL), 0);
	ck_assert_int_eq(rt_recorder_get_totals(r, out, size), 0);
	rt_recorder_free(r);
	return true;
}

static bool fill_peaks(void *out, size_t size)
{
	struct rt_tracker *tracker;
	uint64_t id;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), NULL), 0);
	ck_assert_int_eq(rt_tracker_mark(tracker, "mark", &id), 0);
	ck_assert_int_eq(rt_tracker_since(tracker, id, out, size), 0);
	rt_tracker_free(tracker);
	return true;
}

/* The lists of a tracker, with the same signature. */
typedef int (*list_call)(const struct rt_tracker *tracker, void *array, size_t size, size_t *count);

static bool fill_row(struct rt_tracker *tracker, list_call list, void *out, size_t size)
{
	size_t count = 1;
	int err;

	sample(tracker);
	err = list(tracker, out, size, &count);
	rt_tracker_free(tracker);
	return err == 0 && count > 0;
}

#define LIST(name, new_tracker)                                                                    \
	static int list_##name(const struct rt_tracker *tracker, void *array, size_t size,         \
	                       size_t *count)                                                      \
	{                                                                                          \
		return rt_tracker_##name(tracker, array, size, count);                             \
	}                                                                                          \
	static bool fill_##name(void *out, size_t size)                                            \
	{                                                                                          \
		return fill_row(new_tracker(), list_##name, out, size);                            \
	}

static bool fill_obstacle(void *out, size_t size)
{
	struct rt_tracker *tracker = new_self_tracker();
	int err;

	sample(tracker);
	err = rt_tracker_obstacle(tracker, RT_HAS_PEAK_FOOTPRINT, out, size);
	rt_tracker_free(tracker);
	return err == 0;
}

static struct rt_tracker *new_gpu_tracker(void)
{
	const struct rt_opts opts = { .size = sizeof(opts), .want = RT_HAS_GPU };
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_system_tracker_new(&tracker, &opts), 0);
	return tracker;
}

LIST(processes, new_self_tracker)
LIST(cpus, new_system_tracker)
LIST(disks, new_system_tracker)
LIST(filesystems, new_system_tracker)
LIST(networks, new_system_tracker)
LIST(zpools, new_system_tracker)
LIST(gpus, new_gpu_tracker)
LIST(gpu_processes, new_gpu_tracker)

static const struct output outputs[] = {
	{ RT_STRUCT_METRICS, METRICS_0_1, fill_metrics },
	{ RT_STRUCT_DELTA, DELTA_0_1, fill_delta },
	{ 0, sizeof(struct rt_field), fill_field },
	{ RT_STRUCT_CONSTANT, sizeof(struct rt_constant), fill_constant },
	{ RT_STRUCT_OBSTACLE, sizeof(struct rt_obstacle), fill_obstacle },
	{ RT_STRUCT_OUTCOME, OUTCOME_0_1, fill_outcome },
	{ RT_STRUCT_COMMAND_INFO, sizeof(struct rt_command_info), fill_command_info },
	{ RT_STRUCT_COMMAND_PROCESS, sizeof(struct rt_command_process), fill_command_process },
	{ RT_STRUCT_PROCESS, PROCESS_0_1, fill_processes },
	{ RT_STRUCT_CPU, sizeof(struct rt_cpu), fill_cpus },
	{ RT_STRUCT_DISK, sizeof(struct rt_disk), fill_disks },
	{ RT_STRUCT_FILESYSTEM, sizeof(struct rt_filesystem), fill_filesystems },
	{ RT_STRUCT_NETWORK, sizeof(struct rt_network), fill_networks },
	{ RT_STRUCT_ZPOOL, sizeof(struct rt_zpool), fill_zpools },
	{ RT_STRUCT_TRACE_EVENT, sizeof(struct rt_trace_event), fill_trace_events },
	{ RT_STRUCT_TRACE_TOTALS, sizeof(struct rt_trace_totals), fill_trace_totals },
	{ RT_STRUCT_RECORDER_TOTALS, sizeof(struct rt_recorder_totals), fill_recorder_totals },
	{ RT_STRUCT_PEAKS, sizeof(struct rt_peaks), fill_peaks },
	{ RT_STRUCT_GPU, sizeof(struct rt_gpu), fill_gpus },
	{ RT_STRUCT_GPU_PROCESS, sizeof(struct rt_gpu_process), fill_gpu_processes },
};
enum { IDS_END = 64 }; /* above every RT_STRUCT_ value. Some numbers below are not in use. */
#define OUTPUTS ((int)(COUNT_OF(outputs)))

static uint32_t size_of(const void *out)
{
	uint32_t size;

	memcpy(&size, out, sizeof(size));
	return size;
}

static uint32_t known_size(const struct output *o)
{
	return o->id ? rt_field_struct_size(o->id) : (uint32_t)sizeof(struct rt_field);
}

/* The caller has the header of a later release. */
START_TEST(output_longer_than_the_librarys_has_the_librarys_size)
{
	const struct output *o = &outputs[_i];
	unsigned char out[SIZE_LIMIT];

	memset(out, FILLED, sizeof(out));
	if (!o->fill(out, sizeof(out))) {
		suite_skip_test(NOTHING_TO_FILL_IN);
		return;
	}
	ck_assert_uint_eq(size_of(out), known_size(o));
	for (size_t i = known_size(o); i < sizeof(out); i++)
		ck_assert_uint_eq(out[i], 0);
}
END_TEST

/* The caller has the header of the first release that had the struct. */
START_TEST(output_shorter_than_the_librarys_has_the_callers_size)
{
	const struct output *o = &outputs[_i];
	unsigned char out[SIZE_LIMIT];

	memset(out, FILLED, sizeof(out));
	if (!o->fill(out, o->shortest)) {
		suite_skip_test(NOTHING_TO_FILL_IN);
		return;
	}
	ck_assert_uint_eq(size_of(out), o->shortest);
	ck_assert(is_filled(out + o->shortest, sizeof(out) - o->shortest));
}
END_TEST

START_TEST(every_struct_that_the_library_fills_is_tested)
{
	for (uint32_t id = 1; id < IDS_END; id++) {
		/* The first has no size, and the others are inputs. */
		int found = id == RT_STRUCT_RUSAGE || id == RT_STRUCT_OPTS ||
		            id == RT_STRUCT_COMMAND_OPTS || id == RT_STRUCT_TRACE_OPTS ||
		            id == RT_STRUCT_RECORDER_OPTS;

		if (rt_field_count(id) == 0)
			continue;

		for (int i = 0; i < OUTPUTS; i++)
			found += outputs[i].id == id;
		ck_assert_msg(found == 1, "struct %u", id);
	}
}
END_TEST

START_TEST(field_is_known_if_it_lies_within_the_size_alone)
{
	struct rt_metrics m;

	fill_metrics(&m, METRICS_0_1);
	ck_assert(RT_HAS_FIELD(&m, rt_metrics, zfs_pools));
	ck_assert(!RT_HAS_FIELD(&m, rt_metrics, members_skipped));
	fill_metrics(&m, offsetof(struct rt_metrics, estimated));
	ck_assert(RT_HAS_FIELD(&m, rt_metrics, source));
	ck_assert(!RT_HAS_FIELD(&m, rt_metrics, estimated));
	m.size += 4; /* half of a field is none */
	ck_assert(!RT_HAS_FIELD(&m, rt_metrics, estimated));
	fill_metrics(&m, sizeof(m));
	ck_assert(RT_HAS_FIELD(&m, rt_metrics, gpus_used));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sizes");
	TCase *tests = suite_case(suite, "sizes");

	tcase_add_loop_test(tests, output_longer_than_the_librarys_has_the_librarys_size, 0,
	                    OUTPUTS);
	tcase_add_loop_test(tests, output_shorter_than_the_librarys_has_the_callers_size, 0,
	                    OUTPUTS);
	tcase_add_test(tests, every_struct_that_the_library_fills_is_tested);
	tcase_add_test(tests, field_is_known_if_it_lies_within_the_size_alone);
	return suite_run(suite);
}
