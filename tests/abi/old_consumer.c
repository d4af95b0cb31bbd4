/* SPDX-License-Identifier: MIT */
/* A program that is compiled with the stored header of a release, and runs with the current
 * library. Structs may have grown since. The library must not write past a struct of that release,
 * and must accept its options. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "suite.h"

#define CANARY 0xA5
#define ROOM 4096
#define SIZE_LIMIT 4096 /* the largest struct size that the library accepts */

/* An output, with bytes around it that no call may write. */
struct guarded {
	_Alignas(16) unsigned char before[64];
	unsigned char bytes[2 * ROOM];
};

static void *guard(struct guarded *area)
{
	memset(area, CANARY, sizeof(*area));
	return area->bytes;
}

static void check_untouched_past(const struct guarded *area, size_t size)
{
	for (size_t i = 0; i < sizeof(area->before); i++)
		ck_assert_uint_eq(area->before[i], CANARY);
	for (size_t i = size; i < sizeof(area->bytes); i++)
		ck_assert_msg(area->bytes[i] == CANARY,
		              "byte %zu after a struct of %zu was written", i - size, size);
}

static void check_zero_between(const struct guarded *area, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		ck_assert_msg(area->bytes[i] == 0,
		              "byte %zu, which the library does not know, is not zero", i);
}

/* The size field of the struct at an offset. */
static uint32_t get_size(const struct guarded *area, size_t at)
{
	uint32_t size;

	memcpy(&size, area->bytes + at, sizeof(size));
	return size;
}

/* One kind of output struct: fill() makes a call that writes out_size bytes of it. */
struct output {
	const char *name;
	uint32_t id;
	size_t size, size_0_1; /* in this release, and in release 0.1 */
	int (*fill)(void *out, size_t out_size);
};

static struct rt_tracker *new_sampled(int (*make)(struct rt_tracker **))
{
	struct rt_tracker *t;
	struct rt_metrics m;

	ck_assert_int_eq(make(&t), 0);
	ck_assert_int_eq(rt_sample(t, &m, sizeof(m)), 0);
	return t;
}

static int new_self(struct rt_tracker **out)
{
	return rt_pid_tracker_new(out, getpid(), NULL);
}

static int new_system(struct rt_tracker **out)
{
	return rt_system_tracker_new(out, NULL);
}

static int fill_metrics(void *out, size_t out_size)
{
	struct rt_tracker *t = new_sampled(new_self);
	int err = rt_sample(t, out, out_size);

	rt_tracker_free(t);
	return err;
}

static int fill_delta(void *out, size_t out_size)
{
	struct rt_tracker *t = new_sampled(new_self);
	struct rt_metrics from, to;

	ck_assert_int_eq(rt_sample(t, &from, sizeof(from)), 0);
	ck_assert_int_eq(rt_sample(t, &to, sizeof(to)), 0);
	rt_tracker_free(t);
	return rt_diff(&from, &to, out, out_size);
}

static int fill_outcome(void *out, size_t out_size)
{
	const char *argv[] = { "true", NULL };
	struct rt_command_opts opts = { .size = sizeof(opts), .argv = argv };
	struct rt_command *c;
	int err;

	ck_assert_int_eq(rt_command_start(&c, &opts), 0);
	err = rt_command_wait(c, -1, out, out_size);
	rt_command_free(c);
	return err;
}

static int fill_field(void *out, size_t out_size)
{
	return rt_field_get(RT_STRUCT_METRICS, 0, out, out_size);
}

static int fill_process(void *out, size_t out_size)
{
	struct rt_tracker *t = new_sampled(new_self);
	size_t count = 1;
	int err = rt_tracker_processes(t, out, out_size, &count);

	rt_tracker_free(t);
	return err;
}

static int fill_cpu(void *out, size_t out_size)
{
	struct rt_tracker *t = new_sampled(new_system);
	size_t count = 1;
	int err = rt_tracker_cpus(t, out, out_size, &count);

	rt_tracker_free(t);
	return err;
}

/* The size that a struct had in release 0.1. E.g. rt_metrics ended with zfs_pools then. */
#define END_OF(type, field) (offsetof(struct type, field) + sizeof(((struct type *)NULL)->field))

