/* SPDX-License-Identifier: MIT */
/* Each call to the system of the plug-in, and of what opens it, fails once: the caller gets an
 * error or what it has asked for, and nothing is left behind. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/account/tree_account.h"
#include "bpf/batch/loader.h"
#include "bpf/module.h"
#include "bpf/trace/trace.h"
#include "bpf/watch/tree_watch.h"
#include "command/call_faults.h"
#include "descriptors.h"
#include "fixture.h"
#include "refusals.h"
#include "suite.h"

#define CALLS_MAX 500
#define RING_BYTES (1u << 20)

static struct fixture dir;

static void set_up(void)
{
	fixture_new(&dir);
	call_faults_share(dir.root);
}

static void tear_down(void)
{
	call_faults_keep_to_itself();
	fixture_free(&dir);
}

/* Each use returns 0, -errno, or WRONG if what it was given is not what it has asked for. */
#define WRONG 1

static int read_itself(void)
{
	const struct rti_batch_request request = { .pid = getpid() };
	struct rti_batch_row row;
	struct rti_batch *batch;
	int err = rti_batch_open(&batch);

	if (err < 0)
		return err;
	err = rti_batch_read(batch, &request, 1, &row);
	if (err == 0 && row.error)
		err = WRONG;
	rti_batch_close(batch);
	return err;
}

static int watch_itself(void)
{
	static struct rti_watch_change changes[RTI_WATCH_ROOM_MIN];
	struct rti_tree_watch *watch;
	bool has_more;
	int err = rti_watch_open(&watch), taken;

	if (err < 0)
		return err;
	rti_watch_want(watch, getpid());
	err = rti_watch_search(watch, UINT64_MAX);
	if (err >= 0)
		err = rti_watch_is_marked(watch, getpid()) ? 0 : WRONG;
	taken = rti_watch_take(watch, changes, RTI_WATCH_ROOM_MIN, &has_more);
	rti_watch_close(watch);
	return err == 0 && taken < 0 ? taken : err;
}

static int account_for(int32_t root)
{
	const struct rti_account_request request = { .wants_records = true, .root = root };
	struct rti_account_totals totals;
	struct rti_tree_account *account;
	int err = rti_account_open(&account, &request);

	if (err < 0)
		return err;
	err = root ? 0 : rti_account_arm(account, true);
	if (err == 0)
		err = rti_account_read(account, &totals);
	if (!root)
		rti_account_arm(account, false);
	rti_account_close(account);
	return err == -EAGAIN ? 0 : err;
}

static int account_for_command(void)
{
	return account_for(0);
}

static int account_for_itself(void)
{
	return account_for(getpid());
}

static void add_path(void *arg, uint64_t device, uint64_t inode, const char *path)
{
	(void)arg;
	(void)device;
	(void)inode;
	(void)path;
}

static int trace(int32_t pid, bool is_raw)
{
	const struct rti_module_version version = { RTI_TRACE_PLUGIN,
		                                    sizeof(struct rti_trace_record) };
	const struct rti_trace_target target = { .kind = pid ? RTI_TARGET_PID : RTI_TARGET_COMMAND,
		                                 .pid = pid,
		                                 .calls = RTI_TRACE_GETRUSAGE,
		                                 .ring_bytes = RING_BYTES,
		                                 .has_children = true,
		                                 .is_raw = is_raw };
	struct rti_trace_record records[4];
	const struct rti_trace_ops *ops;
	struct rti_module module;
	void *tracer;
	int err = rti_module_open(&module, RTI_TRACE_ENTRY, version);

	if (err < 0)
		return err;
	ops = module.ops;
	err = ops->open(&tracer, &target);
	if (err == 0) {
		err = ops->read(tracer, records, 4, add_path, NULL) < 0 ? WRONG : 0;
		ops->close(tracer);
	}
	rti_module_close(&module);
	return err;
}

static int trace_command(void)
{
	return trace(0, false);
}

static int trace_command_by_raw_tracepoints(void)
{
	return trace(0, true);
}

static int trace_itself(void)
{
	return trace(getpid(), false);
}

static const struct {
	const char *name;
	int (*use)(void);
} uses[] = {
	{ "batch reader", read_itself },
	{ "watch", watch_itself },
	{ "account of a command", account_for_command },
	{ "account of a process", account_for_itself },
	{ "trace of a command", trace_command },
	{ "trace by raw tracepoints", trace_command_by_raw_tracepoints },
	{ "trace of a process", trace_itself },
};

#define USES (int)(sizeof(uses) / sizeof(uses[0]))

/* Returns whether the call was reached. */
static bool use_with_fault(int i, unsigned at, int kinds, int error)
{
	int before = count_descriptors(), err;

	call_faults_begin(at, kinds, error);
	err = uses[i].use();
	if (!call_faults_end()) {
		ck_assert_msg(err == 0, "%s without a fault: %d", uses[i].name, err);
		return false;
	}
	ck_assert_msg(err <= 0, "%s: call %u (%s) fails with %d: %d", uses[i].name, at,
	              call_faults_name(), error, err);
	ck_assert_msg(count_descriptors() == before,
	              "%s: call %u (%s) fails with %d: %d descriptors stay", uses[i].name, at,
	              call_faults_name(), error, count_descriptors() - before);
	return true;
}

static void check_every_call(int i, int kinds, int error)
{
	unsigned at = 1;

	while (use_with_fault(i, at, kinds, error) && at < CALLS_MAX)
		at++;
	ck_assert_uint_lt(at, CALLS_MAX);
}

START_TEST(plug_in_with_any_fault_says_so_and_leaves_nothing)
{
	check_every_call(_i, CALL_MAKES, EMFILE);
	check_every_call(_i, CALL_MAKES, EINVAL);
	check_every_call(_i, CALL_WAITS, EINTR);
	check_every_call(_i, CALL_READS, EIO);
}
END_TEST

/* The kernel gives up to check a program if anything waits for the thread. */
START_TEST(programs_are_loaded_again_if_the_kernel_gave_up)
{
	char load[32];
	unsigned at = 0;
	int err;

	snprintf(load, sizeof(load), "syscall %ld ", (long)SYS_bpf);
	do {
		call_faults_begin(++at, CALL_MAKES, EAGAIN);
		err = uses[_i].use();
		ck_assert(call_faults_end());
	} while (strncmp(call_faults_name(), load, strlen(load)) != 0);
	ck_assert_int_eq(err, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("every call");
	TCase *faults = suite_case(suite, "faults");

	if (!*FAULTY_PLUGIN)
		return suite_skip("the BPF plug-in was not built");
	if (!has_bpf())
		return suite_skip("this system lets us load no BPF program");
	tcase_add_checked_fixture(faults, set_up, tear_down);
	tcase_add_loop_test(faults, plug_in_with_any_fault_says_so_and_leaves_nothing, 0, USES);
	tcase_add_loop_test(faults, programs_are_loaded_again_if_the_kernel_gave_up, 0, USES);
	return suite_run(suite);
}
