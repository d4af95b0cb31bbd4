/* SPDX-License-Identifier: MIT */
/* What the supervisor counts of itself in a report. */
#include "supervisor/supervisor.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "suite.h"
#include "supervisor/proc_file.h"

static unsigned reports;

static void count_report(struct rts_supervisor *s)
{
	(void)s;
	reports++;
}

/* A read of a descriptor that is not there is none to the kernel. What the supervisor counts too
 * much is missing of the I/O of the program. */
START_TEST(report_counts_the_read_of_a_clock_that_is_there)
{
	struct rts_supervisor s = { .clock = -1, .deliver = count_report };
	const uint64_t reads = _i == 0 ? 0 : 1;

	if (reads)
		s.clock = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	s.shared = calloc(1, RTI_SHARED_STATS_BYTES);
	ck_assert_ptr_nonnull(s.shared);

	rts_report(&s, RTI_ACCOUNTED);

	ck_assert_uint_eq(reports, 1);
	ck_assert_uint_eq(s.report.clock_ns, 0);
	ck_assert_uint_eq(s.shared->own_io[RTS_READ_CALLS], reads);
	ck_assert_uint_eq(s.shared->own_io[0], reads * sizeof(uint64_t));
	if (s.clock >= 0)
		close(s.clock);
	free(s.shared);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("supervisor");
	TCase *tcase = suite_case(suite, "report");

	tcase_add_loop_test(tcase, report_counts_the_read_of_a_clock_that_is_there, 0, 2);
	return suite_run(suite);
}
