/* SPDX-License-Identifier: MIT */
/* Finding what is installed along with us. */
#include "os/origin.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

void rti_origin_path(const char *name, char out[RTI_ORIGIN_PATH_MAX])
{
	size_t dir_len, name_len = strlen(name);
	Dl_info us;

	out[0] = '\0';
	/* The file that this code is in may be the program, whose name whoever starts it
	 * chooses: not where that gains rights. A relative name would find what lies in whatever
	 * directory the host is in by now. */
	if (getauxval(AT_SECURE) || !dladdr((void *)(uintptr_t)rti_origin_path, &us) ||
	    !us.dli_fname || us.dli_fname[0] != '/')
		return;
	dir_len = (size_t)(strrchr(us.dli_fname, '/') - us.dli_fname) + 1;
	if (dir_len + name_len >= RTI_ORIGIN_PATH_MAX)
		return;
	memcpy(out, us.dli_fname, dir_len);
	memcpy(out + dir_len, name, name_len + 1);
}
