/* SPDX-License-Identifier: MIT */
/* Paths relative to the file that this code was loaded from, like $ORIGIN of ld.so(8). */
#include "os/origin.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

void rti_origin_path(const char *name, char out[RTI_ORIGIN_PATH_MAX])
{
	size_t dir_len, name_len = strlen(name);
	Dl_info self;

	out[0] = '\0';
	/* If this code is linked into the program, the file name is argv[0], which the program's
	 * caller chooses. So do not trust it in a set-user-ID program. Do not use a relative name
	 * either: the host may have changed its directory since. */
	if (getauxval(AT_SECURE) || !dladdr((void *)(uintptr_t)rti_origin_path, &self) ||
	    !self.dli_fname || self.dli_fname[0] != '/')
		return;
	dir_len = (size_t)(strrchr(self.dli_fname, '/') - self.dli_fname) + 1;
	if (dir_len + name_len >= RTI_ORIGIN_PATH_MAX)
		return;
	memcpy(out, self.dli_fname, dir_len);
	memcpy(out + dir_len, name, name_len + 1);
}
