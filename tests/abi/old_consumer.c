/* SPDX-License-Identifier: MIT */
/* A program compiled against the stored headers of a release, run on the library of today.
 * Whatever the library has grown since, it must not write past a struct of that release, and
 * must take its inputs. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "suite.h"

#define CANARY 0xA5
#define ROOM 4096
#define LARGEST 4096 /* size that the library takes for a struct at most */

/* An output with bytes around it that nobody may touch. */
struct guarded {
	_Alignas(16) unsigned char before[64];
	unsigned char bytes[2 * ROOM];
};

static struct guarded area;

static void *guard(void)
{
	memset(&area, CANARY, sizeof(area));
	return area.bytes;
}

static void assert_untouched_past(size_t size)
{
	for (size_t i = 0; i < sizeof(area.before); i++)
		ck_assert_uint_eq(area.before[i], CANARY);
	for (size_t i = size; i < sizeof(area.bytes); i++)
		ck_assert_msg(area.bytes[i] == CANARY, "byte %zu after a struct of %zu was written",
		              i - size, size);
}

static void assert_zero_between(size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		ck_assert_msg(area.bytes[i] == 0, "byte %zu, unknown to the library, is not zero",
		              i);
}

static uint32_t size_field(size_t at)
{
	uint32_t size;

	memcpy(&size, area.bytes + at, sizeof(size));
	return size;
}

/* One output of the library: fill() makes a call that writes a struct of out_size bytes. */
struct output {
	const char *name;
	uint32_t id;
	size_t size, size_0_1; /* in this release, and in the first */
	int (*fill)(void *out, size_t out_size);
};

static struct rt_tracker *sampled(int (*make)(struct rt_tracker **))
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
	struct rt_tracker *t = sampled(new_self);
	int err = rt_sample(t, out, out_size);

	rt_tracker_free(t);
	return err;
}

static int fill_delta(void *out, size_t out_size)
{
	struct rt_tracker *t = sampled(new_self);
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
	struct rt_tracker *t = sampled(new_self);
	size_t count = 1;
	int err = rt_tracker_processes(t, out, out_size, &count);

	rt_tracker_free(t);
	return err;
}

static int fill_cpu(void *out, size_t out_size)
{
	struct rt_tracker *t = sampled(new_system);
	size_t count = 1;
	int err = rt_tracker_cpus(t, out, out_size, &count);

	rt_tracker_free(t);
	return err;
}

/* A struct of 0.1 ends behind the field that was its last then. */
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

START_TEST(output_of_the_release_is_filled_and_not_passed)
{
	const struct output *o = &outputs[_i];

	ck_assert_msg(o->fill(guard(), o->size) == 0, "%s", o->name);
	ck_assert_uint_eq(size_field(0), o->size);
	assert_untouched_past(o->size);
}
END_TEST

START_TEST(longer_output_is_zeroed_past_what_the_library_knows)
{
	const struct output *o = &outputs[_i];
	size_t known = o->id ? rt_field_struct_size(o->id) : o->size;

	ck_assert_uint_ge(known, o->size);
	ck_assert_msg(o->fill(guard(), ROOM) == 0, "%s", o->name);
	ck_assert_uint_ge(size_field(0), known);
	assert_zero_between(size_field(0), ROOM);
	assert_untouched_past(ROOM);
}
END_TEST

/* 0.1 is the first release: nothing shorter has ever been compiled. */
START_TEST(ill_sized_output_is_refused_untouched)
{
	const struct output *o = &outputs[_i];
	const size_t sizes[] = {
		0, 4, sizeof(uint64_t), o->size_0_1 - 8, o->size_0_1 - 1, LARGEST + 1, SIZE_MAX
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ck_assert_msg(o->fill(guard(), sizes[i]) == -EINVAL, "%s of %zu bytes", o->name,
		              sizes[i]);
		assert_untouched_past(0);
	}
}
END_TEST

