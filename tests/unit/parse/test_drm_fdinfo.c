/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/fdinfo/FD of a GPU. The texts are as the drivers' documentation has them. */
#include "exact.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse/drm_fdinfo.h"
#include "suite.h"

#define MIB 1048576u

static struct rti_drm_fdinfo parsed(const char *text)
{
	struct exact copy = exact(text);
	struct rti_drm_fdinfo out;

	memset(&out, 0x55, sizeof(out));
	ck_assert_int_eq(rti_parse_drm_fdinfo(copy.data, copy.len, &out), 0);
	return out;
}

/* The engine of this name, which must be there. */
static struct rti_drm_engine engine(const struct rti_drm_fdinfo *info, const char *name)
{
	for (unsigned i = 0; i < info->engine_count; i++)
		if (strcmp(info->engines[i].name, name) == 0)
			return info->engines[i];
	ck_abort_msg("no engine %s", name);
}

START_TEST(amdgpu_has_engine_times_and_memory_of_its_own)
{
	struct rti_drm_fdinfo info = parsed("pos:\t0\n"
	                                    "drm-driver:\tamdgpu\n"
	                                    "drm-client-id:\t103\n"
	                                    "drm-pdev:\t0000:0d:00.0\n"
	                                    "pasid:\t32777\n"
	                                    "drm-memory-vram:\t1024 KiB\n"
	                                    "drm-memory-gtt:\t2048 KiB\n"
	                                    "drm-memory-cpu:\t0 KiB\n"
	                                    "amd-memory-visible-vram:\t15656 KiB\n"
	                                    "drm-engine-gfx:\t128763401 ns\n"
	                                    "drm-engine-enc_1:\t7 ns\n");

	ck_assert_str_eq(info.driver, "amdgpu");
	ck_assert(info.has_client_id);
	ck_assert_uint_eq(info.client_id, 103);
	ck_assert(info.has_pci_address);
	ck_assert_uint_eq(info.pci_domain, 0);
	ck_assert_uint_eq(info.pci_bus, 0x0d);
	ck_assert_uint_eq(info.pci_device, 0);
	ck_assert_uint_eq(info.pci_function, 0);
	ck_assert_uint_eq(info.engine_count, 2);
	ck_assert_uint_eq(engine(&info, "gfx").busy_ns, 128763401);
	ck_assert_uint_eq(engine(&info, "gfx").kind, RTI_DRM_RENDER);
	ck_assert_uint_eq(engine(&info, "gfx").has, RTI_DRM_TIME);
	ck_assert_uint_eq(engine(&info, "enc_1").kind, RTI_DRM_ENCODE);
	ck_assert_uint_eq(info.device_memory_bytes, MIB);
	ck_assert_uint_eq(info.system_memory_bytes, 2 * MIB);
}
END_TEST

START_TEST(resident_memory_replaces_its_old_alias_in_any_order)
{
	static const char *const texts[] = {
		"drm-driver:a\ndrm-memory-vram: 5 MiB\ndrm-resident-vram: 3 MiB\n",
		"drm-driver:a\ndrm-resident-vram: 3 MiB\ndrm-memory-vram: 5 MiB\n",
	};

	ck_assert_uint_eq(parsed(texts[_i]).device_memory_bytes, 3 * MIB);
}
END_TEST

START_TEST(i915_has_groups_of_engines_with_a_capacity)
{
	struct rti_drm_fdinfo info = parsed("drm-driver: i915\n"
	                                    "drm-client-id: 7\n"
	                                    "drm-pdev: 0000:00:02.1\n"
	                                    "drm-resident-system0: 30 MiB\n"
	                                    "drm-resident-local0: 2 MiB\n"
	                                    "drm-engine-render: 9288864723 ns\n"
	                                    "drm-engine-capacity-video: 2\n"
	                                    "drm-engine-video: 11 ns\n"
	                                    "drm-engine-video-enhance: 3 ns\n");

	ck_assert_uint_eq(info.pci_device, 2);
	ck_assert_uint_eq(info.pci_function, 1);
	ck_assert_uint_eq(engine(&info, "render").capacity, 1);
	ck_assert_uint_eq(engine(&info, "render").busy_ns, 9288864723);
	ck_assert_uint_eq(engine(&info, "video").capacity, 2);
	ck_assert_uint_eq(engine(&info, "video").busy_ns, 11);
	ck_assert_uint_eq(engine(&info, "video").kind, RTI_DRM_DECODE);
	ck_assert_uint_eq(engine(&info, "video-enhance").kind, RTI_DRM_OTHER);
	ck_assert_uint_eq(info.device_memory_bytes, 2 * MIB);
	ck_assert_uint_eq(info.system_memory_bytes, 30 * MIB);
}
END_TEST

