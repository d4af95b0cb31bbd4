/* SPDX-License-Identifier: MIT */
/* Preloaded into a program, it makes realloc(3) fail for more than SHORT_MEMORY_BYTES, or the call
 * with the number SHORT_MEMORY_AT alone. */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

void *realloc(void *old, size_t size)
{
	static void *(*next)(void *, size_t);
	static unsigned long calls;
	const char *limit = getenv("SHORT_MEMORY_BYTES"), *at = getenv("SHORT_MEMORY_AT");

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "realloc");
	calls++;
	if ((limit && size > strtoul(limit, NULL, 10)) || (at && calls == strtoul(at, NULL, 10))) {
		errno = ENOMEM;
		return NULL;
	}
	return next(old, size);
}
