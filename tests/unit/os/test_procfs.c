/* SPDX-License-Identifier: MIT */
/* File access: how reads end, what fails and how, and that no descriptor is lost. */
#include "fixture.h"

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

#include "os/procfs.h"
#include "suite.h"

/* One file that misbehaves as told, below made-up roots. */
static struct {
	const char *proc_path; /* the one file that exists below proc */
	size_t len;            /* its length; byte i is made by byte_at() */
	size_t read_limit;     /* most bytes that one read gives, 0 is no limit */
	int open_error, read_error, list_error, access_result;
	int cannot_seek; /* a descriptor gives its bytes once */
	int sys_error;   /* of opening sys */
	int is_endless;
	unsigned opens, closes, reads, reads_at_start, flags_seen;
	off_t at[64]; /* how far each descriptor has come */
	char opened[256];
} fake;

enum { FAKE_ROOT = 10, FAKE_PROC, FAKE_SYS, FAKE_FILE };

/* Each read of a record from its start is a new generation, as a counter that moved. */
static char byte_at(size_t offset)
{
	return (char)('a' + (offset + fake.reads_at_start * 7) % 26);
}

static int fake_open(int dirfd, const char *path, int flags)
{
	fake.flags_seen |= (unsigned)flags;
	if (dirfd == AT_FDCWD) {
		snprintf(fake.opened, sizeof(fake.opened), "%s", path);
		fake.opens++;
		return FAKE_ROOT;
	}
	if (dirfd == FAKE_ROOT) {
		int is_sys = strcmp(path, "sys") == 0;

		if (is_sys && fake.sys_error)
			return fake.sys_error;
		if (!is_sys && !fake.proc_path)
			return -ENOENT;
		fake.opens++;
		return is_sys ? FAKE_SYS : FAKE_PROC;
	}
	if (fake.open_error)
		return fake.open_error;
	if (dirfd != FAKE_PROC || strcmp(path, fake.proc_path) != 0)
		return -ENOENT;
	ck_assert_uint_lt(fake.opens, 60);
	fake.at[fake.opens] = 0;
	return FAKE_FILE + (int)fake.opens++;
}

static ssize_t fake_pread(int fd, void *buf, size_t len, off_t offset)
{
	size_t left = fake.is_endless             ? len
	              : (size_t)offset < fake.len ? fake.len - (size_t)offset
	                                          : 0;
	off_t *at;

	ck_assert_int_ge(fd, FAKE_FILE);
	at = &fake.at[fd - FAKE_FILE];
	if (fake.read_error)
		return fake.read_error;
	if (fake.cannot_seek && offset != *at)
		return -ESPIPE;
	fake.reads++;
	fake.reads_at_start += offset == 0;
	if (left > len)
		left = len;
	if (fake.read_limit && left > fake.read_limit)
		left = fake.read_limit;
	for (size_t i = 0; i < left && !fake.is_endless; i++)
		((char *)buf)[i] = byte_at((size_t)offset + i);
	*at = offset + (off_t)left;
	return (ssize_t)left;
}

static size_t add_entry(char *entries, size_t at, const char *name)
{
	struct dirent64 *entry = (void *)(entries + at);
	size_t size = (offsetof(struct dirent64, d_name) + strlen(name) + 1 + 7) & ~(size_t)7;

	memset(entry, 0, size);
	entry->d_reclen = (unsigned short)size;
	strcpy(entry->d_name, name);
	return at + size;
}

/* Three entries, then two, then the end or an error. */
static ssize_t fake_getdents(int fd, void *buf, size_t len)
{
	size_t at = 0;

	(void)fd;
	ck_assert_uint_ge(len, 1024);
	fake.reads++;
	if (fake.reads == 1) {
		at = add_entry(buf, at, ".");
		at = add_entry(buf, at, "..");
		return (ssize_t)add_entry(buf, at, "first");
	}
	if (fake.reads == 2) {
		at = add_entry(buf, at, "..hidden");
		return (ssize_t)add_entry(buf, at, "second");
	}
	return fake.list_error;
}

static ssize_t fake_readlink(int dirfd, const char *path, char *buf, size_t len)
{
	static const char target[] = "../somewhere/else";

	(void)dirfd;
	if (strcmp(path, "link") != 0)
		return -EACCES;
	if (len > sizeof(target) - 1)
		len = sizeof(target) - 1;
	memcpy(buf, target, len);
	return (ssize_t)len;
}

