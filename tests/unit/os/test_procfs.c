/* SPDX-License-Identifier: MIT */
/* File access through fake system calls: how reads end, what each error does, and that no
 * descriptor leaks. test_procfs_real.c does the same with real files. */
#include "os/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"

/* One file below fake roots, with calls that fail as these fields say. The calls have no argument
 * for it, so it is not part of the fixture. */
static struct {
	const char *proc_path; /* the one file that exists below proc */
	size_t len;            /* its length; byte_at() yields the bytes */
	size_t line_len;       /* each so many bytes one is a newline; 0: none is */
	size_t read_limit;     /* most bytes that one read returns; 0: no limit */
	int open_error, read_error, list_error, access_result;
	bool cannot_seek; /* a descriptor yields its bytes once */
	int sys_error;    /* from opening sys */
	bool is_endless;
	unsigned opens, closes, reads, reads_at_start, flags_seen;
	off_t at[64]; /* position of each descriptor */
	char opened[256];
} fake;

enum { FAKE_ROOT = 10, FAKE_PROC, FAKE_SYS, FAKE_FILE };

/* Each read from the start is a new generation of the text, like that of a counter that moved. */
static char byte_at(size_t offset)
{
	if (fake.line_len && (offset + 1) % fake.line_len == 0)
		return '\n';
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
		bool is_sys = strcmp(path, "sys") == 0;

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

/* Yields three entries, then two, then the end or an error. */
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

static bool is_in_proc;

static bool fake_is_in_proc(int fd)
{
	return is_in_proc && fd >= FAKE_FILE;
}

static const struct rti_procfs_ops fake_ops = {
	.open = fake_open,
	.pread = fake_pread,
	.getdents = fake_getdents,
	.readlink = fake_readlink,
	.access = fake_access,
	.is_in_proc = fake_is_in_proc,
	.close = fake_close,
};

/* What is under test, on top of the fake calls. */
static struct {
	struct rti_procfs procfs;
	struct rti_buf buf;
} fix;

static void open_fake(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.proc_path = "file";
	fake.access_result = 0;
	ck_assert_int_eq(rti_procfs_open(&fix.procfs, NULL, &fake_ops), 0);
}

static void close_fake(void)
{
	rti_procfs_close(&fix.procfs);
	rti_buf_free(&fix.buf);
	ck_assert_uint_eq(fake.closes, fake.opens);
}

static int read_fake(enum rti_file_format format)
{
	return rti_procfs_read(&fix.procfs, RTI_PROC, "file", format, &fix.buf);
}

static int reread_fake(struct rti_file *file)
{
	return rti_procfs_read_cached(&fix.procfs, RTI_PROC, "file", RTI_SINGLE_RECORD, file,
	                              &fix.buf);
}

/* Asserts that the buffer has all bytes of one generation. */
static void assert_bytes(size_t len)
{
	ck_assert_uint_eq(fix.buf.len, len);
	for (size_t i = 0; i < len; i++)
		ck_assert_int_eq(fix.buf.data[i], byte_at(i));
	ck_assert_int_eq(fix.buf.data[len], '\0');
}

static const size_t lengths[] = { 0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 10000, 100000 };

START_TEST(single_record_of_any_length_is_read_whole)
{
	fake.len = lengths[_i];
	ck_assert_int_eq(read_fake(RTI_SINGLE_RECORD), 0);
	assert_bytes(lengths[_i]);
}
END_TEST

START_TEST(seq_file_of_any_length_is_read_whole)
{
	fake.len = lengths[_i];
	ck_assert_int_eq(read_fake(RTI_SEQ_FILE), 0);
	assert_bytes(lengths[_i]);
}
END_TEST

/* The kernel ends a read at the last record that fits into a page, whatever size the buffer of the
 * caller has. */
static const size_t limits[] = { 1, 100, 4000, 4095, 4096 };

START_TEST(seq_file_after_short_reads_is_read_on)
{
	fake.len = 9999;
	fake.read_limit = limits[_i];
	ck_assert_int_eq(read_fake(RTI_SEQ_FILE), 0);
	assert_bytes(9999);
	ck_assert_uint_eq(fake.reads_at_start, 1);
}
END_TEST

/* A file may be read short at any byte, also at the end of a line. */
static const enum rti_file_format formats[] = { RTI_SINGLE_RECORD, RTI_ONE_LINE, RTI_TWO_LINES,
	                                        RTI_SEVEN_LINES, RTI_SEQ_FILE };

static int reread_as(enum rti_file_format format, struct rti_file *file)
{
	return rti_procfs_read_cached(&fix.procfs, RTI_PROC, "file", format, file, &fix.buf);
}

START_TEST(file_of_any_format_after_short_reads_of_any_size_is_read_on)
{
	struct rti_file file = RTI_FILE_INIT;

	fake.len = 300;
	fake.line_len = 50;
	for (size_t limit = 1; limit <= 301; limit++) {
		fake.read_limit = limit;
		fake.reads_at_start = 0;
		ck_assert_int_eq(reread_as(formats[_i], &file), 0);
		ck_assert_uint_eq(fake.reads_at_start, 1);
		/* The first line is all that a file of one line has. */
		if (formats[_i] == RTI_ONE_LINE && limit < 300)
			ck_assert_int_eq(fix.buf.data[fix.buf.len - 1], '\n');
		else if (formats[_i] == RTI_TWO_LINES && limit < 300)
			ck_assert_uint_ge(fix.buf.len, 100);
		else
			assert_bytes(300);
	}
	rti_procfs_close_file(&fix.procfs, &file);
}
END_TEST

/* Six lines are whole for a format of fewer, and may not be for one of more. */
START_TEST(file_with_all_lines_of_its_format_costs_one_read)
{
	static const unsigned reads[] = { 2, 1, 1, 2, 2 };

	fake.len = 300;
	fake.line_len = 50;
	ck_assert_int_eq(read_fake(formats[_i]), 0);
	ck_assert_uint_eq(fake.reads, reads[_i]);
	assert_bytes(300);
}
END_TEST

START_TEST(line_without_newline_is_read_on)
{
	fake.len = 299;
	fake.line_len = 300;
	ck_assert_int_eq(read_fake(RTI_ONE_LINE), 0);
	ck_assert_uint_eq(fake.reads, 2);
	assert_bytes(299);
}
END_TEST

START_TEST(single_record_beyond_the_buffer_is_read_again_from_its_start)
{
	fake.len = 10000;
	ck_assert_int_eq(read_fake(RTI_SINGLE_RECORD), 0);
	ck_assert_uint_eq(fake.reads, fake.reads_at_start + 1);
	ck_assert_uint_gt(fake.reads, 2);

	fake.reads = 0;
	ck_assert_int_eq(read_fake(RTI_SINGLE_RECORD), 0);
	ck_assert_uint_eq(fake.reads, 2); /* the buffer has grown */
	assert_bytes(10000);
}
END_TEST

START_TEST(file_without_end_fails_with_efbig)
{
	fake.is_endless = true;
	ck_assert_int_eq(read_fake(RTI_SINGLE_RECORD), -EFBIG);
	ck_assert_int_eq(read_fake(RTI_SEQ_FILE), -EFBIG);
}
END_TEST

static const int errors[] = { -EACCES, -ENOENT, -ESRCH, -EPERM, -EMFILE, -EIO, -ENODEV, -EBUSY };

START_TEST(open_that_fails_returns_its_error)
{
	struct rti_file file = RTI_FILE_INIT;

	fake.open_error = errors[_i];
	ck_assert_int_eq(read_fake(RTI_SINGLE_RECORD), errors[_i]);
	ck_assert_uint_eq(fix.buf.len, 0);
	ck_assert_int_eq(reread_fake(&file), errors[_i]);
	ck_assert_int_eq(file.fd, -1);
}
END_TEST

START_TEST(read_that_fails_returns_its_error_and_closes)
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

START_TEST(cached_file_read_again_is_opened_once)
{
	struct rti_file file = RTI_FILE_INIT;

	fake.len = 5000;
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(reread_fake(&file), 0);
		assert_bytes(5000);
	}
	ck_assert_uint_eq(fake.opens, 4);

	rti_procfs_close_file(&fix.procfs, &file);
	ck_assert_int_eq(file.fd, -1);

	rti_procfs_close_file(&fix.procfs, &file);
	ck_assert_uint_eq(fake.closes, 1);
}
END_TEST

