/* SPDX-License-Identifier: MIT */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

#define CASE_TIMEOUT_S 300

int suite_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int suite_skip(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	return EXIT_SUCCESS;
}

TCase *suite_case(Suite *suite, const char *name)
{
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, CASE_TIMEOUT_S);
	suite_add_tcase(suite, tcase);
	return tcase;
}
