/* SPDX-License-Identifier: MIT */
/* Fixtures of cgroup mounts: v1, v2 and hybrid. */
#include "os/cgroup/cgroup_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"

struct cgroup_fixture cgroups;
static struct rti_procfs_ops file_calls;

void cgroup_fixture_set_up(void)
{
	cgroups.enclosing = cgroups.group = (struct rti_cgroup)RTI_CGROUP_INIT;
	cgroups.ctx = (struct rti_context){ &cgroups.procfs, &cgroups.platform, &cgroups.buf, 0 };
	fixture_new(&cgroups.root);
	file_calls = rti_procfs_linux;
	file_calls.open_in_root = NULL; /* the mounts have paths of this system */
	ck_assert_int_eq(rti_procfs_open(&cgroups.procfs, cgroups.root.root, &file_calls), 0);
	cgroups.procfs.ops->close(cgroups.procfs.fd[RTI_ROOT]);
	cgroups.procfs.fd[RTI_ROOT] =
	    cgroups.procfs.ops->open(AT_FDCWD, "/", O_RDONLY | O_DIRECTORY);
	rti_platform_init(&cgroups.platform, false);
}

void cgroup_fixture_tear_down(void)
{
	rti_cgroup_close(&cgroups.group, &cgroups.ctx);
	rti_cgroup_close(&cgroups.enclosing, &cgroups.ctx);
	rti_procfs_close(&cgroups.procfs);
	rti_buf_free(&cgroups.buf);
	fixture_free(&cgroups.root);
}

void cgroup_fixture_mount(const char *own_cgroups, const char *const mounts[])
{
	char text[8192] = "22 1 0:21 / /proc rw - proc proc rw\n";

	for (int i = 0; mounts[i]; i++) {
		char type[32], root[256], point[256], options[256];
		size_t len = strlen(text);

		ck_assert_int_eq(
		    sscanf(mounts[i], "%31s %255s %255s %255s", type, root, point, options), 4);
		if (!strchr(point, '\\'))
			fixture_mkdir(&cgroups.root, point);
		snprintf(text + len, sizeof(text) - len, "%d 1 0:%d %s %s/%s %.2s - %s %s %s\n",
		         30 + i, 40 + i, root, cgroups.root.root, point, options, type, type,
		         options);
	}
	fixture_write(&cgroups.root, "proc/self/mountinfo", text);
	fixture_write(&cgroups.root, "proc/self/cgroup", own_cgroups);
}

void cgroup_fixture_hybrid(void)
{
	static const char *const mounts[] = { "cgroup / v1/cpu rw,cpu",
		                              "cgroup / v1/cpuacct rw,cpuacct",
		                              "cgroup / v1/memory rw,memory",
		                              "cgroup / v1/blkio rw,blkio",
		                              "cgroup / v1/pids rw,pids",
		                              "cgroup / v1/systemd rw,xattr,name=systemd",
		                              "cgroup2 / v2 rw",
		                              NULL };

	cgroup_fixture_mount("9:name=systemd:/s\n8:pids:/\n7:blkio:/\n4:memory:/m/n\n2:cpuacct:/\n"
	                     "1:cpu:/\n0::/\n",
	                     mounts);
	fixture_mkdir(&cgroups.root, "v1/memory/m/n");
	fixture_write(&cgroups.root, "v2/cpu.stat",
	              "usage_usec 5000000\nuser_usec 3000000\nsystem_usec 2000000\n");
	fixture_write(&cgroups.root, "v1/cpuacct/cpuacct.usage", "7000000000\n");
	fixture_write(&cgroups.root, "v1/cpuacct/cpuacct.stat", "user 300\nsystem 400\n");
}

void cgroup_fixture_v1(void)
{
	static const char *const mounts[] = { "cgroup / v1/systemd rw,xattr,name=systemd",
		                              "cgroup / v1/cpu,cpuacct rw,cpu,cpuacct",
		                              "cgroup / v1/cpuset rw,cpuset",
		                              "cgroup / v1/memory rw,memory",
		                              "cgroup / v1/pids rw,pids",
		                              NULL };

	cgroup_fixture_mount("11:memory:/user\n5:pids:/user\n4:cpuset:/\n3:cpu,cpuacct:/user\n"
	                     "1:name=systemd:/user\n",
	                     mounts);
	fixture_mkdir(&cgroups.root, "v1/memory/user");
	fixture_mkdir(&cgroups.root, "v1/pids/user");
	fixture_mkdir(&cgroups.root, "v1/cpu,cpuacct/user");
}

void cgroup_fixture_v2(void)
{
	static const char *const mounts[] = { "cgroup2 / v2 rw,nsdelegate", NULL };

	cgroup_fixture_mount("0::/a/b\n", mounts);
	fixture_mkdir(&cgroups.root, "v2/a/b");
}

int cgroup_fixture_make(void)
{
	rti_cgroup_close(&cgroups.group, &cgroups.ctx);
	rti_cgroup_close(&cgroups.enclosing, &cgroups.ctx);
	rti_cgroup_enclosing(&cgroups.enclosing, &cgroups.ctx);
	return rti_cgroup_make(&cgroups.group, &cgroups.enclosing, &cgroups.ctx, 0);
}

const char *cgroup_fixture_dir(uint32_t account)
{
	const struct rti_cgroup_dir *dir = rti_cgroup_dir_of(&cgroups.group, account);

	return dir ? dir->path + strlen(cgroups.root.root) + 1 : "";
}

void cgroup_fixture_write(uint32_t account, const char *name, const char *text)
{
	char path[2048];

	snprintf(path, sizeof(path), "%s/%s", cgroup_fixture_dir(account), name);
	fixture_write(&cgroups.root, path, text);
}
