/* SPDX-License-Identifier: MIT */
/* Each file call of what is read once fails, or gives less than it should: no figure is wrong and
 * valid, no stranger is a descendant, and nothing stays open. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "collect/descendants.h"
#include "collect/pid_once.h"
#include "collect/process_row.h"
#include "fake_process.h"
#include "file_faults.h"
#include "fixture.h"
#include "suite.h"

#define ROOT_PID 100
#define CALLS_MAX 1000
#define PIDS 3

static struct fixture f;
static struct rti_procfs procfs;
static struct rti_platform platform;
static struct rti_buf buf;
static struct rti_context ctx;
static bool has_clock;

static int read_clock(int32_t pid, struct rti_cpu_clock *out)
{
	(void)pid;
	*out = (struct rti_cpu_clock){ 5000, 5000, 5000, 5000 };
	return has_clock ? 0 : -ESRCH;
}

static void write_processes(bool has_children_files)
{
	static const int32_t pids[] = { ROOT_PID, 101, 102, 103 };
	static const char *const children[] = { "101 103 ", "102 ", "", "" };

	for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++) {
		const struct fake_process p = {
			.pid = pids[i],
			.ppid = i == 0   ? 1
			        : i == 2 ? 101
			                 : ROOT_PID,
			.utime = 5,
			.stime = 3,
			.minflt = 50,
			.starttime = (uint64_t)pids[i],
			.rss_pages = 10,
			.pss_kib = 7,
			.hwm_kib = 44,
			.write_bytes = 512,
			.voluntary = 9,
			.involuntary = 2,
			.children = has_children_files ? children[i] : NULL,
		};

		fake_process_write(&f, &p);
	}
	fixture_write(&f, "proc/100/schedstat", "5000 0 1\n");
	fixture_write(&f, "proc/100/task/100/schedstat", "5000 0 1\n");
}

static void set_up(void)
{
	fixture_new(&f);
	ck_assert_int_eq(rti_procfs_open(&procfs, f.root, &file_faults_ops), 0);
	rti_platform_init(&platform, true);
	platform.cpu_clock = read_clock;
	ctx = (struct rti_context){ .procfs = &procfs, .platform = &platform, .buf = &buf };
}

static void tear_down(void)
{
	rti_buf_free(&buf);
	rti_procfs_close(&procfs);
	ck_assert_int_eq(file_faults_open_files(), 0);
	fixture_free(&f);
}

static const struct {
	enum file_fault fault;
	int error;
} faults[] = {
	{ FILE_FAULT_ONCE, -EIO },
	{ FILE_FAULT_ONCE, -EACCES },
	{ FILE_FAULT_ONCE, -EMFILE },
	{ FILE_FAULT_ONCE, -ENOMEM },
	{ FILE_FAULT_ONCE, -EPERM },
	{ FILE_FAULT_ONCE, -ENOENT },
	{ FILE_FAULT_ONCE, -ESRCH },
	{ FILE_FAULT_FROM_THEN_ON, -EIO },
	{ FILE_FAULT_FROM_THEN_ON, -EACCES },
	{ FILE_FAULT_FROM_THEN_ON, -ENOENT },
	{ FILE_FAULT_FROM_THEN_ON, -ESRCH },
	{ FILE_FAULT_EMPTY, 0 },
	{ FILE_FAULT_GARBLED, 0 },
};

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static bool is_shortage(int err)
{
	return err == -EMFILE || err == -ENOMEM;
}

/* --- The figures of a process. --- */

/* Below another root it is not known what is open. */
#define OF_FILES (RTI_PID_ONCE_HAS & ~RT_HAS_OPEN_FDS)

static const uint64_t wants[] = {
	OF_FILES,
	OF_FILES & ~RT_HAS_RSS,
	RT_HAS_RSS,
	RT_HAS_PSS,
	RT_HAS_PEAK_RSS | RT_HAS_PSS,
	RT_HAS_CPU | RT_HAS_FAULTS,
	RT_HAS_CTXSW,
	RT_HAS_IO,
	RT_HAS_IO | RT_HAS_PSS,
};

static int read_process(uint64_t want, struct rt_process *row)
{
	struct rti_pid_once once;
	int err = rti_pid_once_read(&ctx, ROOT_PID, want, &once);

	if (err == 0)
		rti_process_row_set(&once.stat, &once.figures, row);
	return err;
}

