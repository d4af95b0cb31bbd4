/* SPDX-License-Identifier: MIT */
#include "collect/collector.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "sampler.h"
#include "suite.h"

extern const struct rti_sys_collector rti_sys_procs;

START_TEST(numeric_names_are_processes)
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

START_TEST(many)
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

START_TEST(hidden_ones_make_a_lower_bound)
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

START_TEST(unreadable_is_not_zero)
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

/* Others start processes too, so the count is between two independent ones, or nearly so. */
START_TEST(live_between_two_counts)
{
	enum { CHILDREN = 20, SLACK = 10 };
	pid_t child[CHILDREN];
	struct sampler s;
	uint64_t before;

	sampler_open(&s, &rti_sys_procs, NULL);
	before = count_with_opendir();
	for (int i = 0; i < CHILDREN; i++) {
		child[i] = fork();
		if (child[i] == 0) {
			pause();
			_exit(0);
		}
		ck_assert_int_gt(child[i], 0);
	}
	ck_assert_int_eq(sampler_take(&s), 0);
	for (int i = 0; i < CHILDREN; i++) {
		kill(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
	}
	ck_assert_uint_ge(s.out.processes, before + CHILDREN - SLACK);
	ck_assert_uint_le(s.out.processes, before + CHILDREN + SLACK);
	sampler_close(&s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_procs");
	TCase *fixtures = suite_case(suite, "fixtures"), *system = suite_case(suite, "live");

	tcase_add_test(fixtures, numeric_names_are_processes);
	tcase_add_test(fixtures, many);
	tcase_add_test(fixtures, hidden_ones_make_a_lower_bound);
	tcase_add_test(fixtures, unreadable_is_not_zero);
	tcase_add_test(system, live_between_two_counts);
	return suite_run(suite);
}