START_TEST(fixed_outputs_are_not_passed)
{
	uint32_t valid;

	ck_assert_int_eq(rt_getrusage(RT_RUSAGE_SELF, guard()), 0);
	assert_untouched_past(sizeof(struct rt_rusage));
	ck_assert_int_eq(rt_pid_getrusage(getpid(), guard(), &valid), 0);
	assert_untouched_past(sizeof(struct rt_rusage));
	ck_assert_uint_eq(sizeof(struct rt_rusage), 128);
	ck_assert_uint_eq(rt_field_struct_size(RT_STRUCT_RUSAGE), 128);
}
END_TEST

/* Rows stand at the caller's stride, and no more of them are written than there is room for. */
static void assert_rows(int (*list)(void *out, size_t element_size, size_t *count), size_t row)
{
	const size_t strides[] = { row, row + 24 };
	size_t items = 0;

	ck_assert_int_eq(list(NULL, row, &items), 0);
	for (int i = 0; i < 2; i++) {
		size_t most = sizeof(area.bytes) / strides[i];
		size_t room = items > most ? most : items > 1 ? items - 1 : items;
		size_t count = room;

		ck_assert_int_eq(list(guard(), strides[i], &count), 0);
		ck_assert_uint_eq(count, items);
		for (size_t at = 0; at < room; at++) {
			ck_assert_uint_ge(size_field(at * strides[i]), row);
			ck_assert_uint_le(size_field(at * strides[i]), strides[i]);
		}
		assert_untouched_past(room * strides[i]);
	}
}

static struct rt_tracker *listed;

static int list_processes(void *out, size_t element_size, size_t *count)
{
	return rt_tracker_processes(listed, out, element_size, count);
}

static int list_cpus(void *out, size_t element_size, size_t *count)
{
	return rt_tracker_cpus(listed, out, element_size, count);
}

static int list_disks(void *out, size_t element_size, size_t *count)
{
	return rt_tracker_disks(listed, out, element_size, count);
}

static int list_filesystems(void *out, size_t element_size, size_t *count)
{
	return rt_tracker_filesystems(listed, out, element_size, count);
}

static int list_networks(void *out, size_t element_size, size_t *count)
{
	return rt_tracker_networks(listed, out, element_size, count);
}

START_TEST(rows_stand_at_the_stride_of_the_caller)
{
	listed = sampled(new_self);
	assert_rows(list_processes, sizeof(struct rt_process));
	rt_tracker_free(listed);
	listed = sampled(new_system);
	assert_rows(list_cpus, sizeof(struct rt_cpu));
	assert_rows(list_disks, sizeof(struct rt_disk));
	assert_rows(list_filesystems, sizeof(struct rt_filesystem));
	assert_rows(list_networks, sizeof(struct rt_network));
	rt_tracker_free(listed);
}
END_TEST

/* Options as a program compiled with longer ones would pass them: much longer, for the library
 * may have grown too. */
#define UNKNOWN 64

struct long_opts {
	struct rt_opts opts;
	uint64_t unknown[UNKNOWN];
};

struct long_command_opts {
	struct rt_command_opts opts;
	uint64_t unknown[UNKNOWN];
};

START_TEST(longer_options_are_taken_while_the_unknown_part_is_zero)
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

START_TEST(longer_command_options_are_taken_while_the_unknown_part_is_zero)
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

START_TEST(shorter_options_are_refused)
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

START_TEST(library_is_of_this_release_or_a_later_one)
{
	ck_assert_uint_ge(rt_version(), RT_VERSION);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("old-consumer");
	TCase *out = suite_case(suite, "outputs");
	TCase *in = suite_case(suite, "inputs");

	tcase_add_test(out, library_is_of_this_release_or_a_later_one);
	tcase_add_loop_test(out, output_of_the_release_is_filled_and_not_passed, 0, OUTPUTS);
	tcase_add_loop_test(out, longer_output_is_zeroed_past_what_the_library_knows, 0, OUTPUTS);
	tcase_add_loop_test(out, ill_sized_output_is_refused_untouched, 0, OUTPUTS);
	tcase_add_test(out, fixed_outputs_are_not_passed);
	tcase_add_test(out, rows_stand_at_the_stride_of_the_caller);
	tcase_add_test(in, longer_options_are_taken_while_the_unknown_part_is_zero);
	tcase_add_test(in, longer_command_options_are_taken_while_the_unknown_part_is_zero);
	tcase_add_test(in, shorter_options_are_refused);
	return suite_run(suite);
}
