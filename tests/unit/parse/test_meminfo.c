/* SPDX-License-Identifier: MIT */
/* Parser of /proc/meminfo. */
#include "exact.h"

#include <errno.h>
#include <stdio.h>

#include "parse/parse.h"
#include "suite.h"

static int parse_meminfo_text(const char *text, struct rti_meminfo *out)
{
	struct exact copy = exact(text);

	memset(out, 0x55, sizeof(*out));
	return rti_parse_meminfo(copy.data, copy.len, out);
}

/* The order of the kernel, with lines that no caller needs. Each key has a different figure. */
static const char meminfo_text[] = "MemTotal:       100 kB\nMemFree:         101 kB\nMemAvailable: "
				   "   102 kB\nBuffers:         103 kB\n"
				   "Cached:          104 kB\nSwapCached:      105 kB\nActive:      "
				   "    106 kB\nInactive:        107 kB\n"
				   "Active(anon):    108 kB\nInactive(anon):  109 "
				   "kB\nActive(file):    110 kB\nInactive(file):  111 kB\n"
				   "Unevictable:       1 kB\nMlocked:           1 kB\nSwapTotal:   "
				   "    112 kB\nSwapFree:        113 kB\n"
				   "Zswap:             1 kB\nDirty:             1 kB\nWriteback:   "
				   "      1 kB\nAnonPages:       114 kB\n"
				   "Mapped:          115 kB\nShmem:           116 "
				   "kB\nKReclaimable:      1 kB\nSlab:              1 kB\n"
				   "SReclaimable:    117 kB\nSUnreclaim:      118 kB\nKernelStack: "
				   "      1 kB\nShmemHugePages:    1 kB\n"
				   "HugePages_Total:   119\nHugePages_Free:    120\n"
				   "HugePages_Rsvd:      1\nHugePages_Surp:      1\n"
				   "Hugepagesize:    121 kB\nHugetlb:         122 kB\n"
				   "DirectMap4k:       1 kB\n";

START_TEST(meminfo_with_all_keys_parses_each)
{
	struct rti_meminfo mem;

	ck_assert_int_eq(parse_meminfo_text(meminfo_text, &mem), 0);
	ck_assert_uint_eq(mem.has, (UINT32_C(1) << RTI_MEM_KEYS) - 1);
	for (unsigned key = 0; key < RTI_MEM_KEYS; key++)
		ck_assert_uint_eq(mem.value[key], 100 + key);
}
END_TEST

START_TEST(meminfo_in_other_order_parses)
{
	struct rti_meminfo mem;

	ck_assert_int_eq(
	    parse_meminfo_text("SUnreclaim: 3 kB\nMemFree: 2 kB\nMemTotal: 1 kB", &mem), 0);
	ck_assert_uint_eq(mem.has, 1u << RTI_MEM_TOTAL | 1u << RTI_MEM_FREE |
	                               1u << RTI_MEM_SLAB_UNRECLAIMABLE);
	ck_assert_uint_eq(mem.value[RTI_MEM_TOTAL], 1);
	ck_assert_uint_eq(mem.value[RTI_MEM_FREE], 2);
	ck_assert_uint_eq(mem.value[RTI_MEM_SLAB_UNRECLAIMABLE], 3);
}
END_TEST

START_TEST(meminfo_with_keys_of_common_prefix_keeps_them_apart)
{
	static const char text[] =
	    "Active(anon): 3 kB\nActive: 1 kB\nMemTotals: 9 kB\nMemTotal: 7 kB\n"
	    "Active(file): 4 kB\nInactive: 2 kB\nInactive(an: 9 kB\nMemFree: 6 kB\nActive(anon)";
	struct rti_meminfo mem;

	ck_assert_int_eq(parse_meminfo_text(text, &mem), 0);
	ck_assert_uint_eq(mem.has, 1u << RTI_MEM_TOTAL | 1u << RTI_MEM_FREE | 1u << RTI_MEM_ACTIVE |
	                               1u << RTI_MEM_INACTIVE | 1u << RTI_MEM_ACTIVE_ANON |
	                               1u << RTI_MEM_ACTIVE_FILE);
	ck_assert_uint_eq(mem.value[RTI_MEM_ACTIVE], 1);
	ck_assert_uint_eq(mem.value[RTI_MEM_INACTIVE], 2);
	ck_assert_uint_eq(mem.value[RTI_MEM_ACTIVE_ANON], 3);
	ck_assert_uint_eq(mem.value[RTI_MEM_ACTIVE_FILE], 4);
	ck_assert_uint_eq(mem.value[RTI_MEM_TOTAL], 7);
}
END_TEST

