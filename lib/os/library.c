/* SPDX-License-Identifier: MIT */
/* Opens a shared library at run time, by name. E.g.: that of a driver, which few systems have. */
#include "os/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

/* A reference to dlopen() would make the linker warn of every program that is linked with -static,
 * although such a program does not come here. So look it up by name. */
int rti_library_open(const char *name, void **out)
{
	void *found = getauxval(AT_BASE) ? dlsym(RTLD_DEFAULT, "dlopen") : NULL;
	void *(*open)(const char *path, int flags);

	memcpy(&open, &found, sizeof(open));
	*out = found ? open(name, RTLD_NOW | RTLD_LOCAL) : NULL;
	return *out ? 0 : -ENOENT;
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
