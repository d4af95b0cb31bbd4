/* SPDX-License-Identifier: MIT */
/* The frame of every test file: one libcheck suite, reported as TAP. */
#ifndef SUITE_H
#define SUITE_H

#include <check.h>

/* libcheck writes to a file at each assertion that holds, so that a crash has a line. That took
 * most of the time of tests with 100,000 assertions. A debugger shows the line of a crash. */
#define _mark_point(file, line) ((void)0)

/* Run a suite and report it as TAP on stdout. Returns the exit status for main(). */
int suite_run(Suite *suite);

/* Report that this test file cannot run here, and why. Returns the exit status for main(). */
int suite_skip(const char *why);

/* Report that the running test cannot run here, and why. It then returns at once: it may not have
 * asserted anything that it is there for. E.g.:
 *
 *	if (geteuid() != 0) {
 *		suite_skip_test("only root can be two users");
 *		return;
 *	}
 */
void suite_skip_test(const char *why);

/* The share of so many inputs of chance that RTRACK_INPUTS_PERCENT asks for: all without it. */
unsigned suite_share(unsigned inputs);

/* The step from one input to the next, where they are counted up: 1 for all, most for a share. */
unsigned suite_step(unsigned most);

/* Add a test case of this name with a generous time limit to a suite. The caller adds tests with
 * tcase_add_test(). */
TCase *suite_case(Suite *suite, const char *name);

#endif
