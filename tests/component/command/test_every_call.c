/* SPDX-License-Identifier: MIT */
/* Each call to the system of one command fails once, in the library, in its supervisor and in its
 * plug-in. The program runs once or not at all, its exit code is not lost, and nothing is left
 * behind. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "call_faults.h"
#include "descriptors.h"
#include "fixture.h"
#include "late_children.h"
#include "os/process/helper.h"
#include "os/process/spawn.h"
#include "suite.h"

#define CALLS_MAX 2000
#define PATIENCE_NS INT64_C(20000000000)
#define EXIT_CODE 7

static struct fixture dir;
static char output[256], script[320];
static unsigned runs, started, failed;

/* The supervisor that is linked with the faults. The linker calls this instead of the function in
 * its name. */
int __wrap_rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                            struct rti_origin_file *file, int32_t *pid);

int __wrap_rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                            struct rti_origin_file *file, int32_t *pid)
{
	struct rti_spawn helper = *opts;

	(void)name;
	argv[0] = FAULTY_SUPERVISOR;
	helper.argv = argv;
	file->dir = -1;
	return rti_spawn(&helper, pid);
}

static void set_up(void)
{
	fixture_new(&dir);
	snprintf(output, sizeof(output), "%s/output", dir.root);
	snprintf(script, sizeof(script), "echo ran >> %s; exit %d", output, EXIT_CODE);
	call_faults_share(dir.root);
}

/* Fails for a cgroup that this process has made: they have its pid in their names. */
static int check_cgroup(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char prefix[32];

	(void)st;
	(void)type;
	snprintf(prefix, sizeof(prefix), "rtrack-%d-", (int)getpid());
	ck_assert_msg(strncmp(path + ftw->base, prefix, strlen(prefix)) != 0, "%s stays", path);
	return 0;
}

static void tear_down(void)
{
	nftw("/sys/fs/cgroup", check_cgroup, 16, FTW_PHYS);
	call_faults_keep_to_itself();
	fixture_free(&dir);
}

/* Programs, maps and links of BPF last as long as descriptors and mappings of them. */
static int count_bpf_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	int count = 0;

	ck_assert_ptr_nonnull(maps);
	while (fgets(line, sizeof(line), maps))
		count += strstr(line, "anon_inode:bpf") != NULL;
	fclose(maps);
	return count;
}

static int count_runs(void)
{
	struct stat st;

	return stat(output, &st) == 0 ? (int)(st.st_size / (off_t)strlen("ran\n")) : 0;
}

static int run_command(uint32_t accounting, uint32_t flags, struct rt_outcome *out, int *wait_error)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	const struct rt_command_opts opts = {
		.size = sizeof(opts), .argv = argv, .accounting = accounting, .flags = flags
	};
	struct rt_command *command;
	int err = rt_command_start(&command, &opts);

	if (err < 0)
		return err;
	started++;
	do {
		err = rt_command_wait(command, PATIENCE_NS, out, sizeof(*out));
	} while (err == -EINTR);
	rt_command_free(command);
	*wait_error = err;
	return 0;
}

/* The program is one process, and it does something. So a figure that says otherwise is lost, which
 * has to be marked. */
static void check_figures(const struct rt_outcome *out, unsigned at, const char *name)
{
	const uint64_t exact = out->valid;

	ck_assert(!(out->valid & out->partial) && !(out->valid & out->estimated));
	ck_assert(!(out->partial & out->estimated));
	ck_assert(!out->complete || out->reasons == 0);
	ck_assert_msg(!(exact & RT_HAS_CPU) || out->cpu_user_ns + out->cpu_system_ns > 0,
	              "call %u (%s) fails: CPU time is 0 and valid", at, name);
	ck_assert_msg(!(exact & RT_HAS_PEAK_RSS) || out->peak_rss_bytes > 0,
	              "call %u (%s) fails: peak is 0 and valid", at, name);
	ck_assert_msg(!(exact & RT_HAS_PROCESSES) || out->processes == 1,
	              "call %u (%s) fails: %llu processes are valid", at, name,
	              (unsigned long long)out->processes);
}

