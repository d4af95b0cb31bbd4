/* SPDX-License-Identifier: MIT */
/* GPUs by /sys/class/drm, on fixtures. */
#include "gpu/drm_card.h"

#include <errno.h>
#include <stdio.h>

#include "faults.h"
#include "fixture.h"
#include "suite.h"

#define SECOND_NS UINT64_C(1000000000)

static struct fixture f;
static struct rti_procfs procfs;
static struct rti_buf buf;
static struct rti_context ctx;
static struct rti_drm_cards cards;
static struct rti_gpu_readings got;
static uint64_t now_ns;

static void set_up(void)
{
	fixture_new(&f);
	ck_assert_int_eq(rti_procfs_open(&procfs, f.root, &faults_ops), 0);
	ctx = (struct rti_context){ .procfs = &procfs, .buf = &buf };
	cards = (struct rti_drm_cards){ 0 };
	got = (struct rti_gpu_readings){ 0 };
	now_ns = 50 * SECOND_NS;
}

static void tear_down(void)
{
	unsigned files;

	rti_drm_cards_free(&cards, &ctx);
	files = faults_open_files();
	rti_procfs_close(&procfs);
	ck_assert_uint_eq(files - faults_open_files(), 3); /* its directories: nothing else */
	rti_buf_free(&buf);
	rti_gpu_readings_free(&got);
	fixture_free(&f);
}

static int look(void)
{
	rti_gpu_readings_clear(&got);
	return rti_drm_cards_read(&cards, &ctx, now_ns, &got);
}

static void write_card(int number, const char *driver, int bus)
{
	char path[100];

	snprintf(path, sizeof(path), "sys/class/drm/card%d/device/uevent", number);
	fixture_printf(&f, path, "DRIVER=%s\nPCI_ID=1002:73BF\nPCI_SLOT_NAME=0000:%02x:00.0\n",
	               driver, (unsigned)bus);
	snprintf(path, sizeof(path), "sys/class/drm/card%d/device/drm/renderD%d", number,
	         128 + number);
	fixture_mkdir(&f, path);
}

static void write_file(int number, const char *file, const char *text)
{
	char path[100];

	snprintf(path, sizeof(path), "sys/class/drm/card%d/device/%s", number, file);
	fixture_write(&f, path, text);
}

static void write_amdgpu(int number, int bus, const char *busy)
{
	write_card(number, "amdgpu", bus);
	write_file(number, "gpu_busy_percent", busy);
	write_file(number, "mem_info_vram_used", "1048576\n");
	write_file(number, "mem_info_vram_total", "17163091968\n");
	write_file(number, "power/runtime_status", "active\n");
}

static void expect_no_figures(const struct rti_gpu_reading *gpu, int busy, int memory)
{
	ck_assert_int_eq(gpu->err[RTI_GPU_BUSY], busy);
	ck_assert_int_eq(gpu->err[RTI_GPU_MEMORY], memory);
	ck_assert_int_eq(gpu->err[RTI_GPU_ENERGY], -EOPNOTSUPP);
	ck_assert_uint_eq(gpu->busy_percent, 0);
	ck_assert_uint_eq(gpu->memory_used_bytes, 0);
}

START_TEST(amdgpu_has_busy_share_and_memory)
{
	write_amdgpu(0, 0x3, "37\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 1);
	ck_assert_str_eq(got.gpu[0].driver, "amdgpu");
	ck_assert_str_eq(got.gpu[0].name, "card0");
	ck_assert(!got.gpu[0].is_nvml);
	ck_assert_uint_eq(got.gpu[0].pci.bus, 3);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_BUSY], 0);
	ck_assert_uint_eq(got.gpu[0].busy_percent, 37);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_MEMORY], 0);
	ck_assert_uint_eq(got.gpu[0].memory_used_bytes, 1048576);
	ck_assert_uint_eq(got.gpu[0].memory_total_bytes, UINT64_C(17163091968));
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_ENERGY], -EOPNOTSUPP);
}
END_TEST