static const struct output outputs[] = {
	{ "rt_metrics", RT_STRUCT_METRICS, sizeof(struct rt_metrics), END_OF(rt_metrics, zfs_pools),
	  fill_metrics },
	{ "rt_delta", RT_STRUCT_DELTA, sizeof(struct rt_delta),
	  END_OF(rt_delta, pressure_io_full_ns), fill_delta },
	{ "rt_outcome", RT_STRUCT_OUTCOME, sizeof(struct rt_outcome),
	  END_OF(rt_outcome, overhead_cpu_ns), fill_outcome },
	{ "rt_process", RT_STRUCT_PROCESS, sizeof(struct rt_process), END_OF(rt_process, threads),
	  fill_process },
	{ "rt_cpu", RT_STRUCT_CPU, sizeof(struct rt_cpu), END_OF(rt_cpu, guest_nice_ns), fill_cpu },
	{ "rt_field", 0, sizeof(struct rt_field), END_OF(rt_field, unit), fill_field },
};
#define OUTPUTS ((int)(sizeof(outputs) / sizeof(outputs[0])))

START_TEST(output_with_size_of_this_release_is_filled_to_its_end)
{
	const struct output *o = &outputs[_i];
	struct guarded area;

	ck_assert_msg(o->fill(guard(&area), o->size) == 0, "%s", o->name);

	ck_assert_uint_eq(get_size(&area, 0), o->size);
	check_untouched_past(&area, o->size);
}
END_TEST

START_TEST(output_with_larger_size_is_zeroed_past_the_known_fields)
{
	const struct output *o = &outputs[_i];
	size_t known = o->id ? rt_field_struct_size(o->id) : o->size;
	struct guarded area;

	ck_assert_uint_ge(known, o->size);

	ck_assert_msg(o->fill(guard(&area), ROOM) == 0, "%s", o->name);

	ck_assert_uint_ge(get_size(&area, 0), known);
	check_zero_between(&area, get_size(&area, 0), ROOM);
	check_untouched_past(&area, ROOM);
}
END_TEST

/* Release 0.1 is the first, so no program was ever compiled with a smaller struct. */
START_TEST(output_with_bad_size_is_refused_and_untouched)
{
	const struct output *o = &outputs[_i];
	const size_t sizes[] = {
		0, 4, sizeof(uint64_t), o->size_0_1 - 8, o->size_0_1 - 1, SIZE_LIMIT + 1, SIZE_MAX
	};
	struct guarded area;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ck_assert_msg(o->fill(guard(&area), sizes[i]) == -EINVAL, "%s of %zu bytes",
		              o->name, sizes[i]);
		check_untouched_past(&area, 0);
	}
}
END_TEST

START_TEST(rusage_of_fixed_size_is_not_written_past_its_end)
{
	struct guarded area;
	uint32_t valid;

	ck_assert_int_eq(rt_getrusage(RT_RUSAGE_SELF, guard(&area)), 0);
	check_untouched_past(&area, sizeof(struct rt_rusage));
	ck_assert_int_eq(rt_pid_getrusage(getpid(), guard(&area), &valid), 0);
	check_untouched_past(&area, sizeof(struct rt_rusage));
	ck_assert_uint_eq(sizeof(struct rt_rusage), 128);
	ck_assert_uint_eq(rt_field_struct_size(RT_STRUCT_RUSAGE), 128);
}
END_TEST

/* The lists, with the same signature. */
typedef int (*list_call)(struct rt_tracker *tracker, void *out, size_t element_size, size_t *count);

/* The rows have the distance that the caller asks for, and the library writes no more rows than
 * there is room for. */
static void check_rows(struct rt_tracker *tracker, list_call list, size_t row)
{
	const size_t strides[] = { row, row + 24 };
	struct guarded area;
	size_t items = 0;

	ck_assert_int_eq(list(tracker, NULL, row, &items), 0);
	for (int i = 0; i < 2; i++) {
		size_t most = sizeof(area.bytes) / strides[i];
		size_t room = items > most ? most : items > 1 ? items - 1 : items;
		size_t count = room;

		ck_assert_int_eq(list(tracker, guard(&area), strides[i], &count), 0);
		ck_assert_uint_eq(count, items);
		for (size_t at = 0; at < room; at++) {
			ck_assert_uint_ge(get_size(&area, at * strides[i]), row);
			ck_assert_uint_le(get_size(&area, at * strides[i]), strides[i]);
		}
		check_untouched_past(&area, room * strides[i]);
	}
}

static int list_processes(struct rt_tracker *tracker, void *out, size_t element_size, size_t *count)
{
	return rt_tracker_processes(tracker, out, element_size, count);
}

static int list_cpus(struct rt_tracker *tracker, void *out, size_t element_size, size_t *count)
{
	return rt_tracker_cpus(tracker, out, element_size, count);
}

static int list_disks(struct rt_tracker *tracker, void *out, size_t element_size, size_t *count)
{
	return rt_tracker_disks(tracker, out, element_size, count);
}

static int list_filesystems(struct rt_tracker *tracker, void *out, size_t element_size,
                            size_t *count)
{
	return rt_tracker_filesystems(tracker, out, element_size, count);
}

