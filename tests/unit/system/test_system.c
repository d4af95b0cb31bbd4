/* SPDX-License-Identifier: MIT */
/* How the system runs its collectors, with a registry of the test: what each one answers is in its
 * script. */
#include "system/system.h"

#include <errno.h>
#include <string.h>

#include "suite.h"

#define DISK RT_HAS_DISK
#define NET RT_HAS_NETWORK
#define GPUS (RT_HAS_GPU | RT_HAS_GPU_MEMORY)
#define TWO (RT_HAS_PRESSURE_CPU | RT_HAS_PRESSURE_IO) /* of one collector */

/* What the collectors answer. */
static struct {
	int open_error, collect_error;
	int error_of[2]; /* of the lower bit, and of the other */
	uint64_t valid, partial, estimated;
	int rows[2];
	unsigned open, closed;
} script;

static int open_one(void *state, const struct rti_context *ctx)
{
	(void)state;
	(void)ctx;
	script.open += script.open_error == 0;
	return script.open_error;
}

static int collect(void *state, const struct rti_context *ctx, struct rt_metrics *out)
{
	(void)state;
	(void)ctx;
	out->valid |= script.valid;
	out->partial |= script.partial;
	out->estimated |= script.estimated;
	return script.collect_error;
}

static void close_one(void *state, const struct rti_context *ctx)
{
	(void)state;
	(void)ctx;
	script.closed++;
}

static int error_of(const void *state, uint64_t has)
{
	(void)state;
	return script.error_of[has == RT_HAS_PRESSURE_IO];
}

static const void *rows(void *state, size_t *count)
{
	(void)state;
	*count = 2;
	return script.rows;
}

static int processes(const void *state, const void **out, size_t *count)
{
	(void)state;
	*count = 2;
	*out = script.rows;
	return 0;
}

static const struct rti_sys_collector disk = { .provides = DISK,
	                                       .files = { "diskstats" },
	                                       .state_size = 8,
	                                       .open = open_one,
	                                       .collect = collect,
	                                       .close = close_one,
	                                       .rows = rows };
static const struct rti_sys_collector net = { .provides = NET, .collect = collect };
static const struct rti_sys_collector two = { .provides = TWO,
	                                      .files = { "pressure/cpu", "pressure/io" },
	                                      .read_for = { RT_HAS_PRESSURE_CPU,
	                                                    RT_HAS_PRESSURE_IO },
	                                      .collect = collect,
	                                      .error_of = error_of };
static const struct rti_sys_collector gpus = {
	.provides = GPUS, .collect = collect, .rows = rows, .processes = processes
};

/* This registry takes the place of that of the core. */
const struct rti_sys_collector *const rti_sys_collectors[] = { &disk, &net, &two, &gpus };
const size_t rti_sys_collector_count = sizeof(rti_sys_collectors) / sizeof(rti_sys_collectors[0]);
const struct rti_pid_collector *const rti_pid_collectors[] = { NULL };
const size_t rti_pid_collector_count = 0;

static struct rti_system tested;
static struct rt_metrics m;

static void set_up(void)
{
	memset(&script, 0, sizeof(script));
	memset(&m, 0, sizeof(m));
}

static void tear_down(void)
{
	rti_system_free(&tested, NULL);
	ck_assert_uint_eq(script.open, script.closed);
}

static void open_for(uint64_t want)
{
	ck_assert_int_eq(rti_system_init(&tested, NULL, want), 0);
}

static void sample(uint64_t want)
{
	memset(&m, 0, sizeof(m));
	rti_system_sample(&tested, NULL, want, &m);
}

static struct rti_explanation explain(uint64_t has)
{
	struct rti_explanation out;

	rti_system_explain(&tested, &m, has, &out);
	return out;
}

START_TEST(domains_are_those_of_all_collectors)
{
	ck_assert_uint_eq(rti_system_domains(), DISK | NET | TWO | GPUS);
}
END_TEST

static const struct {
	int open_error, init_error, status;
} opens[] = {
	{ 0, 0, -EIO },          { -ENOENT, 0, -ENOENT },
	{ -EACCES, 0, -EACCES }, { -EOPNOTSUPP, 0, -EOPNOTSUPP },
	{ -EMFILE, -EMFILE, 0 },
};

/* What is not there, or not allowed, is missing alone. */
START_TEST(collector_that_cannot_open_fails_the_start_or_is_missing)
{
	script.open_error = opens[_i].open_error;
	script.collect_error = -EIO;
	ck_assert_int_eq(rti_system_init(&tested, NULL, DISK), opens[_i].init_error);
	if (opens[_i].init_error)
		return;
	sample(DISK);
	ck_assert_uint_eq(m.valid, 0);
	ck_assert_int_eq(rti_status_get(&tested.status, DISK), opens[_i].status);
}
END_TEST

START_TEST(figure_is_in_one_mask_and_only_if_it_is_wanted)
{
	open_for(DISK | NET);
	script.valid = DISK | NET;
	script.partial = DISK;
	sample(DISK);
	ck_assert_uint_eq(m.valid, DISK);
	ck_assert_uint_eq(m.partial, 0);
	script.valid = 0;
	sample(DISK | NET);
	ck_assert_uint_eq(m.valid, 0);
	ck_assert_uint_eq(m.partial, DISK);
}
END_TEST