START_TEST(product_name_is_the_name)
{
	write_amdgpu(0, 0x3, "37\n");
	write_file(0, "product_name", "AMD Instinct MI300X\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_str_eq(got.gpu[0].name, "AMD Instinct MI300X");
}
END_TEST

/* A card without data of its own has the file, and nothing in it. */
START_TEST(product_name_that_is_empty_leaves_the_name_of_the_card)
{
	write_amdgpu(0, 0x3, "37\n");
	write_file(0, "product_name", _i ? "\n" : "");
	ck_assert_int_eq(look(), 0);
	ck_assert_str_eq(got.gpu[0].name, "card0");
}
END_TEST

START_TEST(driver_without_figures_is_listed_without)
{
	write_card(0, "i915", 0);
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 1);
	expect_no_figures(&got.gpu[0], -EOPNOTSUPP, -EOPNOTSUPP);
}
END_TEST

START_TEST(only_cards_that_render_are_listed)
{
	write_amdgpu(1, 3, "1\n");
	fixture_write(&f, "sys/class/drm/card1-DP-1/device/uevent", "DRIVER=amdgpu\n");
	fixture_mkdir(&f, "sys/class/drm/card1-DP-1/device/drm/renderD129");
	fixture_mkdir(&f, "sys/class/drm/renderD129");
	fixture_write(&f, "sys/class/drm/version", "drm 1.1.0 20060810");
	/* Without a render node, without a driver, and without a device. */
	fixture_write(&f, "sys/class/drm/card0/device/uevent", "DRIVER=ast\n");
	fixture_mkdir(&f, "sys/class/drm/card0/device/drm/card0");
	fixture_write(&f, "sys/class/drm/card2/device/uevent", "PCI_ID=1002:73BF\n");
	fixture_mkdir(&f, "sys/class/drm/card2/device/drm/renderD130");
	fixture_mkdir(&f, "sys/class/drm/card3");
	fixture_mkdir(&f, "sys/class/drm/card");
	fixture_mkdir(&f, "sys/class/drm/card99999999999999999999");
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 1);
	ck_assert_uint_eq(got.gpu[0].busy_percent, 1);
}
END_TEST

START_TEST(system_without_drm_is_enoent)
{
	ck_assert_int_eq(look(), -ENOENT);
	ck_assert_uint_eq(got.gpu_count, 0);

	fixture_mkdir(&f, "sys/class/drm");
	now_ns += SECOND_NS;
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 0);
}
END_TEST

START_TEST(hostile_texts_are_no_figures)
{
	static const char *const texts[] = {
		"", "\n", "-1\n", "101\n", "99999999999999999999\n", "5%", "x\n", "4 4\n", " \n"
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		write_amdgpu(0, 3, texts[i]);
		ck_assert_int_eq(look(), 0);
		ck_assert_int_eq(got.gpu[0].err[RTI_GPU_BUSY], -EBADMSG);
		ck_assert_uint_eq(got.gpu[0].busy_percent, 0);
	}
	write_file(0, "mem_info_vram_used", "17163091969\n"); /* more than there is */
	ck_assert_int_eq(look(), 0);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_MEMORY], -EBADMSG);
	ck_assert_uint_eq(got.gpu[0].memory_used_bytes, 0);
}
END_TEST

START_TEST(files_that_are_refused_are_marked)
{
	write_amdgpu(0, 3, "37\n");
	faults_on_open("gpu_busy_percent", -EACCES);
	ck_assert_int_eq(look(), 0);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_BUSY], -EACCES);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_MEMORY], 0);

	faults_on_open("gpu_busy_percent", 0);
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu[0].busy_percent, 37);
	faults_on_open("class/drm", -EACCES);
	now_ns += SECOND_NS;
	ck_assert_int_eq(look(), -EACCES);
	faults_on_open("class/drm", 0);
}
END_TEST

/* What a card is stays unknown for want of memory or of descriptors. It is asked again in the next
 * list. */
