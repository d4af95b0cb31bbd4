/* SPDX-License-Identifier: MIT */
/* Finds the BPF plug-in, which is opened on demand. */
#ifndef RTI_MODULE_H
#define RTI_MODULE_H

#include <stdint.h>

/* Written by module.c only. */
struct rti_module {
	void *handle;
	const void *ops; /* what it exports */
};

/* Every struct of functions that the plug-in exports begins with these. They must match, since the
 * file may be of another release. */
struct rti_module_version {
	uint32_t version, row_size;
};

/* Open the plug-in and find what it exports as `entry`. Returns 0; -ENOENT if there is no plug-in
 * of this release, or the program is linked statically; -EMFILE; -ENFILE; or -ENOMEM. */
int rti_module_open(struct rti_module *module, const char *entry,
                    struct rti_module_version version);

void rti_module_close(struct rti_module *module);

#endif
