/* SPDX-License-Identifier: MIT */
/* A process tree that BPF programs in the kernel watch: opens the plug-in. */
#include "bpf/watch/tree_watch.h"

#include <errno.h>
#include <stdlib.h>

#include "bpf/module.h"

struct rti_tree_watch {
	struct rti_module module;
	const struct rti_watch_ops *ops;
	void *state;
};

int rti_watch_open(struct rti_tree_watch **out)
{
	const struct rti_module_version version = { RTI_WATCH_PLUGIN,
		                                    sizeof(struct rti_watch_change) };
	struct rti_tree_watch *watch = calloc(1, sizeof(*watch));
	int err;

	*out = NULL;
	if (!watch)
		return -ENOMEM;
	err = rti_module_open(&watch->module, RTI_WATCH_ENTRY, version);
	if (err == 0) {
		watch->ops = watch->module.ops;
		err = watch->ops->open(&watch->state);
		if (err < 0)
			rti_module_close(&watch->module);
	}
	if (err < 0)
		free(watch);
	else
		*out = watch;
	return err;
}

void rti_watch_want(struct rti_tree_watch *watch, int32_t pid)
{
	watch->ops->want(watch->state, pid);
}

int rti_watch_search(struct rti_tree_watch *watch, uint64_t before_ns)
{
	return watch->ops->search(watch->state, before_ns);
}

bool rti_watch_is_marked(const struct rti_tree_watch *watch, int32_t pid)
{
	return watch->ops->is_marked(watch->state, pid);
}

int rti_watch_take(struct rti_tree_watch *watch, struct rti_watch_change *changes, size_t room,
                   bool *has_more)
{
	return watch->ops->take(watch->state, changes, room, has_more);
}

void rti_watch_count(const struct rti_tree_watch *watch, struct rti_watch_counts *out)
{
	watch->ops->count(watch->state, out);
}

void rti_watch_close(struct rti_tree_watch *watch)
{
	if (!watch)
		return;
	watch->ops->close(watch->state);
	rti_module_close(&watch->module);
	free(watch);
}
