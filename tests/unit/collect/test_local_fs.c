/* SPDX-License-Identifier: MIT */
#include "collect/local_fs.h"

#include "suite.h"

START_TEST(types_of_local_storage_and_memory_are_local)
{
	ck_assert(rti_fs_is_local("ext4"));
	ck_assert(rti_fs_is_local("xfs"));
	ck_assert(rti_fs_is_local("btrfs"));
	ck_assert(rti_fs_is_local("tmpfs"));
}
END_TEST

START_TEST(types_that_may_wait_are_not_local)
{
	static const char *const types[] = { "nfs",     "nfs4",   "cifs",    "fuse", "fuse.sshfs",
		                             "fuseblk", "9p",     "overlay", "zfs",  "vfat",
		                             "ceph",    "autofs", "ext4x",   "",     "virtiofs" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		ck_assert_msg(!rti_fs_is_local(types[i]), "%s", types[i]);
}
END_TEST

START_TEST(path_leads_through_its_directories_alone)
{
	ck_assert(rti_fs_leads_through("/srv/disk", "/srv"));
	ck_assert(rti_fs_leads_through("/srv/disk", "/srv/disk"));
	ck_assert(rti_fs_leads_through("/srv/disk", "/"));
	ck_assert(rti_fs_leads_through("/", "/"));
	ck_assert(!rti_fs_leads_through("/srv/disk", "/s"));
	ck_assert(!rti_fs_leads_through("/srv/disk", "/srv/disk/in"));
	ck_assert(!rti_fs_leads_through("/srv", "/srv/disk"));
	ck_assert(!rti_fs_leads_through("/", "/srv"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("local_fs");
	TCase *tcase = suite_case(suite, "local");

	tcase_add_test(tcase, types_of_local_storage_and_memory_are_local);
	tcase_add_test(tcase, types_that_may_wait_are_not_local);
	tcase_add_test(tcase, path_leads_through_its_directories_alone);
	return suite_run(suite);
}
