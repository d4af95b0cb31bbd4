/* SPDX-License-Identifier: MIT */
/* A preloaded library that counts the allocations of a program. alloc_count() returns the count. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The functions of glibc by their internal names. A preloaded malloc() cannot look up the next one:
 * dlsym() itself allocates memory, and so would call the preloaded malloc(). */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

uint64_t alloc_count(void);

static atomic_uint_fast64_t count;

uint64_t alloc_count(void)
{
	return atomic_load(&count);
}

void *malloc(size_t size)
{
	atomic_fetch_add(&count, 1);
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	atomic_fetch_add(&count, 1);
	return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	atomic_fetch_add(&count, 1);
	return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	atomic_fetch_add(&count, 1);
	return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *memory = aligned_alloc(alignment, size);

	if (!memory)
		return ENOMEM;
	*out = memory;
	return 0;
}