/* Read a file of proc twice. The second time takes so many reads. */
static void check_second_read(size_t len, size_t read_limit, unsigned reads)
{
	struct rti_proc_file file = RTI_PROC_FILE_INIT;

	fake.len = len;
	fake.read_limit = read_limit;
	for (int i = 0; i < 2; i++) {
		fake.reads = fake.reads_at_start = 0;
		ck_assert_int_eq(
		    rti_procfs_read_proc_file(&fix.procfs, "file", RTI_SEQ_FILE, &file, &fix.buf),
		    0);
		assert_bytes(len);
	}
	ck_assert_uint_eq(fake.reads, reads);
	rti_procfs_close_file(&fix.procfs, &file.file);
}

/* A file system that covers proc may return less than there is. */
START_TEST(file_that_leaves_half_a_page_costs_one_read_if_it_is_of_proc)
{
	is_in_proc = true;
	check_second_read(2048, 0, 1);
	check_second_read(2049, 0, 2);
	check_second_read(10000, 4000, 4);
	is_in_proc = false;
	check_second_read(300, 100, 4);
}
END_TEST

START_TEST(cached_file_that_cannot_seek_is_reopened)
{
	struct rti_file file = RTI_FILE_INIT;

	fake.len = 100;
	fake.cannot_seek = true;
	ck_assert_int_eq(reread_fake(&file), 0);
	ck_assert_uint_eq(fake.opens, 4);
	ck_assert_int_eq(reread_fake(&file), 0);
	ck_assert_uint_eq(fake.opens, 5);
	assert_bytes(100);
	ck_assert_uint_eq(fake.opens - fake.closes, 4);
	rti_procfs_close_file(&fix.procfs, &file);
}
END_TEST

