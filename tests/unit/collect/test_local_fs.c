/* SPDX-License-Identifier: MIT */
#include "collect/local_fs.h"

#include <string.h>

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

START_TEST(xfs_waits_in_some_releases)
{
	static const char *const waiting[] = { "5.14.0-427.el9.x86_64", "5.15.0", "5.18.19", "" };
	static const char *const others[] = {
		"4.18.0-553.el8_10.x86_64", "5.13.1", "5.19.0", "5.4.0", "6.1.0", "15.15.0"
	};

	for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++) {
		ck_assert_msg(rti_fs_waits_in_release("xfs", waiting[i]), "%s", waiting[i]);
		ck_assert(!rti_fs_waits_in_release("ext4", waiting[i]));
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_msg(!rti_fs_waits_in_release("xfs", others[i]), "%s", others[i]);
}
END_TEST

static bool has_quota(const char *options)
{
	return rti_fs_has_project_quota(rti_scan(options, strlen(options)));
}

START_TEST(project_quota_is_found_among_the_options)
{
	ck_assert(has_quota("rw,prjquota"));
	ck_assert(has_quota("pquota,rw"));
	ck_assert(has_quota("rw,prjjquota=file,noacl"));
	ck_assert(!has_quota("rw,usrquota,grpquota"));
	ck_assert(!has_quota("rw,errors=prjquota"));
	ck_assert(!has_quota(""));
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
	tcase_add_test(tcase, xfs_waits_in_some_releases);
	tcase_add_test(tcase, project_quota_is_found_among_the_options);
	tcase_add_test(tcase, path_leads_through_its_directories_alone);
	return suite_run(suite);
}
