/* SPDX-License-Identifier: MIT */
/* The pressure collector: /proc/pressure of fixtures, and the running system. */
#include "collect/collector.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "fixture.h"
#include "sampler.h"
#include "suite.h"

extern const struct rti_sys_collector rti_sys_psi;

#define ALL (RT_HAS_PRESSURE_CPU | RT_HAS_PRESSURE_MEMORY | RT_HAS_PRESSURE_IO)
#define CPU_5_2 "some avg10=0.00 avg60=0.10 avg300=0.20 total=123456\n"
#define MEMORY                                                                                     \
	"some avg10=1.00 avg60=0.00 avg300=0.00 total=777\nfull avg10=0.00 avg60=0.00 "            \
	"avg300=0.00 total=555\n"
#define IO                                                                                         \
	"some avg10=1.00 avg60=0.00 avg300=0.00 total=9000000\nfull avg10=0.00 avg60=0.00 "        \
	"avg300=0.00 total=8000001\n"

static struct fixture f;
static struct sampler s;

static void set_up(void)
{
	fixture_new(&f);
	sampler_open(&s, &rti_sys_psi, f.root);
}

static void tear_down(void)
{
	sampler_close(&s);
	fixture_free(&f);
}

START_TEST(pressure_with_all_files_yields_all_figures)
{
	fixture_write(&f, "proc/pressure/cpu", CPU_5_2);
	fixture_write(&f, "proc/pressure/memory", MEMORY);
	fixture_write(&f, "proc/pressure/io", IO);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.valid, ALL);
	ck_assert_uint_eq(s.out.pressure_cpu_some_ns, 123456000);
	ck_assert_uint_eq(s.out.pressure_memory_some_ns, 777000);
	ck_assert_uint_eq(s.out.pressure_memory_full_ns, 555000);
	ck_assert_uint_eq(s.out.pressure_io_some_ns, 9000000000);
	ck_assert_uint_eq(s.out.pressure_io_full_ns, 8000001000);
}
END_TEST

START_TEST(pressure_missing_fails_with_enoent)
{
	ck_assert_int_eq(sampler_take(&s), -ENOENT);
	ck_assert_uint_eq(s.out.valid, 0);
}
END_TEST

START_TEST(pressure_with_one_file_missing_yields_the_others)
{
	fixture_write(&f, "proc/pressure/cpu", CPU_5_2);
	fixture_write(&f, "proc/pressure/io", IO);
	ck_assert_int_eq(sampler_take(&s), -ENOENT);
	ck_assert_uint_eq(s.out.valid, RT_HAS_PRESSURE_CPU | RT_HAS_PRESSURE_IO);
	ck_assert_uint_eq(s.out.pressure_io_some_ns, 9000000000);
}
END_TEST

START_TEST(pressure_without_full_line_lacks_its_bit)
{
	fixture_write(&f, "proc/pressure/cpu", CPU_5_2);
	fixture_write(&f, "proc/pressure/memory", CPU_5_2);
	fixture_write(&f, "proc/pressure/io", IO);
	ck_assert_int_eq(sampler_take(&s), -EBADMSG);
	ck_assert_uint_eq(s.out.valid, RT_HAS_PRESSURE_CPU | RT_HAS_PRESSURE_IO);
	ck_assert_uint_eq(s.out.pressure_memory_some_ns, 0);
}
END_TEST

static ssize_t refuse_pread(int fd, void *buf, size_t len, off_t offset)
{
	(void)fd;
	(void)buf;
	(void)len;
	(void)offset;
	return -EOPNOTSUPP;
}

/* If booted with psi=0, some kernels keep the files and refuse to read them. */
START_TEST(pressure_switched_off_fails_with_eopnotsupp)
{
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct sampler off;

	fixture_write(&f, "proc/pressure/cpu", CPU_5_2);
	fixture_write(&f, "proc/pressure/memory", MEMORY);
	fixture_write(&f, "proc/pressure/io", IO);
	ops.pread = refuse_pread;
	ck_assert_int_eq(sampler_open_with(&off, &rti_sys_psi, f.root, &ops, 0), 0);
	ck_assert_int_eq(sampler_take(&off), -EOPNOTSUPP);
	ck_assert_uint_eq(off.out.valid, 0);
	sampler_close(&off);
}
END_TEST

static bool read_total(const char *path, uint64_t *out)
{
	char text[256] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && sscanf(text, "some %*s %*s %*s total=%" SCNu64, out) == 1;
}

/* Reads the file before and after the sample. The figure lies between the two. */
START_TEST(live_pressure_lies_between_two_reads)
{
	struct sampler live;
	uint64_t before, after;

	sampler_open(&live, &rti_sys_psi, NULL);
	if (read_total("/proc/pressure/io", &before)) {
		ck_assert_int_eq(sampler_take(&live), 0);
		ck_assert_uint_eq(live.out.valid, ALL);
		ck_assert(read_total("/proc/pressure/io", &after));
		ck_assert_uint_ge(live.out.pressure_io_some_ns, before * 1000);
		ck_assert_uint_le(live.out.pressure_io_some_ns, after * 1000);
	} else {
		ck_assert_int_lt(sampler_take(&live), 0);
		ck_assert_uint_eq(live.out.valid, 0);
	}
	sampler_close(&live);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_psi");
	TCase *fixtures = suite_case(suite, "fixtures"), *live_case = suite_case(suite, "live");

	tcase_add_checked_fixture(fixtures, set_up, tear_down);
	tcase_add_test(fixtures, pressure_with_all_files_yields_all_figures);
	tcase_add_test(fixtures, pressure_missing_fails_with_enoent);
	tcase_add_test(fixtures, pressure_with_one_file_missing_yields_the_others);
	tcase_add_test(fixtures, pressure_without_full_line_lacks_its_bit);
	tcase_add_test(fixtures, pressure_switched_off_fails_with_eopnotsupp);
	tcase_add_test(live_case, live_pressure_lies_between_two_reads);
	return suite_run(suite);
}