START_TEST(xe_has_cycles_and_no_times)
{
	struct rti_drm_fdinfo info = parsed("drm-driver:\txe\n"
	                                    "drm-resident-vram0:\t16 MiB\n"
	                                    "drm-cycles-rcs:\t28257900\n"
	                                    "drm-total-cycles-rcs:\t7655183225\n"
	                                    "drm-cycles-ccs:\t4\n"
	                                    "drm-engine-capacity-ccs:\t3\n");

	ck_assert_uint_eq(engine(&info, "rcs").has, RTI_DRM_CYCLES | RTI_DRM_TOTAL_CYCLES);
	ck_assert_uint_eq(engine(&info, "rcs").cycles, 28257900);
	ck_assert_uint_eq(engine(&info, "rcs").total_cycles, 7655183225);
	ck_assert_uint_eq(engine(&info, "ccs").has, RTI_DRM_CYCLES);
	ck_assert_uint_eq(engine(&info, "ccs").kind, RTI_DRM_COMPUTE);
	ck_assert_uint_eq(engine(&info, "ccs").capacity, 3);
	ck_assert_uint_eq(info.device_memory_bytes, 16 * MIB);
	ck_assert(!info.has_client_id);
	ck_assert(!info.has_pci_address);
}
END_TEST

START_TEST(panfrost_uses_memory_of_the_machine)
{
	struct rti_drm_fdinfo info = parsed("drm-driver:\tpanfrost\n"
	                                    "drm-engine-fragment:\t1846584880 ns\n"
	                                    "drm-cycles-fragment:\t1424359409\n"
	                                    "drm-maxfreq-fragment:\t799999987 Hz\n"
	                                    "drm-resident-memory:\t10 MiB\n");

	ck_assert_uint_eq(engine(&info, "fragment").has, RTI_DRM_TIME | RTI_DRM_CYCLES);
	ck_assert_uint_eq(engine(&info, "fragment").kind, RTI_DRM_RENDER);
	ck_assert_uint_eq(info.device_memory_bytes, 0);
	ck_assert_uint_eq(info.system_memory_bytes, 10 * MIB);
}
END_TEST

static const struct {
	const char *text;
	bool has_device_region, may_share;
} shared[] = {
	{ "drm-driver:a\ndrm-resident-vram: 3 MiB\ndrm-shared-vram: 0\n", true, false },
	{ "drm-driver:a\ndrm-resident-vram: 3 MiB\ndrm-shared-vram: 1 KiB\n", true, true },
	{ "drm-driver:a\ndrm-shared-local0: 1 KiB\ndrm-resident-local0: 3 MiB\n", true, true },
	{ "drm-driver:a\ndrm-memory-vram: 3 MiB\n", true, true },
	{ "drm-driver:a\ndrm-memory-vram: 0\n", true, false },
	{ "drm-driver:a\ndrm-resident-gtt: 3 MiB\ndrm-shared-gtt: 1 MiB\n", false, false },
};

/* A driver that does not say what is shared may have all of it shared. */
START_TEST(memory_of_the_device_may_be_shared)
{
	struct rti_drm_fdinfo info = parsed(shared[_i].text);

	ck_assert_int_eq(info.has_device_region, shared[_i].has_device_region);
	ck_assert_int_eq(info.may_share, shared[_i].may_share);
}
END_TEST

START_TEST(driver_without_figures_has_none)
{
	struct rti_drm_fdinfo info = parsed("drm-driver:\tnvidia-drm\n");

	ck_assert_uint_eq(info.engine_count, 0);
	ck_assert(!info.has_memory);
}
END_TEST

static const char *const not_drm[] = {
	"",
	"pos:\t0\nflags:\t02\nmnt_id:\t15\nino:\t7\n",
	"drm-client-id:\t3\ndrm-engine-gfx:\t3 ns\n",
	"drm-driver:\n",
	"drm-driver\n",
	"xdrm-driver: a\n",
};

