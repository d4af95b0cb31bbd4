/* SPDX-License-Identifier: MIT */
/* File access through the system calls of Linux, below a fixture root and in /proc. */
#include "os/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "descriptors.h"
#include "fixture.h"
#include "suite.h"
#include "util/visit.h"

static struct {
	struct fixture root;
	struct rti_procfs procfs;
	struct rti_buf buf;
} fix;

static void set_up(void)
{
	fixture_new(&fix.root);
	ck_assert_int_eq(rti_procfs_open(&fix.procfs, fix.root.root, &rti_procfs_linux), 0);
}

static void tear_down(void)
{
	rti_procfs_close(&fix.procfs);
	rti_buf_free(&fix.buf);
	fixture_free(&fix.root);
}

static int read_sys(const char *path)
{
	return rti_procfs_read(&fix.procfs, RTI_SYS, path, RTI_SINGLE_RECORD, &fix.buf);
}

static int read_cached_stat(struct rti_file *file)
{
	return rti_procfs_read_cached(&fix.procfs, RTI_PROC, "stat", RTI_SINGLE_RECORD, file,
	                              &fix.buf);
}

START_TEST(cached_file_rewritten_in_place_shows_the_new_text)
{
	struct rti_file file = RTI_FILE_INIT;

	fixture_write(&fix.root, "proc/stat", "first, and longer");
	ck_assert_int_eq(read_cached_stat(&file), 0);
	ck_assert_str_eq(fix.buf.data, "first, and longer");

	fixture_write(&fix.root, "proc/stat", "second");
	ck_assert_int_eq(read_cached_stat(&file), 0);
	ck_assert_str_eq(fix.buf.data, "second");
	rti_procfs_close_file(&fix.procfs, &file);
}
END_TEST

