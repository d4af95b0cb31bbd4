/* SPDX-License-Identifier: MIT */
/* Parser of the uevent of a GPU. */
#include "parse/drm_uevent.h"

#include <errno.h>
#include <string.h>

#include "exact.h"
#include "suite.h"

static int parse(const char *text, struct rti_drm_uevent *out)
{
	struct exact copy = exact(text);

	return rti_parse_drm_uevent(copy.data, copy.len, out);
}

START_TEST(uevent_of_a_pci_device_has_driver_and_address)
{
	struct rti_drm_uevent out;

	ck_assert_int_eq(parse("DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:73BF\n"
	                       "PCI_SLOT_NAME=10ab:c3:1f.7\nMODALIAS=x\n",
	                       &out),
	                 0);
	ck_assert_str_eq(out.driver, "amdgpu");
	ck_assert_uint_eq(out.pci.domain, 0x10ab);
	ck_assert_uint_eq(out.pci.bus, 0xc3);
	ck_assert_uint_eq(out.pci.device, 0x1f);
	ck_assert_uint_eq(out.pci.function, 7);
}
END_TEST

START_TEST(uevent_of_a_platform_device_has_no_address)
{
	struct rti_drm_uevent out;

	ck_assert_int_eq(parse("DRIVER=panfrost\nOF_NAME=gpu\n", &out), 0);
	ck_assert_str_eq(out.driver, "panfrost");
	ck_assert_uint_eq(out.pci.domain, UINT32_MAX);
	ck_assert_uint_eq(out.pci.function, UINT32_MAX);
}
END_TEST

START_TEST(uevent_without_driver_is_ebadmsg)
{
	static const char *const texts[] = { "",
		                             "\n",
		                             "DRIVER=",
		                             "DRIVER=\nPCI_ID=1:2\n",
		                             "PCI_SLOT_NAME=0000:03:00.0\n",
		                             "XDRIVER=a\n" };
	struct rti_drm_uevent out;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_int_eq(parse(texts[i], &out), -EBADMSG);
}
END_TEST

START_TEST(uevent_with_bad_address_has_none)
{
	static const char *const texts[] = {
		"DRIVER=a\nPCI_SLOT_NAME=",
		"DRIVER=a\nPCI_SLOT_NAME=0000:03:00",
		"DRIVER=a\nPCI_SLOT_NAME=0000:03:00.0x",
		"DRIVER=a\nPCI_SLOT_NAME=0000-03:00.0",
		"DRIVER=a\nPCI_SLOT_NAME=123456789:03:00.0",
	};
	struct rti_drm_uevent out;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_int_eq(parse(texts[i], &out), 0);
		ck_assert_uint_eq(out.pci.bus, UINT32_MAX);
	}
}
END_TEST

START_TEST(driver_that_is_too_long_is_cut)
{
	struct rti_drm_uevent out;

	ck_assert_int_eq(parse("DRIVER=0123456789012345678901234567890123456789\n", &out), 0);
	ck_assert_str_eq(out.driver, "0123456789012345678901234567890");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("drm_uevent");
	TCase *text = suite_case(suite, "text");

	tcase_add_test(text, uevent_of_a_pci_device_has_driver_and_address);
	tcase_add_test(text, uevent_of_a_platform_device_has_no_address);
	tcase_add_test(text, uevent_without_driver_is_ebadmsg);
	tcase_add_test(text, uevent_with_bad_address_has_none);
	tcase_add_test(text, driver_that_is_too_long_is_cut);
	return suite_run(suite);
}