static void check_row(const struct rt_process *truth, const struct rt_process *row, uint64_t want,
                      const char *what)
{
	struct rt_field field;

	for (uint32_t i = 0; i < rt_field_count(RT_STRUCT_PROCESS); i++) {
		ck_assert_int_eq(rt_field_get(RT_STRUCT_PROCESS, i, &field, sizeof(field)), 0);
		if (!field.has || (row->valid & want & field.has) != field.has)
			continue;
		ck_assert_msg(memcmp((const char *)truth + field.offset,
		                     (const char *)row + field.offset, field.length) == 0,
		              "%s: then %s differs and is valid", what, field.name);
	}
}

static void check_process(uint64_t want, enum file_fault fault, int error)
{
	struct rt_process truth = { 0 };
	unsigned at = 1;

	file_faults_begin(0, FILE_FAULT_NONE, 0);
	ck_assert_int_eq(read_process(want, &truth), 0);
	ck_assert_uint_eq(truth.valid & want, want);
	for (;; at++) {
		struct rt_process row = { 0 };
		char what[160];
		int err;

		ck_assert_uint_lt(at, CALLS_MAX);
		file_faults_begin(at, fault, error);
		err = read_process(want, &row);
		if (!file_faults_is_reached())
			break;
		snprintf(what, sizeof(what), "want %#llx: call %u (%s) fails with %d, fault %d: %d",
		         (unsigned long long)want, at, file_faults_name(), error, fault, err);
		ck_assert_msg(err <= 0, "%s", what);
		ck_assert_msg(file_faults_open_files() == 3, "%s: a file stays open", what);
		if (err == 0)
			check_row(&truth, &row, want, what);
	}
	ck_assert_uint_gt(at, 1);
}

START_TEST(figure_of_a_process_is_right_or_missing_whatever_fails)
{
	write_processes(true);
	has_clock = _i;
	for (size_t want = 0; want < sizeof(wants) / sizeof(wants[0]); want++)
		for (size_t i = 0; i < FAULTS; i++)
			check_process(wants[want], faults[i].fault, faults[i].error);
}
END_TEST

/* --- The descendants. --- */

static bool is_listed(const struct rti_descendants *list, int32_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->pids[i] == pid)
			return true;
	return false;
}

/* A process that cannot be found any more is missing. None appears twice, or is a stranger. */
static void check_list(const struct rti_descendants *list, const char *what)
{
	size_t known = 0;

	for (int32_t pid = 101; pid <= 103; pid++)
		known += is_listed(list, pid);
	ck_assert_msg(list->count == known, "%s: %zu processes, %zu of them known", what,
	              list->count, known);
}

static void check_descendants(enum file_fault fault, int error)
{
	for (unsigned at = 1;; at++) {
		struct rti_descendants list = { 0 };
		char what[160];
		int err;

		ck_assert_uint_lt(at, CALLS_MAX);
		file_faults_begin(at, fault, error);
		err = rti_descendants_list(&ctx, ROOT_PID, &list);
		snprintf(what, sizeof(what), "call %u (%s) fails with %d, fault %d: %d", at,
		         file_faults_name(), error, fault, err);
		ck_assert_msg(file_faults_open_files() == 3, "%s: a file stays open", what);
		if (err == 0)
			check_list(&list, what);
		if (!file_faults_is_reached()) {
			ck_assert_int_eq(err, 0);
			ck_assert_uint_eq(list.count, PIDS);
		}
		free(list.pids);
		if (!file_faults_is_reached())
			return;
		ck_assert_msg(!is_shortage(error) || err == error || list.count == PIDS, "%s",
		              what);
	}
}

START_TEST(descendant_is_listed_once_or_missing_whatever_fails)
{
	write_processes(_i);
	for (size_t i = 0; i < FAULTS; i++)
		check_descendants(faults[i].fault, faults[i].error);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("every file call");
	TCase *tests = suite_case(suite, "calls");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, figure_of_a_process_is_right_or_missing_whatever_fails, 0, 2);
	tcase_add_loop_test(tests, descendant_is_listed_once_or_missing_whatever_fails, 0, 2);
	return suite_run(suite);
}
