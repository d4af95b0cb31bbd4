/* SPDX-License-Identifier: MIT */
/* What a call that found no process returns if there is no /proc. */
#include "os/thread/one_call.h"

#include <errno.h>

#include "fixture.h"
#include "suite.h"

static const struct {
	const char *file; /* in proc; NULL: none */
	int err, result;
} cases[] = {
	{ NULL, -ESRCH, -ENOENT },       { NULL, -EACCES, -ENOENT },
	{ NULL, -EMFILE, -EMFILE },      { NULL, 0, 0 },
	{ "proc/self", -ESRCH, -ESRCH }, { "proc/stat", -ESRCH, -ESRCH },
};

START_TEST(missing_process_without_proc_is_a_missing_proc)
{
	struct rti_one_call call = { .ctx = { .procfs = &call.procfs } };
	struct fixture f;

	fixture_new(&f);
	if (cases[_i].file)
		fixture_write(&f, cases[_i].file, "");
	ck_assert_int_eq(rti_procfs_open(&call.procfs, f.root, &rti_procfs_linux), 0);
	ck_assert_int_eq(rti_one_call_end(&call, cases[_i].err), cases[_i].result);
	rti_procfs_close(&call.procfs);
	fixture_free(&f);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("one_call");
	TCase *tests = suite_case(suite, "end");

	tcase_add_loop_test(tests, missing_process_without_proc_is_a_missing_proc, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	return suite_run(suite);
}
