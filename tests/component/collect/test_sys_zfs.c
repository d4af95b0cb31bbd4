/* SPDX-License-Identifier: MIT */
/* The ZFS collector: runs of a fake zpool, their timing, and where ZFS is absent. */
#include "collect/sys_zfs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/collector.h"
#include "children.h"
#include "fixture.h"
#include "sampler.h"
#include "suite.h"
#include "threads.h"

extern const struct rti_sys_collector rti_sys_zfs;

#define SECOND_NS UINT64_C(1000000000)

static struct fixture f;
static struct sampler s;

/* The collector keeps a pointer to these. */
static char program[256];
static const char *const programs[] = { "/none/such/zpool", program, NULL };
static struct rti_zfs_setup setup = { programs, 20 * SECOND_NS };
static uint64_t fake_now_ns;

static int zfs_access(int dirfd, const char *path)
{
	return strcmp(path, "spl/kstat/zfs") == 0 ? 0 : rti_procfs_linux.access(dirfd, path);
}

static void fake_now(struct rti_now *out)
{
	*out = (struct rti_now){ .monotonic_ns = fake_now_ns };
}

static const struct rti_procfs_ops *ops_with_zfs(void)
{
	static struct rti_procfs_ops ops;

	ops = rti_procfs_linux;
	ops.access = zfs_access;
	return &ops;
}

static void set_up(void)
{
	fixture_new(&f);
	snprintf(program, sizeof(program), "%s/zpool", f.root);
	fake_now_ns = 1000 * SECOND_NS;
	setup.timeout_ns = 20 * SECOND_NS;
	ck_assert_int_eq(sampler_open_with(&s, &rti_sys_zfs, NULL, ops_with_zfs(), 0), 0);
	s.platform.now = fake_now;
	rti_sys_zfs_set_up(s.state, &setup);
}

static void tear_down(void)
{
	sampler_close(&s);
	fixture_free(&f);
}

/* Installs a fake zpool. It is renamed into place, since a file that is open for writing cannot be
 * executed. */
static void write_program(const char *body)
{
	char draft[300];

	fixture_printf(&f, "draft", "#!/bin/sh\n%s\n", body);
	snprintf(draft, sizeof(draft), "%s/draft", f.root);
	ck_assert_int_eq(chmod(draft, 0755), 0);
	ck_assert_int_eq(rename(draft, program), 0);
}

#define TWO_POOLS "printf 'tank\\t1000\\t300\\t700\\nmy pool\\t50\\t20\\t30\\n'"

/* On a loaded system, the first sample may end before the program does. */
static int take_until_answered(void)
{
	int err = sampler_take(&s);

	for (int i = 0; i < 2000 && err == -ETIMEDOUT; i++) {
		usleep(10000);
		err = sampler_take(&s);
	}
	return err;
}

