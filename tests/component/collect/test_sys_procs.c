/* SPDX-License-Identifier: MIT */
/* The collector of the process count: /proc of fixtures, and the running system. */
#include "collect/collector.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "fixture.h"
#include "sampler.h"
#include "suite.h"

extern const struct rti_sys_collector rti_sys_procs;

START_TEST(directories_with_numeric_names_are_counted)
{
	struct fixture f;
	struct sampler s;

	fixture_new(&f);
	sampler_open(&s, &rti_sys_procs, f.root);
	fixture_mkdir(&f, "proc/1");
	fixture_mkdir(&f, "proc/42");
	fixture_mkdir(&f, "proc/4194303");
	fixture_mkdir(&f, "proc/sys");
	fixture_mkdir(&f, "proc/12ab");
	fixture_write(&f, "proc/stat", "processes 99\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.valid, RT_HAS_PROCESSES);
	ck_assert_uint_eq(s.out.processes, 3);

	fixture_remove(&f, "proc/42");
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.processes, 2);

	sampler_close(&s);
	fixture_free(&f);
}
END_TEST

START_TEST(three_thousand_processes_are_counted)
{
	struct fixture f;
	struct sampler s;

	fixture_new(&f);
	sampler_open(&s, &rti_sys_procs, f.root);
	for (int pid = 1; pid <= 3000; pid++) {
		char path[32];

		snprintf(path, sizeof(path), "proc/%d", pid);
		fixture_mkdir(&f, path);
	}
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.processes, 3000);

	sampler_close(&s);
	fixture_free(&f);
}
END_TEST

START_TEST(count_under_hidepid_is_a_lower_bound)
{
	struct fixture f;
	struct sampler s;

	fixture_new(&f);
	sampler_open(&s, &rti_sys_procs, f.root);
	fixture_mkdir(&f, "proc/42");
	ck_assert_int_eq(sampler_take(&s), -EACCES);
	ck_assert_uint_eq(s.out.valid, 0);
	ck_assert_uint_eq(s.out.partial, RT_HAS_PROCESSES);
	ck_assert_uint_eq(s.out.processes, 1);

	sampler_close(&s);
	fixture_free(&f);
}
END_TEST

static ssize_t fail_getdents(int fd, void *buf, size_t len)
{
	(void)fd;
	(void)buf;
	(void)len;
	return -EIO;
}

START_TEST(proc_that_cannot_be_listed_yields_no_count)
{
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct fixture f;
	struct sampler s;

	fixture_new(&f);
	ops.getdents = fail_getdents;
	ck_assert_int_eq(sampler_open_with(&s, &rti_sys_procs, f.root, &ops, 0), 0);
	ck_assert_int_eq(sampler_take(&s), -EIO);
	ck_assert_uint_eq(s.out.valid | s.out.partial, 0);

	sampler_close(&s);
	fixture_free(&f);
}
END_TEST

static uint64_t count_with_opendir(void)
{
	DIR *proc = opendir("/proc");
	uint64_t count = 0;

	ck_assert_ptr_nonnull(proc);
	for (struct dirent *entry = readdir(proc); entry; entry = readdir(proc))
		count += atoi(entry->d_name) > 0;
	closedir(proc);
	return count;
}

enum { CHILDREN = 20, SLACK = 10, TRIES_MAX = 500 };

/* Count before and after a sample that children are there for. Returns whether the counts differ by
 * the children, within a few: then hardly any other process has started or ended meanwhile. */
static bool sample_beside_children(struct sampler *s, uint64_t *before)
{
	pid_t child[CHILDREN];
	uint64_t after;

	*before = count_with_opendir();
	for (int i = 0; i < CHILDREN; i++) {
		child[i] = fork();
		if (child[i] == 0) {
			pause();
			_exit(0);
		}
		ck_assert_int_gt(child[i], 0);
	}
	ck_assert_int_eq(sampler_take(s), 0);
	after = count_with_opendir();

	for (int i = 0; i < CHILDREN; i++) {
		kill_process(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
	}
	return after >= *before + CHILDREN - SLACK && after <= *before + CHILDREN + SLACK;
}

/* Other tests may start and end hundreds of processes at once. */
START_TEST(live_count_lies_between_two_counts)
{
	struct sampler s;
	uint64_t before;
	int tries = 0;

	sampler_open(&s, &rti_sys_procs, NULL);
	while (!sample_beside_children(&s, &before))
		ck_assert_int_lt(++tries, TRIES_MAX);
	ck_assert_uint_ge(s.out.processes, before + CHILDREN - SLACK);
	ck_assert_uint_le(s.out.processes, before + CHILDREN + SLACK);
	sampler_close(&s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_procs");
	TCase *fixtures = suite_case(suite, "fixtures"), *live = suite_case(suite, "live");

	tcase_add_test(fixtures, directories_with_numeric_names_are_counted);
	tcase_add_test(fixtures, three_thousand_processes_are_counted);
	tcase_add_test(fixtures, count_under_hidepid_is_a_lower_bound);
	tcase_add_test(fixtures, proc_that_cannot_be_listed_yields_no_count);
	tcase_add_test(live, live_count_lies_between_two_counts);
	return suite_run(suite);
}
