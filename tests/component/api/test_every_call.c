/* SPDX-License-Identifier: MIT */
/* Each call to the system of the calls without a tracer fails once: what they return is the truth,
 * or missing, or an error, and nothing stays open. The process that is read is stopped. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "command/call_faults.h"
#include "descriptors.h"
#include "suite.h"

#define CALLS_MAX 1000
#define PIDS 8
#define ALL                                                                                        \
	(RT_HAS_CPU | RT_HAS_RSS | RT_HAS_PSS | RT_HAS_PEAK_RSS | RT_HAS_IO | RT_HAS_FAULTS |      \
	 RT_HAS_CTXSW | RT_HAS_THREADS)

static pid_t child, grandchild;

/* A child that has forked one, both of them stopped. */
static void set_up(void)
{
	int status, ready[2];

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		grandchild = fork();
		if (grandchild == 0) {
			raise(SIGSTOP);
			_exit(0);
		}
		waitpid(grandchild, NULL, WUNTRACED);
		if (write(ready[1], &grandchild, sizeof(grandchild)) < 0)
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
	close(ready[0]);
	close(ready[1]);
	ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
	ck_assert(WIFSTOPPED(status));
}

static void tear_down(void)
{
	kill_process(grandchild, SIGKILL);
	kill_process(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* What a use has come to. */
struct answer {
	struct rt_rusage rusage;
	uint32_t rusage_valid;
	struct rt_process row;
	int32_t pids[PIDS];
	size_t pid_count;
};

static int read_rusage(struct answer *out)
{
	return rt_pid_getrusage(child, &out->rusage, &out->rusage_valid);
}

static int read_all(struct answer *out)
{
	return rt_pid_read(child, ALL, &out->row, sizeof(out->row));
}

static int read_switches(struct answer *out)
{
	return rt_pid_read(child, RT_HAS_CTXSW, &out->row, sizeof(out->row));
}

static int read_io(struct answer *out)
{
	return rt_pid_read(child, RT_HAS_IO, &out->row, sizeof(out->row));
}

static int read_pss(struct answer *out)
{
	return rt_pid_read(child, RT_HAS_PSS, &out->row, sizeof(out->row));
}

static int list(struct answer *out)
{
	out->pid_count = PIDS;
	return rt_pid_descendants(child, out->pids, &out->pid_count);
}

static int read_caller(struct answer *out)
{
	struct rt_rusage own;
	int err = rt_getrusage(RT_RUSAGE_SELF, &own);

	(void)out;
	return err < 0 ? err : rt_getrusage(RT_RUSAGE_CHILDREN, &own);
}

static const struct {
	const char *name;
	int (*use)(struct answer *out);
} uses[] = {
	{ "rt_pid_getrusage", read_rusage },
	{ "rt_pid_read of all", read_all },
	{ "rt_pid_read of switches", read_switches },
	{ "rt_pid_read of I/O", read_io },
	{ "rt_pid_read of PSS", read_pss },
	{ "rt_pid_descendants", list },
	{ "rt_getrusage", read_caller },
};

#define USES (int)(sizeof(uses) / sizeof(uses[0]))

static const struct {
	int kinds, error;
} faults[] = {
	{ CALL_MAKES, EMFILE }, { CALL_MAKES, ENOMEM }, { CALL_READS, EIO },
	{ CALL_READS, EACCES }, { CALL_READS, EPERM },  { CALL_READS, ENOENT },
	{ CALL_READS, ESRCH },  { CALL_WAITS, EINTR },
};

/* Figures that are valid are those of the true answer. PSS is not compared: what the process shares
 * with this one changes. */
static void check_row(const struct rt_process *truth, const struct rt_process *row,
                      const char *what)
{
	struct rt_field field;

	for (uint32_t i = 0; i < rt_field_count(RT_STRUCT_PROCESS); i++) {
		ck_assert_int_eq(rt_field_get(RT_STRUCT_PROCESS, i, &field, sizeof(field)), 0);
		if (!field.has || field.has == RT_HAS_PSS || (row->valid & field.has) != field.has)
			continue;
		ck_assert_msg(memcmp((const char *)truth + field.offset,
		                     (const char *)row + field.offset, field.length) == 0,
		              "%s: %s differs and is valid", what, field.name);
	}
}

static void check_rusage(const struct answer *truth, const struct answer *answer, const char *what)
{
	struct rt_field field;

	for (uint32_t i = 0; i < rt_field_count(RT_STRUCT_RUSAGE); i++) {
		ck_assert_int_eq(rt_field_get(RT_STRUCT_RUSAGE, i, &field, sizeof(field)), 0);
		if (!(answer->rusage_valid >> i & 1))
			continue;
		ck_assert_msg(memcmp((const char *)&truth->rusage + field.offset,
		                     (const char *)&answer->rusage + field.offset,
		                     field.length) == 0,
		              "%s: %s differs and is valid", what, field.name);
	}
}

/* A process that seems to be gone is missing; no stranger is there. */
static void check_pids(const struct answer *answer, const char *what)
{
	ck_assert_msg(answer->pid_count <= 1, "%s: %zu descendants", what, answer->pid_count);
	if (answer->pid_count == 1)
		ck_assert_msg(answer->pids[0] == grandchild, "%s: %d is a descendant", what,
		              answer->pids[0]);
}

static bool use_with_fault(int i, const struct answer *truth, unsigned at, int kinds, int error)
{
	int before = count_descriptors(), err;
	struct answer answer = { 0 };
	bool is_reached;
	char what[128];

	call_faults_begin(at, kinds, error);
	err = uses[i].use(&answer);
	is_reached = call_faults_end();
	snprintf(what, sizeof(what), "%s: call %u (%s) fails with %d: %d", uses[i].name, at,
	         call_faults_name(), error, err);
	ck_assert_msg(is_reached || err == 0, "%s", what);
	ck_assert_msg(err <= 0, "%s", what);
	if (err == 0) {
		check_row(&truth->row, &answer.row, what);
		check_rusage(truth, &answer, what);
		check_pids(&answer, what);
	}
	ck_assert_msg(count_descriptors() == before, "%s: a descriptor stays", what);
	return is_reached;
}

START_TEST(answer_is_true_or_missing_whatever_call_fails)
{
	struct answer truth = { 0 };
	unsigned reached = 0;

	ck_assert_int_eq(uses[_i].use(&truth), 0);
	for (size_t fault = 0; fault < sizeof(faults) / sizeof(faults[0]); fault++) {
		unsigned at = 1;

		while (use_with_fault(_i, &truth, at, faults[fault].kinds, faults[fault].error))
			ck_assert_uint_lt(at++, CALLS_MAX);
		reached += at - 1;
	}
	ck_assert_uint_gt(reached, 5);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("every call");
	TCase *tests = suite_case(suite, "calls");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, answer_is_true_or_missing_whatever_call_fails, 0, USES);
	return suite_run(suite);
}