static int list_networks(struct rt_tracker *tracker, void *out, size_t element_size, size_t *count)
{
	return rt_tracker_networks(tracker, out, element_size, count);
}

START_TEST(rows_of_list_have_the_distance_that_the_caller_asks_for)
{
	struct rt_tracker *self = new_sampled(new_self), *system = new_sampled(new_system);

	check_rows(self, list_processes, sizeof(struct rt_process));
	check_rows(system, list_cpus, sizeof(struct rt_cpu));
	check_rows(system, list_disks, sizeof(struct rt_disk));
	check_rows(system, list_filesystems, sizeof(struct rt_filesystem));
	check_rows(system, list_networks, sizeof(struct rt_network));
	rt_tracker_free(self);
	rt_tracker_free(system);
}
END_TEST

/* Options of a program that was compiled with a much later header: longer than those of the current
 * library, too. */
#define UNKNOWN 64

struct long_opts {
	struct rt_opts opts;
	uint64_t unknown[UNKNOWN];
};

struct long_command_opts {
	struct rt_command_opts opts;
	uint64_t unknown[UNKNOWN];
};

START_TEST(tracker_with_longer_options_accepts_only_zeroes_past_the_known_fields)
{
	struct long_opts o = { .opts.size = sizeof(o) };
	struct rt_tracker *t;

	ck_assert_int_eq(rt_pid_tracker_new(&t, getpid(), &o.opts), 0);
	rt_tracker_free(t);
	ck_assert_int_eq(rt_system_tracker_new(&t, &o.opts), 0);
	rt_tracker_free(t);
	o.unknown[UNKNOWN - 1] = 1;
	ck_assert_int_eq(rt_pid_tracker_new(&t, getpid(), &o.opts), -E2BIG);
	ck_assert_ptr_null(t);
	ck_assert_int_eq(rt_system_tracker_new(&t, &o.opts), -E2BIG);
	ck_assert_ptr_null(t);
}
END_TEST

START_TEST(command_with_longer_options_accepts_only_zeroes_past_the_known_fields)
{
	const char *argv[] = { "true", NULL };
	struct long_opts tracker = { .opts.size = sizeof(tracker) };
	struct long_command_opts o = {
		.opts = { .size = sizeof(o), .argv = argv, .tracker = &tracker.opts }
	};
	struct rt_command *c;

	ck_assert_int_eq(rt_command_start(&c, &o.opts), 0);
	ck_assert_int_eq(rt_command_wait(c, -1, NULL, 0), 0);
	rt_command_free(c);
	tracker.unknown[UNKNOWN - 1] = 1;
	ck_assert_int_eq(rt_command_start(&c, &o.opts), -E2BIG);
	ck_assert_ptr_null(c);
	tracker.unknown[UNKNOWN - 1] = 0;
	o.unknown[UNKNOWN - 1] = 1;
	ck_assert_int_eq(rt_command_start(&c, &o.opts), -E2BIG);
	ck_assert_ptr_null(c);
}
END_TEST

START_TEST(tracker_with_shorter_options_is_refused)
{
	const uint32_t sizes[] = { 0, 4, offsetof(struct rt_opts, reserved) };
	struct rt_tracker *t;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct rt_opts o = { .size = sizes[i] };

		ck_assert_int_eq(rt_pid_tracker_new(&t, getpid(), &o), -EINVAL);
		ck_assert_ptr_null(t);
	}
}
END_TEST

START_TEST(version_of_library_is_not_below_that_of_header)
{
	ck_assert_uint_ge(rt_version(), RT_VERSION);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("old_consumer");
	TCase *out = suite_case(suite, "outputs"), *in = suite_case(suite, "inputs");

	tcase_add_test(out, version_of_library_is_not_below_that_of_header);
	tcase_add_loop_test(out, output_with_size_of_this_release_is_filled_to_its_end, 0, OUTPUTS);
	tcase_add_loop_test(out, output_with_larger_size_is_zeroed_past_the_known_fields, 0,
	                    OUTPUTS);
	tcase_add_loop_test(out, output_with_bad_size_is_refused_and_untouched, 0, OUTPUTS);
	tcase_add_test(out, rusage_of_fixed_size_is_not_written_past_its_end);
	tcase_add_test(out, rows_of_list_have_the_distance_that_the_caller_asks_for);
	tcase_add_test(in, tracker_with_longer_options_accepts_only_zeroes_past_the_known_fields);
	tcase_add_test(in, command_with_longer_options_accepts_only_zeroes_past_the_known_fields);
	tcase_add_test(in, tracker_with_shorter_options_is_refused);
	return suite_run(suite);
}
