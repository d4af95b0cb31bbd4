/* SPDX-License-Identifier: MIT */
/* rt_is_partition() on a /sys that the test has made. Not every system has partitions. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "suite.h"

#define NOT_PERMITTED 77

/* Returns 0, or NOT_PERMITTED. */
static int hide_sys(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("new", "/sys", "tmpfs", 0, "size=1M") < 0)
		return NOT_PERMITTED;
	return 0;
}

static int make_file(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0444);

	return fd < 0 ? -errno : close(fd);
}

/* Returns 0, NOT_PERMITTED, or the step that was wrong. The names say the contrary of what the
 * devices are. */
static int look_at_devices(void)
{
	if (hide_sys())
		return NOT_PERMITTED;
	if (rt_is_partition("vda1") != -ENOENT)
		return 1;
	if (mkdir("/sys/class", 0755) < 0 || mkdir("/sys/class/block", 0755) < 0 ||
	    mkdir("/sys/class/block/vda1", 0755) < 0 || mkdir("/sys/class/block/data", 0755) < 0 ||
	    make_file("/sys/class/block/data/partition") < 0)
		return 2;
	if (rt_is_partition("vda1") != 0)
		return 3;
	if (rt_is_partition("data") != 1)
		return 4;
	return rt_is_partition("vdb") == -ENODEV ? 0 : 5;
}

static int result; /* of look_at_devices() */

START_TEST(device_is_what_sysfs_says)
{
	ck_assert_msg(result == 0, "step %d", result);
}
END_TEST

int main(void)
{
	pid_t pid = fork();
	Suite *suite;
	int status;

	if (pid == 0)
		_exit(look_at_devices());
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 1;
	result = WEXITSTATUS(status);
	if (result == NOT_PERMITTED)
		return suite_skip("cannot mount a /sys of its own here");
	suite = suite_create("is_partition");
	tcase_add_test(suite_case(suite, "devices"), device_is_what_sysfs_says);
	return suite_run(suite);
}