START_TEST(file_without_driver_is_of_no_gpu)
{
	struct exact copy = exact(not_drm[_i]);
	struct rti_drm_fdinfo out;

	ck_assert_int_eq(rti_parse_drm_fdinfo(copy.data, copy.len, &out), -EBADMSG);
}
END_TEST

static const char *const left_out[] = {
	"drm-engine-: 1 ns\n",
	"drm-engine-gfx: -5 ns\n",
	"drm-engine-gfx: x\n",
	"drm-engine-gfx\n",
	"drm-engine-a-name-that-is-longer-than-any-driver-has: 5 ns\n",
	"drm-cycles-: 5\n",
	"drm-resident-vram: 3 GiB\n",
	"drm-resident-vram: -3\n",
	"drm-engine-capacity-gfx: 0\n",
	"drm-pdev: 0000:0d:00\n",
	"drm-pdev: 0000:0d:00.0.0\n",
	"drm-pdev: zz:0d:00.0\n",
	"drm-client-id: x\n",
};

START_TEST(bad_value_is_left_out)
{
	char text[200] = "drm-driver: a\n";
	struct rti_drm_fdinfo info;

	strcat(text, left_out[_i]);
	info = parsed(text);
	ck_assert_uint_eq(info.engine_count, 0);
	ck_assert(!info.has_memory);
	ck_assert(!info.has_pci_address);
	ck_assert(!info.has_client_id);
}
END_TEST

START_TEST(huge_memory_stays_at_the_largest_value)
{
	struct rti_drm_fdinfo info = parsed("drm-driver: a\n"
	                                    "drm-resident-vram: 18446744073709551615 MiB\n"
	                                    "drm-resident-vram1: 5 MiB\n");

	ck_assert_uint_eq(info.device_memory_bytes, UINT64_MAX);
}
END_TEST

START_TEST(last_line_of_a_region_counts)
{
	struct rti_drm_fdinfo info = parsed("drm-driver: a\n"
	                                    "drm-resident-vram: 3 MiB\n"
	                                    "drm-resident-vram: 5 MiB\n");

	ck_assert_uint_eq(info.device_memory_bytes, 5 * MIB);
}
END_TEST

START_TEST(engines_and_regions_beyond_the_most_are_left_out)
{
	char text[4096] = "drm-driver: a\n";
	struct rti_drm_fdinfo info;

	for (int i = 0; i < 40; i++)
		sprintf(text + strlen(text), "drm-engine-e%d: 1 ns\ndrm-resident-vram%d: 1\n", i,
		        i);
	strcat(text, "drm-engine-capacity-more: 7\ndrm-shared-more: 5\ndrm-resident-more: 5\n");
	info = parsed(text);
	ck_assert_uint_eq(info.engine_count, RTI_DRM_ENGINES_MAX);
	ck_assert_uint_eq(info.device_memory_bytes, RTI_DRM_REGIONS_MAX);
}
END_TEST

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int main(void)
{
	Suite *suite = suite_create("parse_drm_fdinfo");
	TCase *tests = suite_case(suite, "drm_fdinfo");

	tcase_add_test(tests, amdgpu_has_engine_times_and_memory_of_its_own);
	tcase_add_loop_test(tests, resident_memory_replaces_its_old_alias_in_any_order, 0, 2);
	tcase_add_test(tests, i915_has_groups_of_engines_with_a_capacity);
	tcase_add_test(tests, xe_has_cycles_and_no_times);
	tcase_add_test(tests, panfrost_uses_memory_of_the_machine);
	tcase_add_loop_test(tests, memory_of_the_device_may_be_shared, 0,
	                    sizeof(shared) / sizeof(shared[0]));
	tcase_add_test(tests, driver_without_figures_has_none);
	tcase_add_loop_test(tests, file_without_driver_is_of_no_gpu, 0, COUNT(not_drm));
	tcase_add_loop_test(tests, bad_value_is_left_out, 0, COUNT(left_out));
	tcase_add_test(tests, huge_memory_stays_at_the_largest_value);
	tcase_add_test(tests, last_line_of_a_region_counts);
	tcase_add_test(tests, engines_and_regions_beyond_the_most_are_left_out);
	return suite_run(suite);
}