static void expect_two(void)
{
	const struct rt_zpool *row;
	size_t count;

	ck_assert_uint_eq(s.out.valid, RT_HAS_ZFS);
	ck_assert_uint_eq(s.out.zfs_size_bytes, 1050);
	ck_assert_uint_eq(s.out.zfs_allocated_bytes, 320);
	ck_assert_uint_eq(s.out.zfs_free_bytes, 730);
	ck_assert_uint_eq(s.out.zfs_pools, 2);
	row = sampler_rows(&s, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(row[1].size, sizeof(*row));
	ck_assert_str_eq(row[1].name, "my pool");
	ck_assert_uint_eq(row[1].size_bytes, 50);
	ck_assert_uint_eq(row[1].allocated_bytes, 20);
	ck_assert_uint_eq(row[1].free_bytes, 30);
}

START_TEST(zpool_with_two_pools_yields_all_figures)
{
	write_program("[ \"$*\" = 'list -Hp -o name,size,alloc,free' ] || exit 1\n" TWO_POOLS);
	ck_assert_int_eq(take_until_answered(), 0);
	expect_two();
}
END_TEST

START_TEST(zpool_without_pools_yields_zero)
{
	write_program("exit 0");
	ck_assert_int_eq(take_until_answered(), 0);
	ck_assert_uint_eq(s.out.valid, RT_HAS_ZFS);
	ck_assert_uint_eq(s.out.zfs_pools, 0);
}
END_TEST

/* A pool that cannot be opened has no figures. */
START_TEST(zpool_with_faulted_pool_is_partial)
{
	size_t count;

	write_program("printf 'bad\\t-\\t-\\t-\\ntank\\t1000\\t300\\t700\\n'");
	ck_assert_int_eq(take_until_answered(), -EIO);
	ck_assert_uint_eq(s.out.valid, 0);
	ck_assert_uint_eq(s.out.partial, RT_HAS_ZFS);
	ck_assert_uint_eq(s.out.zfs_size_bytes, 1000);

	sampler_rows(&s, &count);
	ck_assert_uint_eq(count, 1);
}
END_TEST

static void expect_nothing(int err)
{
	size_t count;

	ck_assert_int_eq(take_until_answered(), err);
	ck_assert_uint_eq(s.out.valid | s.out.partial, 0);
	ck_assert_ptr_null(sampler_rows(&s, &count));
}

/* The second one would fail, as another version of the program may. */
START_TEST(zpool_in_the_first_place_is_the_one_that_is_run)
{
	static const char *const two[] = { program, "/bin/false", NULL };
	static const struct rti_zfs_setup setup_two = { two, 20 * SECOND_NS };

	rti_sys_zfs_set_up(s.state, &setup_two);
	write_program(TWO_POOLS);
	ck_assert_int_eq(take_until_answered(), 0);
	expect_two();
}
END_TEST

START_TEST(zpool_with_malformed_output_fails_with_ebadmsg)
{
	write_program("printf 'tank\\t1000\\t300\\t700\\nwhat is this\\n'");
	expect_nothing(-EBADMSG);
}
END_TEST

START_TEST(zpool_that_exits_with_error_fails_with_eio)
{
	write_program(TWO_POOLS "; echo 'cannot open /dev/zfs' >&2; exit 1");
	expect_nothing(-EIO);
}
END_TEST

START_TEST(zpool_missing_fails_with_enoent)
{
	expect_nothing(-ENOENT);
}
END_TEST

static long count_runs(void)
{
	struct stat st;
	char path[300];

	snprintf(path, sizeof(path), "%s/runs", f.root);
	return stat(path, &st) < 0 ? 0 : (long)st.st_size;
}

/* Each run adds a byte to a file. */
static void write_counting_program(const char *body)
{
	char text[600];

	snprintf(text, sizeof(text), "printf x >> %s/runs\n%s", f.root, body);
	write_program(text);
}

START_TEST(zpool_is_run_at_most_twice_a_minute)
{
	write_counting_program(TWO_POOLS);
	ck_assert_int_eq(take_until_answered(), 0);

	for (int i = 0; i < 29; i++) {
		fake_now_ns += SECOND_NS;
		ck_assert_int_eq(sampler_take(&s), 0);
		expect_two();
	}
	ck_assert_int_eq(count_runs(), 1);

	fake_now_ns += SECOND_NS;
	for (int i = 0; i < 2000 && count_runs() < 2; i++) {
		ck_assert_int_eq(sampler_take(&s), 0);
		expect_two();
		usleep(10000);
	}
	ck_assert_int_eq(count_runs(), 2);
}
END_TEST

/* A program that hangs delays the first sample briefly, is killed, and is not restarted at once. */
START_TEST(zpool_that_hangs_is_killed_and_not_restarted_at_once)
{
	setup.timeout_ns = 5 * SECOND_NS; /* long enough for the run to be counted */
	rti_sys_zfs_set_up(s.state, &setup);
	write_counting_program("exec sleep 1000");
	ck_assert_int_eq(sampler_take(&s), -ETIMEDOUT);

	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(sampler_take(&s), -ETIMEDOUT);
		usleep(10000);
	}
	ck_assert_uint_eq(s.out.valid, 0);
	ck_assert_int_eq(count_runs(), 1);

	/* it works again */
	write_program(TWO_POOLS);
	fake_now_ns += 31 * SECOND_NS;
	ck_assert_int_eq(take_until_answered(), 0);
	expect_two();
}
END_TEST