static int fake_access(int dirfd, const char *path)
{
	(void)dirfd;
	(void)path;
	return fake.access_result;
}

static int fake_close(int fd)
{
	(void)fd;
	fake.closes++;
	return 0;
}

static const struct rti_procfs_ops fake_ops = {
	.open = fake_open,
	.pread = fake_pread,
	.getdents = fake_getdents,
	.readlink = fake_readlink,
	.access = fake_access,
	.close = fake_close,
};

static struct rti_procfs procfs;
static struct rti_buf buf;

static void open_fake(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.proc_path = "file";
	fake.access_result = 0;
	ck_assert_int_eq(rti_procfs_open(&procfs, NULL, &fake_ops), 0);
}

static void close_fake(void)
{
	rti_procfs_close(&procfs);
	rti_buf_free(&buf);
	ck_assert_uint_eq(fake.closes, fake.opens);
}

static int read_fake(enum rti_file_format format)
{
	return rti_procfs_read(&procfs, RTI_PROC, "file", format, &buf);
}

static int reread_fake(struct rti_file *file)
{
	return rti_procfs_read_cached(&procfs, RTI_PROC, "file", RTI_SINGLE_RECORD, file, &buf);
}

/* All bytes of one read that began at the start for the nth time. */
static void assert_bytes(size_t len)
{
	ck_assert_uint_eq(buf.len, len);
	for (size_t i = 0; i < len; i++)
		ck_assert_int_eq(buf.data[i], byte_at(i));
	ck_assert_int_eq(buf.data[len], '\0');
}

static const size_t lengths[] = { 0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 10000, 100000 };

START_TEST(whole_takes_every_length)
{
	fake.len = lengths[_i];
	ck_assert_int_eq(read_fake(RTI_SINGLE_RECORD), 0);
	assert_bytes(lengths[_i]);
}
END_TEST

START_TEST(records_take_every_length)
{
	fake.len = lengths[_i];
	ck_assert_int_eq(read_fake(RTI_SEQ_FILE), 0);
	assert_bytes(lengths[_i]);
}
END_TEST

/* The kernel ends a read at the last record that fits its page, whatever the caller's buffer
 * holds. */
static const size_t limits[] = { 1, 100, 4000, 4095, 4096 };

START_TEST(records_go_on_after_short_reads)
{
	fake.len = 9999;
	fake.read_limit = limits[_i];
	ck_assert_int_eq(read_fake(RTI_SEQ_FILE), 0);
	assert_bytes(9999);
	ck_assert_uint_eq(fake.reads_at_start, 1);
}
END_TEST

START_TEST(lines_take_every_length)
{
	fake.len = lengths[_i];
	ck_assert_int_eq(read_fake(RTI_SHORT_LINES), 0);
	assert_bytes(lengths[_i]);
}
END_TEST

START_TEST(lines_go_on_after_reads_of_half_a_page)
{
	const struct {
		size_t len, limit;
		unsigned reads;
	} files[] = { { 2047, 0, 1 }, { 2048, 0, 2 }, { 4000, 2048, 2 }, { 4000, 3000, 2 } };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		fake.len = files[i].len;
		fake.read_limit = files[i].limit;
		fake.reads = fake.reads_at_start = 0;
		ck_assert_int_eq(read_fake(RTI_SHORT_LINES), 0);
		assert_bytes(files[i].len);
		ck_assert_uint_eq(fake.reads, files[i].reads);
	}
}
END_TEST

START_TEST(whole_is_read_again_rather_than_in_pieces)
{
	fake.len = 10000;
	ck_assert_int_eq(read_fake(RTI_SINGLE_RECORD), 0);
	ck_assert_uint_eq(fake.reads, fake.reads_at_start);
	ck_assert_uint_gt(fake.reads, 1);
	fake.reads = 0;
	ck_assert_int_eq(read_fake(RTI_SINGLE_RECORD), 0);
	ck_assert_uint_eq(fake.reads, 1); /* the buffer has grown */
	assert_bytes(10000);
}
END_TEST

