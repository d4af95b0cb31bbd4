/* SPDX-License-Identifier: MIT */
#include "file_faults.h"

#include <ctype.h>
#include <stdio.h>

#include "suite.h"

#define FDS_MAX 1024

static struct {
	enum file_fault fault;
	int error; /* -errno */
	unsigned at, calls;
	bool is_reached;
	char name[128];
	bool is_open[FDS_MAX];
	bool is_ended[FDS_MAX]; /* reads give no more */
	int open_files;
} plan;

void file_faults_begin(unsigned at, enum file_fault fault, int error)
{
	plan.fault = fault;
	plan.error = error;
	plan.at = at;
	plan.calls = 0;
	plan.is_reached = false;
}

bool file_faults_is_reached(void)
{
	return plan.is_reached;
}

const char *file_faults_name(void)
{
	return plan.name;
}

int file_faults_open_files(void)
{
	return plan.open_files;
}

/* Returns whether this call is the one. */
static bool is_turn(const char *call, const char *path)
{
	plan.calls++;
	if (plan.fault == FILE_FAULT_FROM_THEN_ON && plan.is_reached)
		return true;
	if (plan.calls != plan.at)
		return false;
	plan.is_reached = true;
	snprintf(plan.name, sizeof(plan.name), "%s %s", call, path);
	return true;
}

/* Other faults are of reads alone. */
static bool fails(const char *call, const char *path)
{
	return is_turn(call, path) &&
	       (plan.fault == FILE_FAULT_ONCE || plan.fault == FILE_FAULT_FROM_THEN_ON);
}

static int failing_open(int dirfd, const char *path, int flags)
{
	int fd = fails("open", path) ? plan.error : rti_procfs_linux.open(dirfd, path, flags);

	if (fd < 0)
		return fd;
	ck_assert_int_lt(fd, FDS_MAX);
	plan.is_open[fd] = true;
	plan.is_ended[fd] = false;
	plan.open_files++;
	return fd;
}

static void garble(char *text, ssize_t len)
{
	for (ssize_t i = 0; i < len; i++)
		if (isdigit((unsigned char)text[i]))
			text[i] = 'x';
}

static ssize_t read_with_fault(int fd, void *buf, size_t len, off_t offset)
{
	ssize_t n;

	if (plan.fault == FILE_FAULT_ONCE || plan.fault == FILE_FAULT_FROM_THEN_ON)
		return plan.error;
	n = rti_procfs_linux.pread(fd, buf, len, offset);
	if (plan.fault == FILE_FAULT_GARBLED)
		garble(buf, n);
	if (plan.fault == FILE_FAULT_GARBLED || n < 0)
		return n;
	plan.is_ended[fd] = plan.fault != FILE_FAULT_SHORT_READ;
	if (plan.fault == FILE_FAULT_EMPTY)
		return 0;
	return n > 1 ? n / 2 : n;
}

/* A file that is kept open is whole again when it is read from its start. */
static ssize_t failing_pread(int fd, void *buf, size_t len, off_t offset)
{
	if (offset == 0)
		plan.is_ended[fd] = false;
	if (is_turn("pread", ""))
		return read_with_fault(fd, buf, len, offset);
	return plan.is_ended[fd] ? 0 : rti_procfs_linux.pread(fd, buf, len, offset);
}

static ssize_t failing_getdents(int fd, void *buf, size_t len)
{
	return fails("getdents", "") ? plan.error : rti_procfs_linux.getdents(fd, buf, len);
}

static ssize_t failing_readlink(int dirfd, const char *path, char *buf, size_t len)
{
	return fails("readlink", path) ? plan.error
	                               : rti_procfs_linux.readlink(dirfd, path, buf, len);
}

static int failing_access(int dirfd, const char *path)
{
	return fails("access", path) ? plan.error : rti_procfs_linux.access(dirfd, path);
}

static int failing_close(int fd)
{
	ck_assert_msg(fd >= 0 && fd < FDS_MAX && plan.is_open[fd], "closes %d, which is not open",
	              fd);
	plan.is_open[fd] = false;
	plan.open_files--;
	return rti_procfs_linux.close(fd);
}

const struct rti_procfs_ops file_faults_ops = {
	.open = failing_open,
	.pread = failing_pread,
	.getdents = failing_getdents,
	.readlink = failing_readlink,
	.access = failing_access,
	.close = failing_close,
};
