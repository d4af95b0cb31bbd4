/* SPDX-License-Identifier: MIT */
/* What a sample of the system costs, call by call, with all domains and with each of them alone. */
#include "cost_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "collect/collector.h"
#include "os/kernel_abi.h"
#include "system/system.h"
#include "tree_inside.h"

#define WANT_BITS 64
#define FIRST_SAMPLES_MAX 50

#define ONE_READ_BYTES 2048 /* a text that is longer may take another read, for its end */

/* What GPUs cost depends on the GPUs that there are: see collect/test_sys_gpu.c. */
#define OF_GPUS (RT_HAS_GPU | RT_HAS_GPU_MEMORY | RT_HAS_GPU_ENERGY)

/* Their collectors do not read the file of their entry in each sample. */
#define READ_SELDOM (RT_HAS_PROCESSES | RT_HAS_FILESYSTEM | RT_HAS_ZFS | OF_GPUS)

/* Returns how many bytes one read of a file in /proc yields, at most 4096. 0: it cannot be read. */
static size_t count_bytes_of_read(const char *file)
{
	char path[64], bytes[4096];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s", file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd >= 0 ? read(fd, bytes, sizeof(bytes)) : 0;
	if (fd >= 0)
		close(fd);
	return got > 0 ? (size_t)got : 0;
}

/* Whether a file system covers a file of /proc, as lxcfs does in some containers. */
static bool is_covered(const char *file)
{
	struct statfs fs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s", file);
	return statfs(path, &fs) == 0 && fs.f_type != RTI_PROC_SUPER_MAGIC;
}

static unsigned count_mounts(void)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	unsigned lines = 0;

	ck_assert_ptr_nonnull(file);
	for (int c = getc(file); c != EOF; c = getc(file))
		lines += c == '\n';
	fclose(file);
	return lines;
}

/* What belongs to the network namespace of the thread is read there. */
static unsigned count_reads_of(const char *file)
{
	static const char of_thread[] = "thread-self/";

	for (size_t i = 0; i < meter.files; i++) {
		const char *name = meter.file[i].name;

		if (strncmp(name, of_thread, strlen(of_thread)) == 0)
			name += strlen(of_thread);
		if (strcmp(name, file) == 0)
			return meter.file[i].count;
	}
	return 0;
}

/* Returns whether the links of /proc are the processes: in the first pid namespace, if all of them
 * are shown. */
static bool has_links(void)
{
	char name[64] = "";

	return readlink("/proc/self/ns/pid", name, sizeof(name) - 1) > 0 &&
	       strcmp(name, "pid:[4026531836]") == 0 && access("/proc/1", F_OK) == 0;
}

static uint64_t domains_of_file(const struct rti_sys_collector *collector, size_t file)
{
	return collector->read_for[file] ? collector->read_for[file] : collector->provides;
}

/* Assert that the files of the wanted domains, and no others, were read once. Where the links of
 * /proc do not tell the processes, the directory is opened each time, since pread() cannot return
 * to the start of a directory. */
static void check_files(uint64_t want)
{
	bool lists_proc = want & RT_HAS_PROCESSES && !has_links();
	bool has_more_reads = false;
	unsigned files = 0;

	for (size_t i = 0; i < rti_sys_collector_count * RTI_SYS_FILES_MAX; i++) {
		const struct rti_sys_collector *c = rti_sys_collectors[i / RTI_SYS_FILES_MAX];
		const char *file = c->files[i % RTI_SYS_FILES_MAX];
		size_t bytes = file ? count_bytes_of_read(file) : 0;
		unsigned expected = bytes > 0 && domains_of_file(c, i % RTI_SYS_FILES_MAX) & want;

		if (!file || c->provides & READ_SELDOM)
			continue;
		ck_assert_uint_eq(count_reads_of(file), expected);
		files += expected;
		has_more_reads |= expected && (bytes > ONE_READ_BYTES || is_covered(file));
	}
	ck_assert_uint_eq(count_reads_of("."), lists_proc);
	ck_assert_uint_eq(meter.files, files + lists_proc);
	ck_assert_uint_eq(meter.opens, lists_proc);
	ck_assert_int_eq(meter.lists > 0, lists_proc);
	if (has_more_reads)
		ck_assert_uint_ge(meter.reads, files);
	else
		ck_assert_uint_eq(meter.reads, files);
	ck_assert_str_eq(meter.twice, "");
}

/* Assert the calls that read no file. One poll() shows whether the list of mounts has changed, one
 * fstat() the number of processes. */
static void check_other_calls(uint64_t want)
{
	unsigned polls = (want & RT_HAS_FILESYSTEM) != 0;
	unsigned links = want & RT_HAS_PROCESSES && has_links();

	ck_assert_uint_eq(meter.looks, polls + links);
	ck_assert_uint_le(meter.spaces, want & RT_HAS_FILESYSTEM ? count_mounts() : 0);
	ck_assert_uint_eq(meter.clocks, 0);
	ck_assert_uint_le(meter.times, SAMPLE_TIMES + ((want & RT_HAS_PROCESSES) != 0));
	ck_assert_uint_eq(meter.allocations, 0);
}

/* Takes samples until all files are open, and the links of /proc have agreed with its names. That
 * takes longer if processes start or exit meanwhile. want: as in struct rt_opts. */
static void track_system(uint64_t want)
{
	const struct rt_opts opts = { .size = sizeof(opts), .want = want };

	ck_assert_int_eq(rti_tracker_new(&fix.tracker, 0, &opts, &meter_ops), 0);
	meter_attach(fix.tracker);
	for (int i = 0; i < 2 || (has_links() && meter.lists > 0 && i < FIRST_SAMPLES_MAX); i++) {
		meter_pass(SOON);
		take_sample();
	}
}

START_TEST(system_with_all_domains_costs_one_read_of_each_file)
{
	track_system(0);

	meter_pass(SOON);
	take_sample();

	report_cost("system");
	check_files(get_wanted(fix.tracker));
	check_other_calls(get_wanted(fix.tracker));
}
END_TEST

/* One run for each RT_HAS_ bit. Some bits are no domains of the system. */
START_TEST(system_domain_wanted_alone_costs_its_own_files)
{
	uint64_t want = UINT64_C(1) << _i;
	char situation[64];

	if (!(want & rti_system_domains() & ~OF_GPUS))
		return;
	track_system(want);

	meter_pass(SOON);
	take_sample();

	snprintf(situation, sizeof(situation), "system, bit %d alone", _i);
	report_cost(situation);
	check_files(want);
	check_other_calls(want);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cost of the system");
	TCase *tcase = add_cost_case(suite, "system");

	tcase_add_test(tcase, system_with_all_domains_costs_one_read_of_each_file);
	tcase_add_loop_test(tcase, system_domain_wanted_alone_costs_its_own_files, 0, WANT_BITS);
	return suite_run(suite);
}