static void write_hanging_program(void)
{
	char text[300];

	snprintf(text, sizeof(text), "echo $$ > %s/pid\nexec sleep 1000", f.root);
	write_program(text);
}

static pid_t wait_for_hanging_program(void)
{
	char path[300];
	int pid = 0;

	snprintf(path, sizeof(path), "%s/pid", f.root);
	for (int i = 0; i < 2000 && pid <= 0; i++) {
		FILE *file = fopen(path, "re");

		if (!file || fscanf(file, "%d", &pid) != 1)
			usleep(10000);
		if (file)
			fclose(file);
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

START_TEST(zpool_output_past_its_age_limit_is_dropped)
{
	write_program(TWO_POOLS);
	ck_assert_int_eq(take_until_answered(), 0);

	write_hanging_program();
	fake_now_ns += 31 * SECOND_NS;
	ck_assert_int_eq(sampler_take(&s), 0);
	expect_two();

	fake_now_ns += 20 * SECOND_NS;
	ck_assert_int_eq(sampler_take(&s), 0);

	fake_now_ns += 20 * SECOND_NS;
	ck_assert_int_eq(sampler_take(&s), -ETIMEDOUT);
	ck_assert_uint_eq(s.out.valid, 0);
	/* End the program, so that the test leaves nothing behind. */
	ck_assert_int_eq(kill_process(wait_for_hanging_program(), SIGKILL), 0);
}
END_TEST

START_TEST(sample_after_fork_works_in_parent_and_child)
{
	int status;
	pid_t pid;

	write_program(TWO_POOLS);
	ck_assert_int_eq(take_until_answered(), 0);

	pid = fork();
	if (pid == 0) {
		fake_now_ns += 31 * SECOND_NS;
		if (take_until_answered() != 0 || s.out.zfs_size_bytes != 1050)
			_exit(1);
		sampler_close(&s);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(sampler_take(&s), 0);
}
END_TEST

START_TEST(collector_below_another_root_does_not_open)
{
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct sampler none;
	struct fixture root;

	fixture_new(&root);
	ck_assert_int_eq(sampler_open_with(&none, &rti_sys_zfs, root.root, &ops, 0), -EOPNOTSUPP);

	free(none.state);
	rti_procfs_close(&none.procfs);
	fixture_free(&root);
}
END_TEST

START_TEST(collector_without_zfs_does_not_open)
{
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct sampler none;

	if (access("/proc/spl/kstat/zfs", F_OK) == 0) {
		suite_skip_test("this system has ZFS");
		return;
	}
	ck_assert_int_eq(sampler_open_with(&none, &rti_sys_zfs, NULL, &ops, 0), -ENOENT);

	free(none.state);
	rti_procfs_close(&none.procfs);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_zfs");
	TCase *answers = suite_case(suite, "answers"), *time = suite_case(suite, "time"),
	      *where = suite_case(suite, "where");

	tcase_add_checked_fixture(answers, set_up, tear_down);
	tcase_add_test(answers, zpool_with_two_pools_yields_all_figures);
	tcase_add_test(answers, zpool_without_pools_yields_zero);
	tcase_add_test(answers, zpool_with_faulted_pool_is_partial);
	tcase_add_test(answers, zpool_in_the_first_place_is_the_one_that_is_run);
	tcase_add_test(answers, zpool_with_malformed_output_fails_with_ebadmsg);
	tcase_add_test(answers, zpool_that_exits_with_error_fails_with_eio);
	tcase_add_test(answers, zpool_missing_fails_with_enoent);
	tcase_add_checked_fixture(time, set_up, tear_down);
	tcase_add_test(time, zpool_is_run_at_most_twice_a_minute);
	tcase_add_test(time, zpool_that_hangs_is_killed_and_not_restarted_at_once);
	tcase_add_test(time, zpool_output_past_its_age_limit_is_dropped);
	if (!IS_THREAD_SANITIZED)
		tcase_add_test(time, sample_after_fork_works_in_parent_and_child);
	tcase_add_test(where, collector_below_another_root_does_not_open);
	tcase_add_test(where, collector_without_zfs_does_not_open);
	return suite_run(suite);
}