/* The parser stops reading once it has every key. */
START_TEST(meminfo_with_repeated_key_uses_the_last_until_complete)
{
	char text[sizeof(meminfo_text) + 64];
	struct rti_meminfo mem;

	snprintf(text, sizeof(text), "MemFree: 9 kB\n%sMemTotal: 9 kB\n", meminfo_text);
	ck_assert_int_eq(parse_meminfo_text(text, &mem), 0);
	ck_assert_uint_eq(mem.value[RTI_MEM_FREE], 101);
	ck_assert_uint_eq(mem.value[RTI_MEM_TOTAL], 100);
}
END_TEST

START_TEST(meminfo_without_available_lacks_its_bit)
{
	struct rti_meminfo mem;

	ck_assert_int_eq(parse_meminfo_text(
			     "MemTotal: 9 kB\nMemFree: 8 kB\nBuffers: 7 kB\nCached: 6 kB\n", &mem),
	                 0);
	ck_assert(!(mem.has & 1u << RTI_MEM_AVAILABLE));
	ck_assert_uint_eq(mem.value[RTI_MEM_CACHED], 6);
}
END_TEST

START_TEST(meminfo_without_blanks_parses)
{
	struct rti_meminfo mem;

	ck_assert_int_eq(parse_meminfo_text("MemTotal:123 kB\nMemFree:45kB\nCached:0\n", &mem), 0);
	ck_assert_uint_eq(mem.value[RTI_MEM_TOTAL], 123);
	ck_assert_uint_eq(mem.value[RTI_MEM_FREE], 45);
	ck_assert(mem.has & 1u << RTI_MEM_CACHED);
}
END_TEST

START_TEST(meminfo_with_unreadable_values_lacks_their_bits)
{
	static const char text[] =
	    "MemTotal: 9 kB\nMemFree: 8 kB\nBuffers: kB\nCached: -1 kB\nShmem\n";
	struct rti_meminfo mem;

	ck_assert_int_eq(parse_meminfo_text(text, &mem), 0);
	ck_assert_uint_eq(mem.has, 1u << RTI_MEM_TOTAL | 1u << RTI_MEM_FREE);
}
END_TEST

static const char *const bad_meminfos[] = {
	"",
	"\n",
	"MemTotal: 1 kB\n",
	"MemFree: 1 kB\n",
	"MemTotal 1 kB\nMemFree 1 kB\n",
	"MemTotal: x\nMemFree: 1 kB\n",
	"xMemTotal: 1 kB\nMemFree: 1 kB\n",
	":::::\n:\n",
};

START_TEST(meminfo_malformed_is_refused)
{
	struct rti_meminfo mem;

	ck_assert_int_eq(parse_meminfo_text(bad_meminfos[_i], &mem), -EBADMSG);
}
END_TEST

START_TEST(meminfo_of_nul_bytes_is_refused)
{
	struct exact zeros = exact_zeros(4096);
	struct rti_meminfo mem;

	ck_assert_int_eq(rti_parse_meminfo(zeros.data, zeros.len, &mem), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_meminfo");
	TCase *tests = suite_case(suite, "meminfo");

	tcase_add_test(tests, meminfo_with_all_keys_parses_each);
	tcase_add_test(tests, meminfo_in_other_order_parses);
	tcase_add_test(tests, meminfo_with_keys_of_common_prefix_keeps_them_apart);
	tcase_add_test(tests, meminfo_with_repeated_key_uses_the_last_until_complete);
	tcase_add_test(tests, meminfo_without_available_lacks_its_bit);
	tcase_add_test(tests, meminfo_without_blanks_parses);
	tcase_add_test(tests, meminfo_with_unreadable_values_lacks_their_bits);
	tcase_add_loop_test(tests, meminfo_malformed_is_refused, 0,
	                    sizeof(bad_meminfos) / sizeof(bad_meminfos[0]));
	tcase_add_test(tests, meminfo_of_nul_bytes_is_refused);
	return suite_run(suite);
}
