/* SPDX-License-Identifier: MIT */
#include "suite.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CASE_TIMEOUT_S 300
#define TESTS_MAX 16384
#define REASON_BYTES 160

/* Which tests were skipped, and why. Shared with the tests, which run in processes of their own. */
struct skips {
	uint32_t running; /* the number of the test that runs, from 1 on, as in the TAP output */
	char reason[TESTS_MAX][REASON_BYTES]; /* by number; "": it was not skipped */
};

static struct skips *skips;

static void share_skips(void)
{
	if (skips)
		return;
	skips =
	    mmap(NULL, sizeof(*skips), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (skips == MAP_FAILED)
		abort();
}

static void count_test(void)
{
	skips->running++;
}

/* Each test runs in a process of its own. CK_FORK=no is for debuggers. */
static int is_forking(void)
{
	const char *fork = getenv("CK_FORK");

	return !fork || strcmp(fork, "no") != 0;
}

void suite_skip_test(const char *why)
{
	/* An assertion would name this file as that of the test. */
	if (skips->running == 0 || skips->running >= TESTS_MAX)
		abort();
	snprintf(skips->reason[skips->running], REASON_BYTES, "%.*s", (int)strcspn(why, "\n"), why);
	if (!is_forking())
		printf("# SKIP %s\n", skips->reason[skips->running]);
}

/* Copy what libcheck reports, and add the reason to each test that was skipped. It ends with the
 * plan, which libcheck writes last. */
static void copy_report(FILE *report)
{
	static char line[65536];
	unsigned number;
	int is_plan = 0;

	while (!is_plan && fgets(line, sizeof(line), report)) {
		is_plan = strncmp(line, "1..", 3) == 0;
		if (sscanf(line, "ok %u - ", &number) == 1 && number < TESTS_MAX &&
		    skips->reason[number][0])
			printf("%.*s # SKIP %s\n", (int)strcspn(line, "\n"), line,
			       skips->reason[number]);
		else
			fputs(line, stdout);
		fflush(stdout);
	}
}

/* Have another process copy what is written to stdout from now on. Returns its pid. */
static pid_t start_copy(void)
{
	int ends[2];
	FILE *report;
	pid_t pid;

	fflush(stdout);
	if (pipe(ends) < 0)
		abort();
	pid = fork();
	if (pid < 0)
		abort();
	if (pid == 0) {
		close(ends[1]);
		report = fdopen(ends[0], "r");
		if (report)
			copy_report(report);
		_exit(0);
	}
	dup2(ends[1], STDOUT_FILENO);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

int suite_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	pid_t copy = is_forking() ? start_copy() : 0;
	int failed;

	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	fflush(stdout);
	while (copy > 0 && waitpid(copy, NULL, 0) < 0 && errno == EINTR)
		;
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int suite_skip(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	return EXIT_SUCCESS;
}

unsigned suite_share(unsigned inputs)
{
	const char *percent = getenv("RTRACK_INPUTS_PERCENT");

	return percent ? (unsigned)((uint64_t)inputs * strtoul(percent, NULL, 10) / 100) : inputs;
}

unsigned suite_step(unsigned most)
{
	return suite_share(100) < 100 ? most : 1;
}

TCase *suite_case(Suite *suite, const char *name)
{
	TCase *tcase = tcase_create(name);

	share_skips();
	tcase_set_timeout(tcase, CASE_TIMEOUT_S);
	/* First, so before any other fixture that may fail. */
	tcase_add_checked_fixture(tcase, count_test, NULL);
	suite_add_tcase(suite, tcase);
	return tcase;
}
