/* SPDX-License-Identifier: MIT */
/* The number of a cgroup (v2), as the tracer finds it on any kernel. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/process/pidfd.h"
#include "suite.h"
#include "tracer/identity.h"

static bool is_old_kernel;
static unsigned calls, vain_closes;

/* The linker calls this instead of rti_pidfd_cgroup_id(). */
int __wrap_rti_pidfd_cgroup_id(int pidfd, uint64_t *id);
int __real_rti_pidfd_cgroup_id(int pidfd, uint64_t *id);

int __wrap_rti_pidfd_cgroup_id(int pidfd, uint64_t *id)
{
	calls++;
	return is_old_kernel ? -EOPNOTSUPP : __real_rti_pidfd_cgroup_id(pidfd, id);
}

int __wrap_close(int fd);
int __real_close(int fd);

int __wrap_close(int fd)
{
	vain_closes += fd < 0;
	return __real_close(fd);
}

static uint64_t find_id(int32_t tid)
{
	struct rtt_tracee tracee = { .tid = tid, .stat_fd = -1, .pidfd = -1 };
	struct rti_trace_record record = { 0 };

	rtt_identity_begin();
	rtt_identity_fill(&tracee, &record);
	rtt_identity_forget(&tracee);
	if (tracee.pidfd >= 0)
		close(tracee.pidfd);
	return record.cgroup_id;
}

/* Returns the inode number of the directory of this process's cgroup, or 0. */
static uint64_t find_inode(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[4096], path[8192];
	struct stat st;
	uint64_t inode = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "0::", 3) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(path, sizeof(path), "/sys/fs/cgroup%s%s",
		         access("/sys/fs/cgroup/unified", F_OK) == 0 ? "/unified" : "", line + 3);
		inode = stat(path, &st) == 0 ? st.st_ino : 0;
	}
	if (file)
		fclose(file);
	return inode;
}

/* Linux 6.13 gives the number by the pidfd. Before, it is that of the directory. */
START_TEST(cgroup_has_the_number_of_its_directory_on_any_kernel)
{
	uint64_t inode = find_inode();

	if (inode == 0) {
		suite_skip_test("this process is in no cgroup v2 that is mounted");
		return;
	}
	is_old_kernel = _i;
	ck_assert_uint_eq(find_id(getpid()), inode);
}
END_TEST

START_TEST(cgroup_of_a_process_that_is_gone_has_no_number)
{
	is_old_kernel = _i;
	ck_assert_uint_eq(find_id(INT32_MAX), 0);
	ck_assert_uint_eq(vain_closes, 0); /* of its files, which are not there */
}
END_TEST

/* Descriptor 0 is as good as any. */
START_TEST(kernel_that_cannot_answer_is_asked_once)
{
	is_old_kernel = true;
	if (_i == 0)
		close(STDIN_FILENO);
	for (int i = 0; i < 3; i++)
		find_id(getpid());
	ck_assert_uint_le(calls, 1);
}
END_TEST

/* Its descriptors are for files that are opened and closed. So none stays open for the thread. */
START_TEST(cgroup_is_known_to_a_tracer_with_few_descriptors)
{
	const struct rlimit few = { 70, 70 };
	struct rtt_tracee tracee = { .tid = getpid(), .stat_fd = -1, .pidfd = -1 };
	struct rti_trace_record record = { 0 };
	uint64_t inode = find_inode();

	if (inode == 0) {
		suite_skip_test("this process is in no cgroup v2 that is mounted");
		return;
	}
	while (dup(STDOUT_FILENO) < 6)
		;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	is_old_kernel = _i;
	rtt_identity_begin();
	for (int i = 0; i < 2; i++) {
		rtt_identity_fill(&tracee, &record);
		ck_assert_uint_eq(record.cgroup_id, inode);
		ck_assert_int_eq(record.ppid, getppid());
		ck_assert_int_eq(tracee.pidfd, -1);
		ck_assert_int_eq(tracee.stat_fd, -1);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup_ids");
	TCase *tests = suite_case(suite, "cgroups");

	tcase_add_loop_test(tests, cgroup_has_the_number_of_its_directory_on_any_kernel, 0, 2);
	tcase_add_loop_test(tests, cgroup_of_a_process_that_is_gone_has_no_number, 0, 2);
	tcase_add_loop_test(tests, cgroup_is_known_to_a_tracer_with_few_descriptors, 0, 2);
	tcase_add_loop_test(tests, kernel_that_cannot_answer_is_asked_once, 0, 2);
	return suite_run(suite);
}