START_TEST(whole_costs_one_read)
{
	fake.len = 300;
	ck_assert_int_eq(read_fake(RTI_SINGLE_RECORD), 0);
	ck_assert_uint_eq(fake.reads, 1);
}
END_TEST

START_TEST(endless_file_is_refused)
{
	fake.is_endless = 1;
	ck_assert_int_eq(read_fake(RTI_SINGLE_RECORD), -EFBIG);
	ck_assert_int_eq(read_fake(RTI_SEQ_FILE), -EFBIG);
}
END_TEST

static const int errors[] = { -EACCES, -ENOENT, -ESRCH, -EPERM, -EMFILE, -EIO, -ENODEV, -EBUSY };

START_TEST(open_errors_are_told)
{
	struct rti_file file = RTI_FILE_INIT;

	fake.open_error = errors[_i];
	ck_assert_int_eq(read_fake(RTI_SINGLE_RECORD), errors[_i]);
	ck_assert_uint_eq(buf.len, 0);
	ck_assert_int_eq(reread_fake(&file), errors[_i]);
	ck_assert_int_eq(file.fd, -1);
}
END_TEST

START_TEST(read_errors_are_told_and_close)
{
	struct rti_file file = RTI_FILE_INIT;

	fake.len = 10;
	fake.read_error = errors[_i];
	ck_assert_int_eq(read_fake(RTI_SEQ_FILE), errors[_i]);
	ck_assert_uint_eq(fake.opens - fake.closes, 3); /* the roots */
	ck_assert_int_eq(reread_fake(&file), errors[_i]);
	ck_assert_int_eq(file.fd, -1);
	fake.read_error = 0;
	ck_assert_int_eq(reread_fake(&file), 0);
	fake.read_error = errors[_i];
	ck_assert_int_eq(reread_fake(&file), errors[_i]);
	ck_assert_int_eq(file.fd, -1);
	ck_assert_uint_eq(fake.opens - fake.closes, 3);
}
END_TEST

START_TEST(kept_file_is_opened_once)
{
	struct rti_file file = RTI_FILE_INIT;

	fake.len = 5000;
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(reread_fake(&file), 0);
		assert_bytes(5000);
	}
	ck_assert_uint_eq(fake.opens, 4);
	rti_procfs_close_file(&procfs, &file);
	ck_assert_int_eq(file.fd, -1);
	rti_procfs_close_file(&procfs, &file);
	ck_assert_uint_eq(fake.closes, 1);
}
END_TEST

START_TEST(kept_file_that_cannot_seek_is_opened_anew)
{
	struct rti_file file = RTI_FILE_INIT;

	fake.len = 100;
	fake.cannot_seek = 1;
	ck_assert_int_eq(reread_fake(&file), 0);
	ck_assert_uint_eq(fake.opens, 4);
	ck_assert_int_eq(reread_fake(&file), 0);
	ck_assert_uint_eq(fake.opens, 5);
	assert_bytes(100);
	ck_assert_uint_eq(fake.opens - fake.closes, 4);
	rti_procfs_close_file(&procfs, &file);
}
END_TEST

START_TEST(bases_that_are_absent_hold_nothing)
{
	rti_procfs_close(&procfs);
	fake.sys_error = -ENOENT;
	ck_assert_int_eq(rti_procfs_open(&procfs, NULL, &fake_ops), 0);
	ck_assert_int_eq(rti_procfs_read(&procfs, RTI_SYS, "file", RTI_SINGLE_RECORD, &buf),
	                 -ENOENT);
	ck_assert_int_eq(rti_procfs_access(&procfs, RTI_SYS, "file"), -ENOENT);
	ck_assert_int_eq(rti_procfs_access(&procfs, RTI_PROC, "file"), 0);
}
END_TEST

START_TEST(proc_must_be_there)
{
	rti_procfs_close(&procfs);
	fake.proc_path = NULL;
	ck_assert_int_eq(rti_procfs_open(&procfs, NULL, &fake_ops), -ENOENT);
	ck_assert_uint_eq(fake.opens, fake.closes);
	fake.proc_path = "file";
	fake.access_result = -ENOENT; /* an empty directory where proc is not mounted */
	ck_assert_int_eq(rti_procfs_open(&procfs, NULL, &fake_ops), -ENOENT);
	ck_assert_uint_eq(fake.opens, fake.closes);
	ck_assert_int_eq(rti_procfs_open(&procfs, "/fixture", &fake_ops), 0);
}
END_TEST