START_TEST(shortage_at_a_new_card_is_an_error)
{
	static const char *const files[] = { "device/uevent", "device/drm", "mem_info_vram_total" };
	static const int errors[] = { -EMFILE, -ENFILE, -ENOMEM };

	write_amdgpu(0, 3, "37\n");
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		rti_drm_cards_free(&cards, &ctx);
		faults_on_open(files[_i], errors[i]);
		ck_assert_int_eq(look(), errors[i]);
		ck_assert_uint_eq(got.gpu_count, 0);
		faults_on_open(files[_i], 0);
		now_ns += SECOND_NS;
		ck_assert_int_eq(look(), 0);
		ck_assert_uint_eq(got.gpu_count, 1);
		ck_assert_int_eq(got.gpu[0].err[RTI_GPU_MEMORY], 0);
	}
}
END_TEST

/* To read how busy it is would wake it. */
START_TEST(card_that_sleeps_is_idle_and_not_read)
{
	write_amdgpu(0, 3, "37\n");
	write_file(0, "power/runtime_status", "suspended\n");
	faults_on_open("gpu_busy_percent", -EIO);
	ck_assert_int_eq(look(), 0);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_BUSY], 0);
	ck_assert_uint_eq(got.gpu[0].busy_percent, 0);
	ck_assert_uint_eq(got.gpu[0].memory_used_bytes, 1048576);

	faults_on_open("gpu_busy_percent", 0);
	write_file(0, "power/runtime_status", "active\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu[0].busy_percent, 37);
}
END_TEST

START_TEST(files_stay_open_between_looks)
{
	unsigned opens;

	write_amdgpu(0, 3, "37\n");
	write_card(1, "i915", 0);
	ck_assert_int_eq(look(), 0);
	opens = faults_opens();
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(faults_opens(), opens);
	ck_assert_uint_eq(got.gpu_count, 2);
}
END_TEST

/* E.g.: an external one. */
START_TEST(card_that_comes_and_goes_is_found_within_a_second)
{
	write_amdgpu(0, 3, "37\n");
	ck_assert_int_eq(look(), 0);
	write_amdgpu(1, 4, "50\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 1);
	now_ns += SECOND_NS;
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 2);

	fixture_remove(&f, "sys/class/drm/card0");
	now_ns += SECOND_NS;
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 1);
	ck_assert_uint_eq(got.gpu[0].pci.bus, 4);
}
END_TEST

/* The same name may then be that of another card. */
START_TEST(card_with_files_that_no_longer_answer_is_looked_at_anew)
{
	write_amdgpu(0, 3, "37\n");
	ck_assert_int_eq(look(), 0);
	faults_on_read("gpu_busy_percent", -ENODEV);
	ck_assert_int_eq(look(), 0);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_BUSY], -ENODEV);

	faults_on_read("gpu_busy_percent", 0);
	write_amdgpu(0, 9, "38\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 1);
	ck_assert_uint_eq(got.gpu[0].pci.bus, 9);
	ck_assert_uint_eq(got.gpu[0].busy_percent, 38);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("drm_card");
	TCase *figures = suite_case(suite, "figures"), *change = suite_case(suite, "change");

	tcase_add_checked_fixture(figures, set_up, tear_down);
	tcase_add_test(figures, amdgpu_has_busy_share_and_memory);
	tcase_add_test(figures, product_name_is_the_name);
	tcase_add_loop_test(figures, product_name_that_is_empty_leaves_the_name_of_the_card, 0, 2);
	tcase_add_test(figures, driver_without_figures_is_listed_without);
	tcase_add_test(figures, only_cards_that_render_are_listed);
	tcase_add_test(figures, system_without_drm_is_enoent);
	tcase_add_test(figures, hostile_texts_are_no_figures);
	tcase_add_test(figures, files_that_are_refused_are_marked);
	tcase_add_loop_test(figures, shortage_at_a_new_card_is_an_error, 0, 3);
	tcase_add_checked_fixture(change, set_up, tear_down);
	tcase_add_test(change, card_that_sleeps_is_idle_and_not_read);
	tcase_add_test(change, files_stay_open_between_looks);
	tcase_add_test(change, card_that_comes_and_goes_is_found_within_a_second);
	tcase_add_test(change, card_with_files_that_no_longer_answer_is_looked_at_anew);
	return suite_run(suite);
}