/* Returns whether the call was reached. */
static bool run_with_fault(uint32_t accounting, uint32_t flags, unsigned at, int kinds, int error)
{
	struct rt_outcome out = { 0 };
	int before = count_descriptors(), err, wait_error = 0;
	int mappings = count_bpf_mappings();
	const char *name = call_faults_name();

	unlink(output);
	call_faults_begin(at, kinds, error);
	err = run_command(accounting, flags, &out, &wait_error);
	runs++;
	if (!call_faults_end()) {
		ck_assert_msg(err == 0, "without a fault: %d", err);
		name = "no call";
	}
	failed += err < 0;
	ck_assert_msg(wait_error == 0, "call %u (%s) fails with %d: rt_command_wait() returns %d",
	              at, name, error, wait_error);
	ck_assert_msg(late_children_end(), "call %u (%s) fails with %d: a child stays", at, name,
	              error);
	ck_assert_msg(count_descriptors() == before,
	              "call %u (%s) fails with %d: %d descriptors stay", at, name, error,
	              count_descriptors() - before);
	ck_assert_msg(count_bpf_mappings() == mappings,
	              "call %u (%s) fails with %d: %d mappings of BPF stay", at, name, error,
	              count_bpf_mappings() - mappings);
	ck_assert_msg(count_runs() == (err == 0), "call %u (%s) fails with %d: %d, and %d runs", at,
	              name, error, err, count_runs());
	ck_assert_msg(err < 0 || (out.exit_code == EXIT_CODE && out.signal == 0),
	              "call %u (%s) fails with %d: exit code %d", at, name, error, out.exit_code);
	if (err == 0)
		check_figures(&out, at, name);
	return strcmp(name, "no call") != 0;
}

static const struct faults {
	int kinds, error;
} faults[] = {
	{ CALL_MAKES, EMFILE },
	{ CALL_MAKES, ENOMEM },
	{ CALL_WAITS, EINTR },
	{ CALL_READS, EIO },
};
#define FAULTS_COUNT ((int)(sizeof(faults) / sizeof(faults[0])))

/* A share of the calls is every third. */
static void check_every_call(uint32_t accounting, uint32_t flags, const struct faults *f)
{
	unsigned at = 1, step = suite_step(3);
	struct rt_outcome out;
	int wait_error;

	if (run_command(accounting, flags, &out, &wait_error) < 0) {
		suite_skip_test("this system refuses the accounting method");
		return;
	}
	runs = started = failed = 0;
	while (run_with_fault(accounting, flags, at, f->kinds, f->error) && at < CALLS_MAX)
		at += step;
	ck_assert_uint_lt(at, CALLS_MAX);
	ck_assert_uint_gt(at, 3);
	printf("# method %u, flags %u, errno %d: %u runs, %u started, %u failed\n", accounting,
	       flags, f->error, runs, started, failed);
}

START_TEST(poll_with_any_fault_runs_program_once_or_never)
{
	check_every_call(RT_ACCOUNTING_POLL, 0, &faults[_i]);
}
END_TEST

START_TEST(wait_with_any_fault_runs_program_once_or_never)
{
	check_every_call(RT_ACCOUNTING_WAIT, RT_COMMAND_LIST_PROCESSES, &faults[_i]);
}
END_TEST

START_TEST(cgroup_with_any_fault_runs_program_once_or_never)
{
	check_every_call(RT_ACCOUNTING_CGROUP, 0, &faults[_i]);
}
END_TEST

START_TEST(own_supervisor_with_any_fault_runs_program_once_or_never)
{
	check_every_call(RT_ACCOUNTING_WAIT, RT_COMMAND_SUBREAPER_SELF, &faults[_i]);
}
END_TEST

START_TEST(bpf_with_any_fault_runs_program_once_or_never)
{
	check_every_call(RT_ACCOUNTING_BPF, RT_COMMAND_LIST_PROCESSES, &faults[_i]);
}
END_TEST

START_TEST(auto_with_any_fault_runs_program_once_or_never)
{
	check_every_call(RT_ACCOUNTING_AUTO, 0, &faults[_i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("every call");
	const struct {
		const char *name;
		const TTest *test;
	} methods[] = {
		{ "poll", poll_with_any_fault_runs_program_once_or_never },
		{ "wait", wait_with_any_fault_runs_program_once_or_never },
		{ "cgroup", cgroup_with_any_fault_runs_program_once_or_never },
		{ "own", own_supervisor_with_any_fault_runs_program_once_or_never },
		{ "bpf", bpf_with_any_fault_runs_program_once_or_never },
		{ "auto", auto_with_any_fault_runs_program_once_or_never },
	};

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		TCase *tcase = suite_case(suite, methods[i].name);

		tcase_add_checked_fixture(tcase, set_up, tear_down);
		tcase_add_loop_test(tcase, methods[i].test, 0, FAULTS_COUNT);
	}
	return suite_run(suite);
}