START_TEST(missing_sys_directory_yields_enoent)
{
	rti_procfs_close(&fix.procfs);
	fake.sys_error = -ENOENT;
	ck_assert_int_eq(rti_procfs_open(&fix.procfs, NULL, &fake_ops), 0);
	ck_assert_int_eq(rti_procfs_read(&fix.procfs, RTI_SYS, "file", RTI_SINGLE_RECORD, &fix.buf),
	                 -ENOENT);
	ck_assert_int_eq(rti_procfs_access(&fix.procfs, RTI_SYS, "file"), -ENOENT);
	ck_assert_int_eq(rti_procfs_access(&fix.procfs, RTI_PROC, "file"), 0);
}
END_TEST

START_TEST(root_without_proc_fails_with_enoent)
{
	rti_procfs_close(&fix.procfs);
	fake.proc_path = NULL;
	ck_assert_int_eq(rti_procfs_open(&fix.procfs, NULL, &fake_ops), -ENOENT);
	ck_assert_uint_eq(fake.opens, fake.closes);

	fake.proc_path = "file";
	fake.access_result = -ENOENT; /* an empty directory: proc is not mounted */
	ck_assert_int_eq(rti_procfs_open(&fix.procfs, NULL, &fake_ops), -ENOENT);
	ck_assert_uint_eq(fake.opens, fake.closes);
	ck_assert_int_eq(rti_procfs_open(&fix.procfs, "/fixture", &fake_ops), 0);
}
END_TEST

static const struct {
	const char *root, *opened;
	bool is_foreign;
	const char *prefix;
} roots[] = {
	{ NULL, "/", false, "" },
	{ "", "/", false, "" },
	{ "/", "/", false, "" },
	{ "//", "/", false, "" },
	{ "/host", "/host", true, "/host" },
	{ "/host//", "/host", true, "/host" },
};

START_TEST(root_of_the_caller_is_opened_and_kept_as_prefix)
{
	rti_procfs_close(&fix.procfs);
	ck_assert_int_eq(rti_procfs_open(&fix.procfs, roots[_i].root, &fake_ops), 0);
	ck_assert_str_eq(fake.opened, roots[_i].opened);
	ck_assert_int_eq(fix.procfs.is_foreign, roots[_i].is_foreign);
	ck_assert_str_eq(fix.procfs.root, roots[_i].prefix);
}
END_TEST

#define STOP 77 /* a result that rti_procfs_list() does not return by itself */

/* The names that a list reported, each with ";" after it. */
struct names {
	const char *stop_at; /* NULL: none */
	char text[128];
};

static int add_name(void *arg, const char *name)
{
	struct names *names = arg;
	size_t len = strlen(names->text);

	snprintf(names->text + len, sizeof(names->text) - len, "%s;", name);
	return names->stop_at && strcmp(name, names->stop_at) == 0 ? STOP : 0;
}

START_TEST(list_of_directory_omits_dot_and_dot_dot)
{
	struct names names = { 0 };

	ck_assert_int_eq(rti_procfs_list(&fix.procfs, RTI_PROC, "file", add_name, &names), 0);
	ck_assert_str_eq(names.text, "first;..hidden;second;");
	ck_assert_uint_eq(fake.opens - fake.closes, 3);
}
END_TEST

START_TEST(list_with_callback_that_stops_returns_its_result)
{
	struct names names = { .stop_at = "first" };

	ck_assert_int_eq(rti_procfs_list(&fix.procfs, RTI_PROC, "file", add_name, &names), STOP);
	ck_assert_str_eq(names.text, "first;");
	ck_assert_uint_eq(fake.opens - fake.closes, 3);
}
END_TEST

