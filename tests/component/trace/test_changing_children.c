/* SPDX-License-Identifier: MIT */
/* Descendants that change while they are looked at: the test has the place of what reads them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/rusage.h"
#include "collect/descendants.h"
#include "collect/pid_once.h"
#include "os/thread/one_call.h"
#include "suite.h"
#include "trace/live_children.h"

#define ROOT 1000
#define FIRST 1001
#define SECOND 1002
#define OTHER 1003
#define ALL (RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_IO | RT_HAS_PEAK_RSS | RT_HAS_CTXSW)
#define OF_CPU (RTI_RUSAGE_BIT(ru_utime) | RTI_RUSAGE_BIT(ru_stime))
#define OF_SWITCHES (RTI_RUSAGE_BIT(ru_nvcsw) | RTI_RUSAGE_BIT(ru_nivcsw))

/* What changes, of the root or between the first and the second look at the descendants. */
enum change {
	NOTHING,
	LIST_FAILS,
	MEMORY_IS_SHORT,
	PROCESS_ENDS,
	ROOT_ENDS,
	ROOT_WAITS,
	ROOT_WAITS_WITH_MAJOR_FAULTS,
	SECOND_LIST_FAILS,
	PROCESS_IS_FORKED,
	PROCESS_HAS_ANOTHER_PID,
	PROCESS_ENDS_LATER,
	PID_IS_REUSED,
	PROCESS_WAITS,
	PROCESS_WAITS_WITH_MAJOR_FAULTS,
	CHANGES
};

static struct {
	enum change change;
	unsigned looks, last_change; /* the change happens in the looks up to this one */
	bool has_read_root, is_second_look;
	int begin_error;
	bool lacks_memory;           /* for the next calloc() */
	struct rti_pid_once process; /* as a descendant is read */
} kernel;

/* The linker calls these instead of the functions in their names. */
int __wrap_rti_descendants_list(const struct rti_context *ctx, int32_t pid,
                                struct rti_descendants *out);
int __wrap_rti_pid_once_read(const struct rti_context *ctx, int32_t pid, uint64_t want,
                             struct rti_pid_once *out);
int __real_rti_one_call_begin(struct rti_one_call *call, uint32_t flags);
int __wrap_rti_one_call_begin(struct rti_one_call *call, uint32_t flags);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

int __wrap_rti_one_call_begin(struct rti_one_call *call, uint32_t flags)
{
	return kernel.begin_error ? kernel.begin_error : __real_rti_one_call_begin(call, flags);
}

void *__wrap_calloc(size_t count, size_t size)
{
	bool fails = kernel.lacks_memory;

	kernel.lacks_memory = false;
	return fails ? NULL : __real_calloc(count, size);
}

static bool happens(enum change change)
{
	return kernel.change == change && kernel.looks <= kernel.last_change;
}

int __wrap_rti_descendants_list(const struct rti_context *ctx, int32_t pid,
                                struct rti_descendants *out)
{
	const int32_t pids[] = { FIRST, SECOND, OTHER };

	(void)ctx;
	ck_assert_int_eq(pid, ROOT);
	kernel.is_second_look = kernel.has_read_root;
	kernel.has_read_root = false;
	kernel.looks += !kernel.is_second_look;
	if (happens(kernel.is_second_look ? SECOND_LIST_FAILS : LIST_FAILS))
		return -ENOMEM;
	kernel.lacks_memory = happens(MEMORY_IS_SHORT);
	out->pids = malloc(sizeof(pids));
	ck_assert_ptr_nonnull(out->pids);
	memcpy(out->pids, pids, sizeof(pids));
	out->count = kernel.is_second_look && happens(PROCESS_IS_FORKED) ? 3 : 2;
	if (kernel.is_second_look && happens(PROCESS_HAS_ANOTHER_PID))
		out->pids[1] = OTHER;
	return 0;
}

/* The root is read between the two looks. */
static int read_root(struct rti_pid_once *out)
{
	kernel.has_read_root =
	    !happens(ROOT_ENDS) && !happens(ROOT_WAITS) && !happens(ROOT_WAITS_WITH_MAJOR_FAULTS);
	out->stat.cminflt = 5u + happens(ROOT_WAITS);
	out->stat.cmajflt = 6u + happens(ROOT_WAITS_WITH_MAJOR_FAULTS);
	return happens(ROOT_ENDS) ? -ESRCH : 0;
}

int __wrap_rti_pid_once_read(const struct rti_context *ctx, int32_t pid, uint64_t want,
                             struct rti_pid_once *out)
{
	(void)ctx;
	(void)want;
	*out = kernel.process;
	out->stat.pid = pid;
	if (pid == ROOT)
		return read_root(out);
	if (!kernel.is_second_look)
		return happens(PROCESS_ENDS) && pid == SECOND ? -ESRCH : 0;
	out->stat.starttime += happens(PID_IS_REUSED);
	out->stat.cminflt += happens(PROCESS_WAITS);
	out->stat.cmajflt += happens(PROCESS_WAITS_WITH_MAJOR_FAULTS);
	return happens(PROCESS_ENDS_LATER) ? -ESRCH : 0;
}

static bool read_children(struct rti_live_children *out)
{
	const struct rt_rusage reported = { .ru_minflt = 5, .ru_majflt = 6 };

	return rti_live_children_read(ROOT, &reported, out);
}

