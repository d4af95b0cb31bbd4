/* SPDX-License-Identifier: MIT */
/* Opens a shared library at run time, by name. E.g.: that of a driver, which few systems have. */
#include "os/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

/* A reference to dlopen() would make the linker warn of every program that is linked with -static,
 * although such a program does not come here. So look it up by name. */
int rti_module_open(const char *name, void **out)
{
	void *found = getauxval(AT_BASE) ? dlsym(RTLD_DEFAULT, "dlopen") : NULL;
	void *(*open)(const char *path, int flags);

	memcpy(&open, &found, sizeof(open));
	*out = found ? open(name, RTLD_NOW | RTLD_LOCAL) : NULL;
	return *out ? 0 : -ENOENT;
}

/* ISO C has no conversion from a pointer to data to one to a function. POSIX has both in the same
 * form. */
void rti_module_function(void *module, const char *name, void *function)
{
	void *found = dlsym(module, name);

	memcpy(function, &found, sizeof(found));
}

void rti_module_close(void *module)
{
	if (module)
		dlclose(module);
}
