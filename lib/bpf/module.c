/* SPDX-License-Identifier: MIT */
/* Finds the BPF plug-in. */
#include "bpf/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/library.h"
#include "os/origin.h"

/* Where the plug-in may lie, relative to the library: beside it in a build tree, or in an
 * installation. */
static const char *const beside_library[] = { RTI_BATCH_FILE, "librtrack/" RTI_BATCH_FILE };
static const char installed[] = RTI_PLUGINS "/" RTI_BATCH_FILE;

/* Returns 0; -ENOENT if there is none, or one of another release; or another -errno. */
static int open_plugin(struct rti_module *module, const char *path, const char *entry,
                       struct rti_module_version version)
{
	struct rti_module_version found;
	int err = rti_library_open(path, &module->handle);

	if (err < 0)
		return err;
	module->ops = rti_library_symbol(module->handle, entry);
	if (module->ops) {
		memcpy(&found, module->ops, sizeof(found));
		if (found.version == version.version && found.row_size == version.row_size)
			return 0;
	}
	rti_library_close(module->handle);
	return -ENOENT;
}

/* Open the file that was checked, and not what its path leads to by now. */
static int open_beside(struct rti_module *module, const char *name, struct rti_origin_file *file,
                       const char *entry, struct rti_module_version version)
{
	char path[RTI_DESCRIPTOR_PATH_MAX];
	int err = rti_origin_open(name, file);

	if (err < 0)
		return err;
	rti_origin_descriptor_path(file->dir, file->name, path);
	err = open_plugin(module, path, entry, version);
	close(file->dir);
	return err;
}

int rti_module_open(struct rti_module *module, const char *entry, struct rti_module_version version)
{
	struct rti_origin_file *file; /* too large for the stack of a small thread */
	int err = -ENOENT;

	file = malloc(sizeof(*file));
	if (!file)
		return -ENOMEM;
	for (size_t i = 0; err == -ENOENT && i < sizeof(beside_library) / sizeof(beside_library[0]);
	     i++)
		err = open_beside(module, beside_library[i], file, entry, version);
	free(file);
	return err == -ENOENT ? open_plugin(module, installed, entry, version) : err;
}

void rti_module_close(struct rti_module *module)
{
	rti_library_close(module->handle);
}