static void set_up(void)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.process = (struct rti_pid_once){
		.stat = { .starttime = 77, .has_starttime = true, .flags = RTI_PF_FORKNOEXEC },
		.figures = { .valid = ALL, .row.peak_rss_bytes = 4096 },
		.has_clock = true,
	};
	kernel.process.figures.self[RTI_CPU_USER] = 1000000000;
}

static bool try_with(enum change change, unsigned last_change)
{
	struct rti_live_children out;
	bool is_good;

	kernel.change = change;
	kernel.last_change = last_change;
	is_good = read_children(&out);
	ck_assert(!is_good || (out.valid == RTI_RUSAGE_ALL && out.usage.ru_utime == 2.0));
	return is_good;
}

START_TEST(descendants_that_change_meanwhile_are_looked_at_again)
{
	ck_assert(try_with((enum change)_i, 1));
	ck_assert_uint_eq(kernel.looks, _i == NOTHING ? 1 : 2);
}
END_TEST

START_TEST(descendants_that_change_in_each_look_are_unknown)
{
	ck_assert(!try_with((enum change)_i, UINT32_MAX));
	ck_assert_uint_eq(kernel.looks, 3);
}
END_TEST

static const struct {
	uint64_t invalid; /* domains of the process */
	uint64_t unknown, partial;
	uint64_t cminflt, cmajflt, cutime, cstime;
	bool is_peak_zero, has_no_clock, has_executed;
} cases[] = {
	{ .invalid = RT_HAS_CPU, .unknown = OF_CPU },
	{ .invalid = RT_HAS_FAULTS,
	  .unknown = RTI_RUSAGE_BIT(ru_minflt) | RTI_RUSAGE_BIT(ru_majflt) },
	{ .invalid = RT_HAS_IO,
	  .unknown = RTI_RUSAGE_BIT(ru_inblock) | RTI_RUSAGE_BIT(ru_oublock) },
	{ .invalid = RT_HAS_PEAK_RSS, .unknown = RTI_RUSAGE_BIT(ru_maxrss) },
	{ .invalid = RT_HAS_CTXSW, .unknown = OF_SWITCHES },
	{ .is_peak_zero = true, .unknown = RTI_RUSAGE_BIT(ru_maxrss) },
	{ .has_no_clock = true, .partial = OF_CPU },
	{ .has_executed = true, .partial = RTI_RUSAGE_BIT(ru_maxrss) },
	{ .cminflt = 1, .partial = OF_CPU | RTI_RUSAGE_BIT(ru_maxrss) | OF_SWITCHES },
	{ .cmajflt = 1, .partial = OF_CPU | RTI_RUSAGE_BIT(ru_maxrss) | OF_SWITCHES },
	{ .cutime = 1, .partial = OF_CPU | RTI_RUSAGE_BIT(ru_maxrss) | OF_SWITCHES },
	{ .cstime = 1, .partial = OF_CPU | RTI_RUSAGE_BIT(ru_maxrss) | OF_SWITCHES },
};

#define CASES (int)(sizeof(cases) / sizeof(cases[0]))

START_TEST(figures_that_descendants_lack_are_marked)
{
	struct rti_live_children out;
	struct rti_pid_once *process = &kernel.process;

	process->figures.valid &= ~cases[_i].invalid;
	process->stat.cminflt = cases[_i].cminflt;
	process->stat.cmajflt = cases[_i].cmajflt;
	process->stat.cutime = cases[_i].cutime;
	process->stat.cstime = cases[_i].cstime;
	process->has_clock = !cases[_i].has_no_clock;
	if (cases[_i].is_peak_zero)
		process->figures.row.peak_rss_bytes = 0;
	if (cases[_i].has_executed)
		process->stat.flags = 0;

	ck_assert(read_children(&out));

	ck_assert_uint_eq(out.partial, cases[_i].partial);
	ck_assert_uint_eq(out.valid,
	                  RTI_RUSAGE_ALL & ~(uint32_t)(cases[_i].unknown | cases[_i].partial));
}
END_TEST

START_TEST(children_of_no_process_are_unknown)
{
	struct rti_live_children out;
	const struct rt_rusage reported = { 0 };

	ck_assert(!rti_live_children_read(0, &reported, &out));
	ck_assert_uint_eq(kernel.looks, 0);
}
END_TEST

/* /proc shows the processes of another pid namespace, or is not mounted. */
START_TEST(children_without_a_proc_of_this_process_are_unknown)
{
	kernel.begin_error = -EXDEV;
	ck_assert(!try_with(NOTHING, 0));
	ck_assert_uint_eq(kernel.looks, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("changing_children");
	TCase *looks = suite_case(suite, "looks");

	tcase_add_checked_fixture(looks, set_up, NULL);
	tcase_add_loop_test(looks, descendants_that_change_meanwhile_are_looked_at_again, NOTHING,
	                    CHANGES);
	tcase_add_loop_test(looks, descendants_that_change_in_each_look_are_unknown, NOTHING + 1,
	                    CHANGES);
	tcase_add_loop_test(looks, figures_that_descendants_lack_are_marked, 0, CASES);
	tcase_add_test(looks, children_of_no_process_are_unknown);
	tcase_add_test(looks, children_without_a_proc_of_this_process_are_unknown);
	return suite_run(suite);
}
