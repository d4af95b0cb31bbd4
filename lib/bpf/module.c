/* SPDX-License-Identifier: MIT */
/* Finds the BPF plug-in. */
#include "bpf/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/built_in.h"
#include "os/library.h"
#include "os/origin.h"

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

int rti_module_open(struct rti_module *module, const char *entry, struct rti_module_version version)
{
	const struct rti_built_in_module *in = rti_built_in.modules;
	struct rti_origin_file *file;
	char path[RTI_DESCRIPTOR_PATH_MAX];
	int err;

	while (in && in->entry && strcmp(in->entry, entry) != 0)
		in++;
	if (in && in->entry) {
		*module = (struct rti_module){ .ops = in->ops };
		return 0;
	}
	file = malloc(sizeof(*file)); /* too large for a small stack */
	if (!file)
		return -ENOMEM;
	err = rti_origin_open(RTI_BATCH_FILE, file);
	if (err == 0) {
		/* The file that was checked, and not what its path leads to by now. */
		rti_origin_descriptor_path(file->dir, file->name, path);
		err = open_plugin(module, path, entry, version);
		close(file->dir);
	}
	free(file);
	return err == -EPERM ? -ENOENT : err;
}

void rti_module_close(struct rti_module *module)
{
	rti_library_close(module->handle);
}
