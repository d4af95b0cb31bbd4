/* SPDX-License-Identifier: MIT */
#include "fs_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ANSWERS_MAX 16

struct answer {
	const char *path;
	int err;
	uint64_t total, free, available;
	int gate; /* blocks until this has a byte; 0: does not block */
	uint32_t major, minor;
	uint64_t id, known_id;
	bool is_asked_by_thread;
};

struct fs_fixture fs;

/* The thread of the collector reads these. */
static struct {
	pthread_mutex_t lock;
	struct answer answer[ANSWERS_MAX];
	unsigned queries;
	pthread_t owner; /* that of the test */
	bool has_changed;
} answers = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct answer *find_answer(const char *path)
{
	for (size_t i = 0; i < ANSWERS_MAX && answers.answer[i].path; i++)
		if (strcmp(answers.answer[i].path, path) == 0)
			return &answers.answer[i];
	return NULL;
}

static struct answer *find_answer_below_root(const char *path)
{
	size_t len = strlen(fs.root.root);

	if (!fs.sampler.procfs.is_foreign)
		return find_answer(path);
	return strncmp(path, fs.root.root, len) == 0 ? find_answer(path + len) : NULL;
}

static int fake_space(const char *root, const char *path, struct rti_space *out)
{
	(void)root;
	struct answer answer = { .err = -ENXIO };
	struct answer *found;
	char byte;

	pthread_mutex_lock(&answers.lock);
	answers.queries++;
	found = find_answer_below_root(path);
	if (found) {
		found->known_id = out->id;
		found->is_asked_by_thread = !pthread_equal(pthread_self(), answers.owner);
		answer = *found;
	}
	pthread_mutex_unlock(&answers.lock);
	if (answer.gate && read(answer.gate, &byte, 1) != 1)
		return -EIO;
	*out = (struct rti_space){ answer.total, answer.free,  answer.available,
		                   answer.major, answer.minor, answer.id };
	return answer.err;
}

void fs_set_answer(const char *path, int err, uint64_t total, uint64_t free_bytes,
                   uint64_t available)
{
	struct answer *answer;
	size_t i = 0;

	pthread_mutex_lock(&answers.lock);
	answer = find_answer(path);
	while (!answer && answers.answer[i].path)
		i++;
	answer = answer ? answer : &answers.answer[i];
	*answer = (struct answer){ .path = path,
		                   .err = err,
		                   .total = total,
		                   .free = free_bytes,
		                   .available = available,
		                   .gate = answer->gate };
	pthread_mutex_unlock(&answers.lock);
}

void fs_set_device(const char *path, uint32_t major, uint32_t minor)
{
	pthread_mutex_lock(&answers.lock);
	find_answer(path)->major = major;
	find_answer(path)->minor = minor;
	pthread_mutex_unlock(&answers.lock);
}

void fs_set_id(const char *path, uint64_t id)
{
	pthread_mutex_lock(&answers.lock);
	find_answer(path)->id = id;
	pthread_mutex_unlock(&answers.lock);
}

uint64_t fs_get_known_id(const char *path)
{
	uint64_t id;

	pthread_mutex_lock(&answers.lock);
	id = find_answer(path)->known_id;
	pthread_mutex_unlock(&answers.lock);
	return id;
}

void fs_set_gate(const char *path, int gate)
{
	pthread_mutex_lock(&answers.lock);
	find_answer(path)->gate = gate;
	pthread_mutex_unlock(&answers.lock);
}

bool fs_is_asked_by_thread(const char *path)
{
	bool is_asked;

	pthread_mutex_lock(&answers.lock);
	is_asked = find_answer(path)->is_asked_by_thread;
	pthread_mutex_unlock(&answers.lock);
	return is_asked;
}

void fs_set_changed(bool has_changed)
{
	answers.has_changed = has_changed;
}

unsigned fs_count_queries(void)
{
	unsigned queries;

	pthread_mutex_lock(&answers.lock);
	queries = answers.queries;
	pthread_mutex_unlock(&answers.lock);
	return queries;
}

static const struct rti_procfs_ops *make_ops(void)
{
	static struct rti_procfs_ops ops;

	ops = rti_procfs_linux;
	ops.space = fake_space;
	return &ops;
}

void fs_open(uint32_t flags)
{
	ck_assert_int_eq(
	    sampler_open_with(&fs.sampler, &rti_sys_fs, fs.root.root, make_ops(), flags), 0);
}

static int open_own(int dirfd, const char *path, int flags)
{
	char below[256];

	if (strcmp(path, "self/mountinfo") != 0 && strcmp(path, "sys/kernel/osrelease") != 0)
		return rti_procfs_linux.open(dirfd, path, flags);
	snprintf(below, sizeof(below), "%s/proc/%s", fs.root.root, path);
	return rti_procfs_linux.open(AT_FDCWD, below, flags);
}

static bool has_own_changed(int fd)
{
	(void)fd;
	return answers.has_changed;
}

void fs_open_own(void)
{
	static struct rti_procfs_ops ops;

	ops = *make_ops();
	ops.open = open_own;
	ops.open_in_root = NULL;
	ops.has_changed = has_own_changed;
	ck_assert_int_eq(sampler_open_with(&fs.sampler, &rti_sys_fs, NULL, &ops, 0), 0);
}

void fs_set_up(void)
{
	memset(answers.answer, 0, sizeof(answers.answer));
	answers.queries = 0;
	answers.owner = pthread_self();
	answers.has_changed = true;
	fixture_new(&fs.root);
}

void fs_tear_down(void)
{
	sampler_close(&fs.sampler);
	fixture_free(&fs.root);
}

const struct rt_filesystem *fs_get_row(size_t at, size_t expected_count)
{
	size_t count;
	const struct rt_filesystem *row = sampler_rows(&fs.sampler, &count);

	ck_assert_uint_eq(count, expected_count);
	return count ? row + at : row;
}

void fs_expect_total(uint64_t total, uint64_t used, uint64_t free_bytes, uint64_t available,
                     uint64_t filesystems)
{
	ck_assert_uint_eq(fs.sampler.out.filesystem_total_bytes, total);
	ck_assert_uint_eq(fs.sampler.out.filesystem_used_bytes, used);
	ck_assert_uint_eq(fs.sampler.out.filesystem_free_bytes, free_bytes);
	ck_assert_uint_eq(fs.sampler.out.filesystem_available_bytes, available);
	ck_assert_uint_eq(fs.sampler.out.filesystems, filesystems);
}
