/* SPDX-License-Identifier: MIT */
/* Parsers of the files of a cgroup, and of /proc/PID/cgroup. */
#include <errno.h>
#include <string.h>

#include "parse/parse.h"
#include "suite.h"

static int parse_io(const char *text, struct rti_cgroup_io *out)
{
	return rti_parse_cgroup_io(text, strlen(text), out);
}

START_TEST(io_of_several_devices_is_summed)
{
	struct rti_cgroup_io io;

	ck_assert_int_eq(
	    parse_io("8:0 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0\n"
	             "259:1 rbytes=800 wbytes=496 rios=1 wios=2 dbytes=9 dios=9\n",
	             &io),
	    0);
	ck_assert_uint_eq(io.read_bytes, 1460000);
	ck_assert_uint_eq(io.write_bytes, 314774000);
}
END_TEST

START_TEST(io_without_devices_is_zero)
{
	struct rti_cgroup_io io = { 1, 1 };

	ck_assert_int_eq(parse_io("", &io), 0);
	ck_assert_uint_eq(io.read_bytes + io.write_bytes, 0);
	ck_assert_int_eq(parse_io("8:0 \n8:16 rios=1", &io), 0);
	ck_assert_uint_eq(io.read_bytes + io.write_bytes, 0);
}
END_TEST

START_TEST(io_with_malformed_number_is_refused)
{
	struct rti_cgroup_io io;

	ck_assert_int_eq(parse_io("8:0 rbytes=\n", &io), -EBADMSG);
	ck_assert_int_eq(parse_io("8:0 rbytes=x wbytes=1\n", &io), -EBADMSG);
	ck_assert_int_eq(parse_io("8:0 rbytes=1 wbytes=-1\n", &io), -EBADMSG);
}
END_TEST

START_TEST(cpu_without_one_of_three_keys_is_refused)
{
	static const char text[] = "usage_usec 30\nuser_usec 20\nsystem_usec 10\nnr_periods 0\n";
	struct rti_cgroup_cpu cpu;

	ck_assert_int_eq(rti_parse_cgroup_cpu(text, strlen(text), &cpu), 0);
	ck_assert_uint_eq(cpu.usage_us, 30);
	ck_assert_int_eq(rti_parse_cgroup_cpu(text, 20, &cpu), -EBADMSG);
}
END_TEST

START_TEST(cpu_among_other_keys_parses)
{
	static const char text[] =
	    "nice_usec 9\nsystem_usec 10\nusage_usec_total 9\nusage_usec 30\n\nuser_usec 20";
	struct rti_cgroup_cpu cpu;

	ck_assert_int_eq(rti_parse_cgroup_cpu(text, strlen(text), &cpu), 0);
	ck_assert_uint_eq(cpu.usage_us, 30);
	ck_assert_uint_eq(cpu.user_us, 20);
	ck_assert_uint_eq(cpu.system_us, 10);
}
END_TEST

START_TEST(cpu_with_repeated_key_does_not_replace_a_missing_one)
{
	static const char without[] = "usage_usec 30\nusage_usec 31\nsystem_usec 10\n";
	static const char with[] = "usage_usec 30\nuser_usec 20\nusage_usec 31\nsystem_usec 10\n";
	struct rti_cgroup_cpu cpu;

	ck_assert_int_eq(rti_parse_cgroup_cpu(without, strlen(without), &cpu), -EBADMSG);
	ck_assert_int_eq(rti_parse_cgroup_cpu(with, strlen(with), &cpu), 0);
	ck_assert_uint_eq(cpu.usage_us, 31);
}
END_TEST

START_TEST(pid_cgroup_of_hybrid_system_yields_the_unified_path)
{
	static const char hybrid[] = "4:memory:/x\n1:name=systemd:/y\n0::/user.slice/a b\n",
			  v1[] = "4:memory:/x\n";
	struct rti_scan path;

	ck_assert_int_eq(rti_parse_pid_cgroup(hybrid, strlen(hybrid), &path), 0);
	ck_assert_int_eq((int)(path.end - path.at), (int)strlen("/user.slice/a b"));
	ck_assert_int_eq(rti_parse_pid_cgroup(v1, strlen(v1), &path), -EBADMSG);
	ck_assert_int_eq(rti_parse_pid_cgroup("0::x", 4, &path), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_cgroup");
	TCase *io = suite_case(suite, "io"), *cpu = suite_case(suite, "cpu");
	TCase *paths = suite_case(suite, "paths");

	tcase_add_test(io, io_of_several_devices_is_summed);
	tcase_add_test(io, io_without_devices_is_zero);
	tcase_add_test(io, io_with_malformed_number_is_refused);
	tcase_add_test(cpu, cpu_without_one_of_three_keys_is_refused);
	tcase_add_test(cpu, cpu_among_other_keys_parses);
	tcase_add_test(cpu, cpu_with_repeated_key_does_not_replace_a_missing_one);
	tcase_add_test(paths, pid_cgroup_of_hybrid_system_yields_the_unified_path);
	return suite_run(suite);
}