static const struct {
	const char *root, *opened;
	int is_foreign;
	const char *prefix;
} roots[] = {
	{ NULL, "/", 0, "" },
	{ "", "/", 0, "" },
	{ "/", "/", 0, "" },
	{ "//", "/", 0, "" },
	{ "/host", "/host", 1, "/host" },
	{ "/host//", "/host", 1, "/host" },
};

START_TEST(root_goes_before_paths)
{
	rti_procfs_close(&procfs);
	ck_assert_int_eq(rti_procfs_open(&procfs, roots[_i].root, &fake_ops), 0);
	ck_assert_str_eq(fake.opened, roots[_i].opened);
	ck_assert_int_eq(procfs.is_foreign, roots[_i].is_foreign);
	ck_assert_str_eq(procfs.root, roots[_i].prefix);
}
END_TEST

static char listed[128];

static int note_name(void *arg, const char *name)
{
	snprintf(listed + strlen(listed), sizeof(listed) - strlen(listed), "%s;", name);
	return arg && strcmp(name, arg) == 0 ? 77 : 0;
}

START_TEST(list_gives_all_but_dots)
{
	listed[0] = '\0';
	ck_assert_int_eq(rti_procfs_list(&procfs, RTI_PROC, "file", note_name, NULL), 0);
	ck_assert_str_eq(listed, "first;..hidden;second;");
	ck_assert_uint_eq(fake.opens - fake.closes, 3);
}
END_TEST

START_TEST(list_stops_when_told)
{
	char stop[] = "first";

	listed[0] = '\0';
	ck_assert_int_eq(rti_procfs_list(&procfs, RTI_PROC, "file", note_name, stop), 77);
	ck_assert_str_eq(listed, "first;");
	ck_assert_uint_eq(fake.opens - fake.closes, 3);
}
END_TEST

START_TEST(list_tells_errors)
{
	listed[0] = '\0';
	fake.list_error = -EIO;
	ck_assert_int_eq(rti_procfs_list(&procfs, RTI_PROC, "file", note_name, NULL), -EIO);
	ck_assert_str_eq(listed, "first;..hidden;second;");
	fake.open_error = -EACCES;
	ck_assert_int_eq(rti_procfs_list(&procfs, RTI_PROC, "file", note_name, NULL), -EACCES);
	ck_assert_uint_eq(fake.opens - fake.closes, 3);
}
END_TEST

START_TEST(readlink_is_terminated_and_cut)
{
	char out[32], small[6];

	ck_assert_int_eq(rti_procfs_readlink(&procfs, RTI_SYS, "link", out, sizeof(out)), 17);
	ck_assert_str_eq(out, "../somewhere/else");
	ck_assert_int_eq(rti_procfs_readlink(&procfs, RTI_SYS, "link", small, sizeof(small)), 5);
	ck_assert_str_eq(small, "../so");
	ck_assert_int_eq(rti_procfs_readlink(&procfs, RTI_SYS, "other", small, sizeof(small)),
	                 -EACCES);
	ck_assert_str_eq(small, "");
}
END_TEST

START_TEST(buffer_keeps_its_bytes)
{
	struct rti_buf b = { 0 };

	ck_assert_int_eq(rti_buf_reserve(&b, 3), 0);
	memcpy(b.data, "abc", 4);
	for (size_t len = 1; len < 1 << 20; len = len * 3 + 1) {
		ck_assert_int_eq(rti_buf_reserve(&b, len), 0);
		ck_assert_uint_gt(b.cap, len); /* and a '\0' */
		b.data[len] = '\0';
	}
	ck_assert_mem_eq(b.data, "a", 1);
	rti_buf_free(&b);
	ck_assert_ptr_null(b.data);
	ck_assert_uint_eq(b.cap, 0);
}
END_TEST

static struct fixture fix;

static void open_real(void)
{
	fixture_new(&fix);
	ck_assert_int_eq(rti_procfs_open(&procfs, fix.root, &rti_procfs_linux), 0);
}

static void close_real(void)
{
	rti_procfs_close(&procfs);
	rti_buf_free(&buf);
	fixture_free(&fix);
}