START_TEST(cached_file_is_open_with_cloexec)
{
	struct rti_file file = RTI_FILE_INIT;

	fixture_write(&fix.root, "proc/stat", "first");
	ck_assert_int_eq(read_cached_stat(&file), 0);
	ck_assert_int_eq(fcntl(file.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	rti_procfs_close_file(&fix.procfs, &file);
}
END_TEST

START_TEST(file_behind_a_link_is_read)
{
	fixture_write(&fix.root, "sys/block/sda/stat", "1 2 3");
	fixture_link(&fix.root, "sys/class/block/sda", "../../block/sda");
	ck_assert_int_eq(read_sys("class/block/sda/stat"), 0);
	ck_assert_str_eq(fix.buf.data, "1 2 3");
}
END_TEST

START_TEST(readlink_of_link_returns_its_target)
{
	char target[16];

	fixture_link(&fix.root, "sys/class/block/sda", "../../block/sda");
	ck_assert_int_eq(
	    rti_procfs_readlink(&fix.procfs, RTI_SYS, "class/block/sda", target, sizeof(target)),
	    15);
	ck_assert_str_eq(target, "../../block/sda");
}
END_TEST

START_TEST(access_of_missing_path_returns_enoent)
{
	fixture_write(&fix.root, "sys/block/sda/stat", "1 2 3");
	ck_assert_int_eq(rti_procfs_access(&fix.procfs, RTI_SYS, "block/sda"), 0);
	ck_assert_int_eq(rti_procfs_access(&fix.procfs, RTI_SYS, "block/sdb"), -ENOENT);
	ck_assert_int_eq(rti_procfs_access(&fix.procfs, RTI_SYS, "block/sda/stat/x"), -ENOENT);
}
END_TEST

static int copy_name(void *arg, const char *name)
{
	snprintf(arg, 32, "%s", name);
	return 0;
}

START_TEST(list_of_directory_reports_its_entry)
{
	char name[32] = "";

	fixture_mkdir(&fix.root, "sys/block/sda");
	ck_assert_int_eq(rti_procfs_list(&fix.procfs, RTI_SYS, "block", copy_name, name), 0);
	ck_assert_str_eq(name, "sda");
	ck_assert_int_eq(rti_procfs_list(&fix.procfs, RTI_SYS, "none", copy_name, name), -ENOENT);
}
END_TEST

START_TEST(read_of_directory_fails_with_eisdir)
{
	fixture_mkdir(&fix.root, "sys/block");
	ck_assert_int_eq(read_sys("block"), -EISDIR);
}
END_TEST

START_TEST(space_of_mounted_path_is_consistent)
{
	struct rti_space space;

	ck_assert_int_eq(fix.procfs.ops->space("", "/proc", &space), 0);
	ck_assert_uint_ge(space.total_bytes, space.free_bytes);
	ck_assert_uint_ge(space.free_bytes, space.available_bytes);
	ck_assert_int_eq(fix.procfs.ops->space("", "/none", &space), -ENOENT);
}
END_TEST

START_TEST(space_of_a_link_is_that_of_its_target_below_the_root)
{
	char path[200];
	struct rti_space space;

	fixture_link(&fix.root, "mnt", "/proc"); /* the directory of the root */
	snprintf(path, sizeof(path), "%s/mnt", fix.root.root);
	ck_assert_int_eq(fix.procfs.ops->space(fix.root.root, path, &space), 0);
	ck_assert_uint_gt(space.total_bytes, 0); /* that of the system has no blocks */
	fixture_link(&fix.root, "mnt", "/dev");
	ck_assert_int_eq(fix.procfs.ops->space(fix.root.root, path, &space), -ENOENT);
}
END_TEST

/* An open that waits for a writer would never end. */
START_TEST(fifo_in_place_of_a_file_is_no_file)
{
	char path[200];
	struct rti_file file = RTI_FILE_INIT;

	snprintf(path, sizeof(path), "%s/proc/stat", fix.root.root);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(read_cached_stat(&file), -ENOENT);
	ck_assert_int_eq(file.fd, -1);
}
END_TEST

START_TEST(links_do_not_lead_out_of_a_root)
{
	char target[64];

	fixture_write(&fix.root, "sys/kernel/here", "below");
	fixture_link(&fix.root, "sys/absolute", "/proc/version");
	fixture_link(&fix.root, "sys/relative", "../../../../../../../../proc/version");
	fixture_link(&fix.root, "sys/directory", "/");
	fixture_link(&fix.root, "sys/inside", "/sys/kernel/here");

	ck_assert_int_eq(read_sys("absolute"), -ENOENT);
	ck_assert_int_eq(read_sys("relative"), -ENOENT);
	ck_assert_int_eq(read_sys("directory/etc/passwd"), -ENOENT);
	ck_assert_int_eq(read_sys("directory/sys/kernel/here"), 0);
	ck_assert_int_eq(read_sys("inside"), 0);
	ck_assert_str_eq(fix.buf.data, "below");
	ck_assert_int_eq(rti_procfs_access(&fix.procfs, RTI_SYS, "absolute"), -ENOENT);
	ck_assert_int_eq(rti_procfs_access(&fix.procfs, RTI_SYS, "inside"), 0);
	ck_assert_int_eq(rti_procfs_readlink(&fix.procfs, RTI_SYS, "directory/sys/inside", target,
	                                     sizeof(target)),
	                 strlen("/sys/kernel/here"));
}
END_TEST

START_TEST(proc_that_is_a_link_is_that_of_the_root)
{
	struct rti_procfs other;

	fixture_remove(&fix.root, "proc");
	fixture_write(&fix.root, "host/proc/marker", "");
	fixture_link(&fix.root, "proc", "/host/proc");
	ck_assert_int_eq(rti_procfs_open(&other, fix.root.root, &rti_procfs_linux), 0);
	ck_assert_int_eq(rti_procfs_access(&other, RTI_PROC, "marker"), 0);
	rti_procfs_close(&other);
}
END_TEST

START_TEST(root_without_proc_fails_with_enoent)
{
	struct rti_procfs other;

	fixture_remove(&fix.root, "proc");
	ck_assert_int_eq(rti_procfs_open(&other, fix.root.root, &rti_procfs_linux), -ENOENT);
	ck_assert_int_eq(rti_procfs_open(&other, "/nowhere/at/all", &rti_procfs_linux), -ENOENT);
}
END_TEST

/* A signal handler has no argument for these. */
static char fifo_path[256];
static volatile sig_atomic_t interrupts;

/* Opens the other end of the FIFO only after the open of the reader was interrupted several
 * times. */
static void on_alarm(int signal)
{
	(void)signal;
	if (++interrupts == 3)
		(void)!open(fifo_path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

START_TEST(open_interrupted_by_signals_is_retried)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval every_20ms = { { 0, 20000 }, { 0, 20000 } };

	fix.procfs.is_foreign = false; /* as if it was this system */
	snprintf(fifo_path, sizeof(fifo_path), "%s/proc/fifo", fix.root.root);
	ck_assert_int_eq(mkfifo(fifo_path, 0600), 0);
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &every_20ms, NULL), 0);
	ck_assert_int_eq(
	    rti_procfs_read(&fix.procfs, RTI_PROC, "fifo", RTI_SINGLE_RECORD, &fix.buf), -ESPIPE);
	ck_assert_int_ge(interrupts, 3);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
}
END_TEST

#define PAGES 512

/* Every second page gets another protection, so that each page is a record of its own in maps. */
static char *map_stripes(size_t page)
{
	char *area = mmap(NULL, PAGES * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(area, MAP_FAILED);
	for (size_t i = 0; i < PAGES; i += 2)
		ck_assert_int_eq(mprotect(area + i * page, page, PROT_NONE), 0);
	return area;
}

START_TEST(seq_file_of_the_kernel_yields_all_records)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned long first = (unsigned long)map_stripes(page), found = 0;
	struct rti_procfs proc;
	char large[65536];
	ssize_t one_read;
	int fd;

	ck_assert_int_eq(rti_procfs_open(&proc, NULL, &rti_procfs_linux), 0);
	ck_assert_int_eq(rti_procfs_read(&proc, RTI_PROC, "self/maps", RTI_SEQ_FILE, &fix.buf), 0);

	for (char *line = fix.buf.data; *line; line = strchr(line, '\n') + 1) {
		unsigned long start = strtoul(line, NULL, 16);

		found += start >= first && start < first + PAGES * page;
	}
	ck_assert_uint_ge(found, PAGES - 1); /* the last may merge with the next area */

	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	one_read = read(fd, large, sizeof(large));
	close(fd);
	if (page == 4096) /* larger pages may hold all of the text */
		ck_assert_int_lt(one_read, (ssize_t)fix.buf.len);
	rti_procfs_close(&proc);
}
END_TEST

/* Before Linux 6.2 the number is not known, and neither it is below another root. */
START_TEST(descriptors_are_counted_by_one_call)
{
	struct rti_procfs proc;
	uint64_t before, after;
	int pid = (int)getpid(), fd;

	ck_assert_int_eq(rti_procfs_open(&proc, NULL, &rti_procfs_linux), 0);
	before = rti_procfs_count_descriptors(&proc, pid);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	after = rti_procfs_count_descriptors(&proc, pid);
	close(fd);
	rti_procfs_close(&proc);
	ck_assert_uint_eq(after, before ? before + 1 : 0);
	ck_assert_uint_eq(rti_procfs_count_descriptors(&fix.procfs, pid), 0);
}
END_TEST

/* The descriptor of a file that another thread has closed. */
START_TEST(calls_of_a_closed_descriptor_return_ebadf)
{
	const struct rti_procfs_ops *ops = &rti_procfs_linux;

	ck_assert_int_eq(ops->size(-1, "stat"), -EBADF);
	ck_assert_int_eq(ops->links(-1), -EBADF);
	ck_assert_int_eq(ops->close(-1), -EBADF);
	ck_assert(!ops->is_in_proc(-1));
}
END_TEST

START_TEST(name_of_a_process_is_a_number_of_32_bits)
{
	ck_assert_int_eq(rti_path_number("1"), 1);
	ck_assert_int_eq(rti_path_number("2147483647"), INT32_MAX);
	ck_assert_int_eq(rti_path_number("2147483648"), 0);
	ck_assert_int_eq(rti_path_number("99999999999999999999999999"), 0);
	ck_assert_int_eq(rti_path_number("-1"), 0);
	ck_assert_int_eq(rti_path_number("1.0"), 0);
	ck_assert_int_eq(rti_path_number("12a"), 0);
	ck_assert_int_eq(rti_path_number(""), 0);
}
END_TEST

static int64_t seven_links(int fd)
{
	(void)fd;
	return 7;
}

/* One figure alone: no directory is opened for it. */
START_TEST(files_by_their_names_are_those_of_this_system_alone)
{
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct rti_procfs names;
	char target[64], path[400];
	uint64_t count;

	ops.links = seven_links;
	rti_procfs_use_names(&names, &ops);
	ck_assert_int_eq(rti_procfs_access(&names, RTI_PROC, "self"), 0);
	ck_assert_int_eq(rti_procfs_access(&names, RTI_PROC, "none"), -ENOENT);
	ck_assert_int_eq(rti_procfs_access(&names, RTI_ROOT, "proc"), -ENOENT);
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(rti_procfs_access(&names, RTI_PROC, path), -ENAMETOOLONG);
	ck_assert_int_eq(rti_procfs_readlink(&names, RTI_ROOT, "proc", target, sizeof(target)),
	                 -ENOENT);
	ck_assert_str_eq(target, "");
	ck_assert_int_eq(chdir("/proc"), 0);
	count = rti_procfs_count_descriptors(&names, getpid());
	ck_assert(count == 0 || count == (uint64_t)count_descriptors() - 3);
	ck_assert_uint_eq(rti_procfs_count_links(&names, RTI_PROC), 0);
}
END_TEST

static int note_name(void *arg, const char *name)
{
	snprintf(arg, 32, "%s", name);
	return RTI_CONTINUE;
}

/* Each entry is of a type that the file system does not say. */
static ssize_t getdents_without_types(int fd, void *buf, size_t len)
{
	ssize_t n = rti_procfs_linux.getdents(fd, buf, len);

	for (ssize_t at = 0; at < n;) {
		struct dirent64 *entry = (void *)((char *)buf + at);

		entry->d_type = DT_UNKNOWN;
		at += entry->d_reclen;
	}
	return n;
}

/* What a call cannot tell is not left out. */
START_TEST(file_calls_that_are_missing_hide_nothing)
{
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct rti_file file = RTI_FILE_INIT;
	struct rti_procfs procfs;
	char name[32] = "";

	fixture_write(&fix.root, "proc/first/second", "");
	ops.getdents = getdents_without_types;
	ops.links = NULL;
	ops.has_changed = NULL;
	ck_assert_int_eq(rti_procfs_open(&procfs, fix.root.root, &ops), 0);
	ck_assert_int_eq(rti_procfs_list_dirs(&procfs, RTI_PROC, note_name, name), 0);
	ck_assert_str_eq(name, "first");
	ck_assert_int_eq(rti_procfs_list_cgroups(&procfs, "proc/first", note_name, name), 0);
	ck_assert_str_eq(name, "second");
	ck_assert_uint_eq(rti_procfs_count_links(&procfs, RTI_PROC), 0);
	procfs.is_foreign = false; /* as if it was this system */
	ck_assert_int_eq(rti_procfs_open_file(&procfs, RTI_PROC, "first/second", &file), 0);
	ck_assert(rti_procfs_has_changed(&procfs, &file));
	rti_procfs_close_file(&procfs, &file);
	rti_procfs_close(&procfs);
}
END_TEST

START_TEST(links_of_a_directory_that_is_missing_are_none)
{
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct rti_procfs procfs;

	ops.links = seven_links;
	fixture_remove(&fix.root, "sys");
	ck_assert_int_eq(rti_procfs_open(&procfs, fix.root.root, &ops), 0);
	ck_assert_uint_eq(rti_procfs_count_links(&procfs, RTI_SYS), 0);
	ck_assert_uint_eq(rti_procfs_count_links(&procfs, RTI_PROC), 7);
	rti_procfs_close(&procfs);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("procfs_real");
	TCase *tests = suite_case(suite, "real files");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, cached_file_rewritten_in_place_shows_the_new_text);
	tcase_add_test(tests, cached_file_is_open_with_cloexec);
	tcase_add_test(tests, file_behind_a_link_is_read);
	tcase_add_test(tests, readlink_of_link_returns_its_target);
	tcase_add_test(tests, access_of_missing_path_returns_enoent);
	tcase_add_test(tests, list_of_directory_reports_its_entry);
	tcase_add_test(tests, read_of_directory_fails_with_eisdir);
	tcase_add_test(tests, space_of_mounted_path_is_consistent);
	tcase_add_test(tests, space_of_a_link_is_that_of_its_target_below_the_root);
	tcase_add_test(tests, fifo_in_place_of_a_file_is_no_file);
	tcase_add_test(tests, links_do_not_lead_out_of_a_root);
	tcase_add_test(tests, proc_that_is_a_link_is_that_of_the_root);
	tcase_add_test(tests, root_without_proc_fails_with_enoent);
	tcase_add_test(tests, open_interrupted_by_signals_is_retried);
	tcase_add_test(tests, seq_file_of_the_kernel_yields_all_records);
	tcase_add_test(tests, descriptors_are_counted_by_one_call);
	tcase_add_test(tests, calls_of_a_closed_descriptor_return_ebadf);
	tcase_add_test(tests, name_of_a_process_is_a_number_of_32_bits);
	tcase_add_test(tests, files_by_their_names_are_those_of_this_system_alone);
	tcase_add_test(tests, file_calls_that_are_missing_hide_nothing);
	tcase_add_test(tests, links_of_a_directory_that_is_missing_are_none);
	return suite_run(suite);
}
