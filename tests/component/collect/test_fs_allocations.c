/* SPDX-License-Identifier: MIT */
/* Each allocation for the file systems fails, once or from then on, while mounts come and go: the
 * total is right or marked, later samples are right again, and nothing stays allocated. */
#include <errno.h>
#include <string.h>

#include "allocation_faults.h"
#include "fs_fixture.h"
#include "suite.h"

#define ALLOCATIONS_MAX 200
#define SAMPLES 3

static const char *const mountinfo[SAMPLES] = {
	"27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	"28 27 8:1 / /boot" OPTIONS "vfat /dev/sda1 rw\n"
	"29 27 0:50 / /btr" OPTIONS "btrfs /dev/sdb rw\n"
	"30 27 0:51 / /sub" OPTIONS "btrfs /dev/sdb rw\n"
	"31 27 8:9 / /quota" OPTIONS "xfs /dev/sdc rw,prjquota\n"
	"32 27 0:60 / /tank" OPTIONS "zfs tank rw\n"
	"33 27 0:61 / /tank/home" OPTIONS "zfs tank/home rw\n"
	"34 27 0:70 / /net" OPTIONS "nfs4 server:/ rw\n",
	/* one has gone, another has come */
	"27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	"29 27 0:50 / /btr" OPTIONS "btrfs /dev/sdb rw\n"
	"31 27 8:9 / /quota" OPTIONS "xfs /dev/sdc rw,prjquota\n"
	"35 27 8:10 / /more" OPTIONS "ext4 /dev/sdd rw\n",
	"27 1 8:2 / /" OPTIONS "ext4 /dev/sda2 rw\n"
	"35 27 8:10 / /more" OPTIONS "ext4 /dev/sdd rw\n",
};

/* What one run has given. */
struct run {
	int errors[SAMPLES];
	int blocks; /* allocated less freed, after the collector was opened */
	struct rt_metrics samples[SAMPLES];
};

static void set_up(void)
{
	static const char *const paths[] = { "/",     "/boot", "/btr",       "/sub", "/quota",
		                             "/tank", "/net",  "/tank/home", "/more" };

	fs_set_up();
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		fs_set_answer(paths[i], 0, 1000u << i, 400u << i, 350u << i);
}

static void tear_down(void)
{
	fixture_free(&fs.root);
}

/* The text takes more than the buffer has at first. */
static void write_mountinfo(const char *text)
{
	fixture_printf(&fs.root, "proc/1/mountinfo",
	               "%s99 27 0:99 / /p" OPTIONS "proc %05000d rw\n", text, 0);
}

/* Returns whether the allocation was reached. */
static bool run_with_fault(unsigned at, bool is_lasting, struct run *out)
{
	bool is_reached;

	*out = (struct run){ 0 };
	write_mountinfo(mountinfo[0]);
	fs_open(RT_OPT_NETWORK_FILESYSTEMS);
	allocation_faults_begin(at, is_lasting);
	for (int i = 0; i < SAMPLES; i++) {
		size_t count;

		allocation_faults_pause(true);
		write_mountinfo(mountinfo[i]);
		allocation_faults_pause(false);
		out->errors[i] = sampler_take(&fs.sampler);
		out->samples[i] = fs.sampler.out;
		sampler_rows(&fs.sampler, &count);
	}
	sampler_close(&fs.sampler);
	is_reached = allocation_faults_end();
	out->blocks = allocation_faults_blocks();
	return is_reached;
}

static void check_total(const struct rt_metrics *truth, const struct rt_metrics *m, unsigned at)
{
	ck_assert(!(m->valid & m->partial));
	ck_assert_msg(!(m->valid & RT_HAS_FILESYSTEM) ||
	                  (m->filesystem_total_bytes == truth->filesystem_total_bytes &&
	                   m->filesystems == truth->filesystems),
	              "allocation %u fails: %llu bytes are valid", at,
	              (unsigned long long)m->filesystem_total_bytes);
	ck_assert_msg(m->filesystem_total_bytes <= truth->filesystem_total_bytes,
	              "allocation %u fails: %llu bytes", at,
	              (unsigned long long)m->filesystem_total_bytes);
}

START_TEST(want_of_memory_in_any_allocation_for_file_systems_is_marked)
{
	static struct run truth, run;
	unsigned at = 1;

	run_with_fault(0, false, &truth);
	ck_assert_int_eq(truth.errors[0] | truth.errors[1] | truth.errors[2], 0);
	ck_assert_uint_gt(truth.samples[0].filesystem_total_bytes, 0);
	for (; run_with_fault(at, _i, &run); at++) {
		ck_assert_msg(run.blocks == truth.blocks, "allocation %u fails: %d blocks stay", at,
		              run.blocks - truth.blocks);
		for (int i = 0; i < SAMPLES; i++)
			check_total(&truth.samples[i], &run.samples[i], at);
		ck_assert_uint_lt(at, ALLOCATIONS_MAX);
	}
	ck_assert_uint_gt(at, 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fs_allocations");
	TCase *tests = suite_case(suite, "allocations");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, want_of_memory_in_any_allocation_for_file_systems_is_marked, 0,
	                    2);
	return suite_run(suite);
}