START_TEST(real_kept_file_shows_what_was_rewritten)
{
	struct rti_file file = RTI_FILE_INIT;
	int flags;

	fixture_write(&fix, "proc/stat", "first, and longer");
	ck_assert_int_eq(
	    rti_procfs_read_cached(&procfs, RTI_PROC, "stat", RTI_SINGLE_RECORD, &file, &buf), 0);
	ck_assert_str_eq(buf.data, "first, and longer");
	fixture_write(&fix, "proc/stat", "second");
	ck_assert_int_eq(
	    rti_procfs_read_cached(&procfs, RTI_PROC, "stat", RTI_SINGLE_RECORD, &file, &buf), 0);
	ck_assert_str_eq(buf.data, "second");
	flags = fcntl(file.fd, F_GETFD);
	ck_assert_int_eq(flags & FD_CLOEXEC, FD_CLOEXEC);
	rti_procfs_close_file(&procfs, &file);
}
END_TEST

START_TEST(real_files_links_and_lists)
{
	struct rti_space space;
	char target[16];

	fixture_write(&fix, "sys/block/sda/stat", "1 2 3");
	fixture_link(&fix, "sys/class/block/sda", "../../block/sda");
	ck_assert_int_eq(
	    rti_procfs_read(&procfs, RTI_SYS, "class/block/sda/stat", RTI_SINGLE_RECORD, &buf), 0);
	ck_assert_str_eq(buf.data, "1 2 3");
	ck_assert_int_eq(
	    rti_procfs_readlink(&procfs, RTI_SYS, "class/block/sda", target, sizeof(target)), 15);
	ck_assert_str_eq(target, "../../block/sda");
	ck_assert_int_eq(rti_procfs_access(&procfs, RTI_SYS, "block/sda"), 0);
	ck_assert_int_eq(rti_procfs_access(&procfs, RTI_SYS, "block/sdb"), -ENOENT);
	ck_assert_int_eq(rti_procfs_access(&procfs, RTI_SYS, "block/sda/stat/x"), -ENOENT);
	listed[0] = '\0';
	ck_assert_int_eq(rti_procfs_list(&procfs, RTI_SYS, "block", note_name, NULL), 0);
	ck_assert_str_eq(listed, "sda;");
	ck_assert_int_eq(rti_procfs_list(&procfs, RTI_SYS, "none", note_name, NULL), -ENOENT);
	ck_assert_int_eq(rti_procfs_read(&procfs, RTI_SYS, "block", RTI_SINGLE_RECORD, &buf),
	                 -EISDIR);
	ck_assert_int_eq(procfs.ops->space("/proc", &space), 0);
	ck_assert_uint_ge(space.total_bytes, space.free_bytes);
	ck_assert_uint_ge(space.free_bytes, space.available_bytes);
	ck_assert_int_eq(procfs.ops->space("/none", &space), -ENOENT);
}
END_TEST

START_TEST(real_root_without_proc)
{
	struct rti_procfs other;

	fixture_remove(&fix, "proc");
	ck_assert_int_eq(rti_procfs_open(&other, fix.root, &rti_procfs_linux), -ENOENT);
	ck_assert_int_eq(rti_procfs_open(&other, "/nowhere/at/all", &rti_procfs_linux), -ENOENT);
}
END_TEST

static char fifo_path[256];
static volatile sig_atomic_t interrupts;

/* Let the reader in only after its open has been interrupted several times. */
static void on_alarm(int signal)
{
	(void)signal;
	if (++interrupts == 3)
		(void)!open(fifo_path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

START_TEST(real_open_goes_on_after_signals)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval every_20ms = { { 0, 20000 }, { 0, 20000 } };

	snprintf(fifo_path, sizeof(fifo_path), "%s/proc/fifo", fix.root);
	ck_assert_int_eq(mkfifo(fifo_path, 0600), 0);
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &every_20ms, NULL), 0);
	ck_assert_int_eq(rti_procfs_read(&procfs, RTI_PROC, "fifo", RTI_SINGLE_RECORD, &buf),
	                 -ESPIPE);
	ck_assert_int_ge(interrupts, 3);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
}
END_TEST