START_TEST(domains_of_one_collector_have_their_own_errors)
{
	open_for(TWO);
	script.collect_error = -EIO;
	script.error_of[0] = -EACCES;
	sample(TWO);
	ck_assert_int_eq(rti_status_get(&tested.status, RT_HAS_PRESSURE_CPU), -EACCES);
	ck_assert_int_eq(rti_status_get(&tested.status, RT_HAS_PRESSURE_IO), 0);
	ck_assert_str_eq(explain(RT_HAS_PRESSURE_CPU).file, "pressure/cpu");
	script.error_of[1] = -EIO;
	sample(TWO);
	ck_assert_str_eq(explain(RT_HAS_PRESSURE_IO).file, "pressure/io");
}
END_TEST

static const struct {
	uint64_t has;
	int error;
	enum rti_cause cause;
	const char *file;
} causes[] = {
	{ DISK, -EIO, RTI_CAUSE_READ, "diskstats" },
	{ DISK, -ENOENT, RTI_CAUSE_NO_FIGURE, "diskstats" },
	{ DISK, -EOPNOTSUPP, RTI_CAUSE_NO_FIGURE, "diskstats" },
	{ DISK, -ETIMEDOUT, RTI_CAUSE_STALLED, "diskstats" },
	{ DISK, -EACCES, RTI_CAUSE_READ, "diskstats" },
	{ DISK, -EPERM, RTI_CAUSE_READ, "diskstats" },
	{ DISK, -ENODEV, RTI_CAUSE_DEVICES, "diskstats" },
	{ NET, -ENODEV, RTI_CAUSE_DEVICES, "" },
	{ NET, -EIO, RTI_CAUSE_READ, "" },
	{ RT_HAS_GPU, -EIO, RTI_CAUSE_GPU, "" },
};

START_TEST(cause_is_what_the_error_means_for_the_domain)
{
	struct rti_explanation out;

	open_for(causes[_i].has);
	script.collect_error = causes[_i].error;
	sample(causes[_i].has);
	out = explain(causes[_i].has);
	ck_assert_int_eq(out.error, causes[_i].error);
	ck_assert_int_eq(out.cause, causes[_i].cause);
	ck_assert_str_eq(out.file, causes[_i].file);
}
END_TEST

START_TEST(estimate_of_the_network_is_for_want_of_the_list_of_interfaces)
{
	open_for(NET | DISK);
	script.collect_error = -EAFNOSUPPORT;
	script.estimated = NET | DISK;
	sample(NET | DISK);
	ck_assert_int_eq(explain(NET).cause, RTI_CAUSE_LINKS);
	ck_assert_int_eq(explain(DISK).cause, RTI_CAUSE_READ);
}
END_TEST

START_TEST(figure_that_is_there_or_that_no_collector_has_is_not_explained)
{
	open_for(DISK);
	script.valid = DISK;
	sample(DISK);
	ck_assert_int_eq(explain(DISK).error, 0);
	ck_assert_int_eq(explain(RT_HAS_LOAD).error, -ENODATA);
	ck_assert_int_eq(explain(RT_HAS_LOAD).cause, RTI_CAUSE_NONE);
	/* drivers say nothing while no process uses a GPU */
	ck_assert_int_eq(explain(RT_HAS_GPU_ENERGY).cause, RTI_CAUSE_GPU);
	ck_assert_str_eq(explain(RT_HAS_GPU_ENERGY).file, "");
}
END_TEST

START_TEST(rows_are_those_of_the_open_collector_that_has_them)
{
	const void *list = NULL;
	size_t count;

	open_for(DISK | NET | RT_HAS_GPU);
	ck_assert_ptr_eq(rti_system_rows(&tested, DISK, &count), script.rows);
	ck_assert_uint_eq(count, 2);
	ck_assert_ptr_null(rti_system_rows(&tested, NET, &count));
	ck_assert_uint_eq(count, 0);
	ck_assert_ptr_null(rti_system_rows(&tested, RT_HAS_LOAD, &count));
	ck_assert_int_eq(rti_system_processes(&tested, RT_HAS_GPU, &list, &count), 0);
	ck_assert_ptr_eq(list, script.rows);
	ck_assert_int_eq(rti_system_processes(&tested, DISK, &list, &count), -ENODATA);
	rti_system_free(&tested, NULL);
	open_for(NET);
	ck_assert_ptr_null(rti_system_rows(&tested, DISK, &count));
	ck_assert_int_eq(rti_system_processes(&tested, RT_HAS_GPU, &list, &count), -ENODATA);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("system");
	TCase *tests = suite_case(suite, "collectors");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, domains_are_those_of_all_collectors);
	tcase_add_loop_test(tests, collector_that_cannot_open_fails_the_start_or_is_missing, 0,
	                    sizeof(opens) / sizeof(opens[0]));
	tcase_add_test(tests, figure_is_in_one_mask_and_only_if_it_is_wanted);
	tcase_add_test(tests, domains_of_one_collector_have_their_own_errors);
	tcase_add_loop_test(tests, cause_is_what_the_error_means_for_the_domain, 0,
	                    sizeof(causes) / sizeof(causes[0]));
	tcase_add_test(tests, estimate_of_the_network_is_for_want_of_the_list_of_interfaces);
	tcase_add_test(tests, figure_that_is_there_or_that_no_collector_has_is_not_explained);
	tcase_add_test(tests, rows_are_those_of_the_open_collector_that_has_them);
	return suite_run(suite);
}
