/* SPDX-License-Identifier: MIT */
/* Fixtures of cgroup mounts: v1, v2 and hybrid. */
#ifndef CGROUP_FIXTURE_H
#define CGROUP_FIXTURE_H

#include "fixture.h"
#include "os/cgroup/cgroup.h"

/* A root with cgroup mounts. Paths of mounts are those of the real root, as the library makes
 * directories there; proc is that of the fixture. */
struct cgroup_fixture {
	struct fixture root;
	struct rti_procfs procfs;
	struct rti_platform platform;
	struct rti_buf buf;
	struct rti_context ctx;
	struct rti_cgroup enclosing, group;
};

extern struct cgroup_fixture cgroups;

/* For tcase_add_checked_fixture(). */
void cgroup_fixture_set_up(void);
void cgroup_fixture_tear_down(void);

/* Write /proc/self/cgroup, and a line of mountinfo for each of the mounts, up to NULL: "TYPE ROOT
 * POINT OPTIONS", e.g. "cgroup / v1/pids rw,pids". POINT is below the root of the fixture, and is
 * made. */
void cgroup_fixture_mount(const char *own_cgroups, const char *const mounts[]);

/* The mounts of this machine, of a system without v2, and of one without v1. */
void cgroup_fixture_hybrid(void);
void cgroup_fixture_v1(void);
void cgroup_fixture_v2(void);

/* Find the enclosing cgroup and make one below. */
int cgroup_fixture_make(void);

/* Returns the directory of the cgroup that was made, relative to the root of the fixture; "" if
 * there is none for the account. */
const char *cgroup_fixture_dir(uint32_t account);

/* Write a file of the cgroup that was made. */
void cgroup_fixture_write(uint32_t account, const char *name, const char *text);

#endif