/* Every second page gets another protection, so that each is a record of its own in maps. */
#define PAGES 512

static char *map_stripes(size_t page)
{
	char *area = mmap(NULL, PAGES * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(area, MAP_FAILED);
	for (size_t i = 0; i < PAGES; i += 2)
		ck_assert_int_eq(mprotect(area + i * page, page, PROT_NONE), 0);
	return area;
}

START_TEST(real_records_of_the_kernel_are_all_there)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned long first = (unsigned long)map_stripes(page), found = 0;
	struct rti_procfs proc;
	char large[65536];
	ssize_t one_read;
	int fd;

	ck_assert_int_eq(rti_procfs_open(&proc, NULL, &rti_procfs_linux), 0);
	ck_assert_int_eq(rti_procfs_read(&proc, RTI_PROC, "self/maps", RTI_SEQ_FILE, &buf), 0);
	for (char *line = buf.data; *line; line = strchr(line, '\n') + 1) {
		unsigned long start = strtoul(line, NULL, 16);

		found += start >= first && start < first + PAGES * page;
	}
	ck_assert_uint_ge(found, PAGES - 1); /* the last may join a neighbour of the area */
	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	one_read = read(fd, large, sizeof(large));
	close(fd);
	if (page == 4096) /* else all may fit a page, and nothing was shown */
		ck_assert_int_lt(one_read, (ssize_t)buf.len);
	rti_procfs_close(&proc);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("source");
	TCase *reads = suite_case(suite, "reads"), *failures = suite_case(suite, "errors");
	TCase *cached = suite_case(suite, "kept"), *bases = suite_case(suite, "roots");
	TCase *names = suite_case(suite, "names"), *real = suite_case(suite, "real");

	tcase_add_checked_fixture(reads, open_fake, close_fake);
	tcase_add_loop_test(reads, whole_takes_every_length, 0,
	                    sizeof(lengths) / sizeof(lengths[0]));
	tcase_add_loop_test(reads, records_take_every_length, 0,
	                    sizeof(lengths) / sizeof(lengths[0]));
	tcase_add_loop_test(reads, lines_take_every_length, 0,
	                    sizeof(lengths) / sizeof(lengths[0]));
	tcase_add_test(reads, lines_go_on_after_reads_of_half_a_page);
	tcase_add_loop_test(reads, records_go_on_after_short_reads, 0,
	                    sizeof(limits) / sizeof(limits[0]));
	tcase_add_test(reads, whole_is_read_again_rather_than_in_pieces);
	tcase_add_test(reads, whole_costs_one_read);
	tcase_add_test(reads, endless_file_is_refused);
	tcase_add_test(reads, buffer_keeps_its_bytes);
	tcase_add_checked_fixture(failures, open_fake, close_fake);
	tcase_add_loop_test(failures, open_errors_are_told, 0, sizeof(errors) / sizeof(errors[0]));
	tcase_add_loop_test(failures, read_errors_are_told_and_close, 0,
	                    sizeof(errors) / sizeof(errors[0]));
	tcase_add_checked_fixture(cached, open_fake, close_fake);
	tcase_add_test(cached, kept_file_is_opened_once);
	tcase_add_test(cached, kept_file_that_cannot_seek_is_opened_anew);
	tcase_add_checked_fixture(bases, open_fake, close_fake);
	tcase_add_test(bases, bases_that_are_absent_hold_nothing);
	tcase_add_test(bases, proc_must_be_there);
	tcase_add_loop_test(bases, root_goes_before_paths, 0, sizeof(roots) / sizeof(roots[0]));
	tcase_add_checked_fixture(names, open_fake, close_fake);
	tcase_add_test(names, list_gives_all_but_dots);
	tcase_add_test(names, list_stops_when_told);
	tcase_add_test(names, list_tells_errors);
	tcase_add_test(names, readlink_is_terminated_and_cut);
	tcase_add_checked_fixture(real, open_real, close_real);
	tcase_add_test(real, real_kept_file_shows_what_was_rewritten);
	tcase_add_test(real, real_files_links_and_lists);
	tcase_add_test(real, real_root_without_proc);
	tcase_add_test(real, real_open_goes_on_after_signals);
	tcase_add_test(real, real_records_of_the_kernel_are_all_there);
	return suite_run(suite);
}
