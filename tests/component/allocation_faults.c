/* SPDX-License-Identifier: MIT */
#include "allocation_faults.h"

#include <errno.h>
#include <stdlib.h>

/* The linker calls these instead of the functions in their names. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t number, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
char *__real_strdup(const char *text);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t number, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);
char *__wrap_strdup(const char *text);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);

/* The caller and one thread of the library use it in turn. */
static struct {
	bool is_on, is_reached, is_lasting;
	unsigned at, calls;
	int blocks;
} plan;

void allocation_faults_begin(unsigned at, bool is_lasting)
{
	plan.at = at;
	plan.is_lasting = is_lasting;
	plan.calls = 0;
	plan.blocks = 0;
	plan.is_reached = false;
	plan.is_on = true;
}

void allocation_faults_pause(bool is_paused)
{
	plan.is_on = !is_paused;
}

bool allocation_faults_end(void)
{
	plan.is_on = false;
	return plan.is_reached;
}

int allocation_faults_blocks(void)
{
	return plan.blocks;
}

static bool fails(void)
{
	if (!plan.is_on || (++plan.calls != plan.at && !(plan.is_lasting && plan.is_reached)))
		return false;
	plan.is_reached = true;
	errno = ENOMEM;
	return true;
}

static void *count(void *block)
{
	plan.blocks += plan.is_on && block;
	return block;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : count(__real_malloc(size));
}

void *__wrap_calloc(size_t number, size_t size)
{
	return fails() ? NULL : count(__real_calloc(number, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	void *block;

	if (fails())
		return NULL;
	block = __real_realloc(p, size);
	return p ? block : count(block);
}

void __wrap_free(void *p)
{
	plan.blocks -= plan.is_on && p;
	__real_free(p);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : count(__real_strdup(text));
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
	int err = fails() ? ENOMEM : __real_posix_memalign(out, alignment, size);

	if (err == 0)
		count(*out);
	return err;
}