START_TEST(list_that_fails_returns_the_error)
{
	struct names names = { 0 };

	fake.list_error = -EIO;
	ck_assert_int_eq(rti_procfs_list(&fix.procfs, RTI_PROC, "file", add_name, &names), -EIO);
	ck_assert_str_eq(names.text, "first;..hidden;second;");

	fake.open_error = -EACCES;
	ck_assert_int_eq(rti_procfs_list(&fix.procfs, RTI_PROC, "file", add_name, &names), -EACCES);
	ck_assert_uint_eq(fake.opens - fake.closes, 3);
}
END_TEST

START_TEST(readlink_into_small_buffer_is_cut_and_terminated)
{
	char out[32], small[6];

	ck_assert_int_eq(rti_procfs_readlink(&fix.procfs, RTI_SYS, "link", out, sizeof(out)), 17);
	ck_assert_str_eq(out, "../somewhere/else");
	ck_assert_int_eq(rti_procfs_readlink(&fix.procfs, RTI_SYS, "link", small, sizeof(small)),
	                 5);
	ck_assert_str_eq(small, "../so");
	ck_assert_int_eq(rti_procfs_readlink(&fix.procfs, RTI_SYS, "other", small, sizeof(small)),
	                 -EACCES);
	ck_assert_str_eq(small, "");
}
END_TEST

START_TEST(buffer_that_grows_keeps_its_bytes)
{
	struct rti_buf b = { 0 };

	ck_assert_int_eq(rti_buf_reserve(&b, 3), 0);
	memcpy(b.data, "abc", 4);
	for (size_t len = 1; len < 1 << 20; len = len * 3 + 1) {
		ck_assert_int_eq(rti_buf_reserve(&b, len), 0);
		ck_assert_uint_gt(b.cap, len); /* plus the terminating NUL */
		b.data[len] = '\0';
	}
	ck_assert_mem_eq(b.data, "a", 1);

	rti_buf_free(&b);
	ck_assert_ptr_null(b.data);
	ck_assert_uint_eq(b.cap, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("procfs");
	TCase *reads = suite_case(suite, "reads"), *failures = suite_case(suite, "errors");
	TCase *cached = suite_case(suite, "cached"), *roots_case = suite_case(suite, "roots");
	TCase *names = suite_case(suite, "names");

	tcase_add_checked_fixture(reads, open_fake, close_fake);
	tcase_add_loop_test(reads, single_record_of_any_length_is_read_whole, 0,
	                    sizeof(lengths) / sizeof(lengths[0]));
	tcase_add_loop_test(reads, seq_file_of_any_length_is_read_whole, 0,
	                    sizeof(lengths) / sizeof(lengths[0]));
	tcase_add_loop_test(reads, file_of_any_format_after_short_reads_of_any_size_is_read_on, 0,
	                    sizeof(formats) / sizeof(formats[0]));
	tcase_add_loop_test(reads, file_with_all_lines_of_its_format_costs_one_read, 0,
	                    sizeof(formats) / sizeof(formats[0]));
	tcase_add_test(reads, line_without_newline_is_read_on);
	tcase_add_loop_test(reads, seq_file_after_short_reads_is_read_on, 0,
	                    sizeof(limits) / sizeof(limits[0]));
	tcase_add_test(reads, single_record_beyond_the_buffer_is_read_again_from_its_start);
	tcase_add_test(reads, file_without_end_fails_with_efbig);
	tcase_add_test(reads, buffer_that_grows_keeps_its_bytes);
	tcase_add_checked_fixture(failures, open_fake, close_fake);
	tcase_add_loop_test(failures, open_that_fails_returns_its_error, 0,
	                    sizeof(errors) / sizeof(errors[0]));
	tcase_add_loop_test(failures, read_that_fails_returns_its_error_and_closes, 0,
	                    sizeof(errors) / sizeof(errors[0]));
	tcase_add_checked_fixture(cached, open_fake, close_fake);
	tcase_add_test(cached, cached_file_read_again_is_opened_once);
	tcase_add_test(cached, file_that_leaves_half_a_page_costs_one_read_if_it_is_of_proc);
	tcase_add_test(cached, cached_file_that_cannot_seek_is_reopened);
	tcase_add_checked_fixture(roots_case, open_fake, close_fake);
	tcase_add_test(roots_case, missing_sys_directory_yields_enoent);
	tcase_add_test(roots_case, root_without_proc_fails_with_enoent);
	tcase_add_loop_test(roots_case, root_of_the_caller_is_opened_and_kept_as_prefix, 0,
	                    sizeof(roots) / sizeof(roots[0]));
	tcase_add_checked_fixture(names, open_fake, close_fake);
	tcase_add_test(names, list_of_directory_omits_dot_and_dot_dot);
	tcase_add_test(names, list_with_callback_that_stops_returns_its_result);
	tcase_add_test(names, list_that_fails_returns_the_error);
	tcase_add_test(names, readlink_into_small_buffer_is_cut_and_terminated);
	return suite_run(suite);
}
