/* SPDX-License-Identifier: MIT */
/* Opens a shared library at run time, by name. E.g.: the library of a driver, which few systems
 * have. */
#include "os/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define PROBE_BYTES ((size_t)4 << 20) /* more than the plug-in takes */

/* dlopen() gives no errno. So look whether anything can be opened and mapped at the moment. */
static int explain_failure(void)
{
	int fd = open("/", O_PATH | O_CLOEXEC);
	void *memory;

	if (fd < 0)
		return -errno;
	close(fd);
	memory =
	    mmap(NULL, PROBE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	munmap(memory, PROBE_BYTES);
	return -ENOENT;
}

/* A reference to dlopen() would make the linker warn of every program that is linked with -static,
 * although such a program does not come here. So look it up by name. */
int rti_library_open(const char *name, void **out)
{
	void *found = getauxval(AT_BASE) ? dlsym(RTLD_DEFAULT, "dlopen") : NULL;
	void *(*open_library)(const char *path, int flags);

	*out = NULL;
	if (!found)
		return -ENOENT;
	memcpy(&open_library, &found, sizeof(open_library));
	*out = open_library(name, RTLD_NOW | RTLD_LOCAL);
	return *out ? 0 : explain_failure();
}

const void *rti_library_symbol(void *library, const char *name)
{
	return dlsym(library, name);
}

/* ISO C has no conversion from a pointer to data to one to a function. POSIX has both in the same
 * form. */
void rti_library_function(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	memcpy(function, &found, sizeof(found));
}

void rti_library_close(void *library)
{
	if (library)
		dlclose(library);
}
