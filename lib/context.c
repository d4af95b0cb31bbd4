/* SPDX-License-Identifier: MIT */
/* Whether the pids of a proc file system are those that system calls of the caller know. */
#include "collector.h"

#include "path.h"

void rti_context_env(const struct rti_source *source, struct rti_env *env)
{
	char self[16];
	int is_foreign = source->is_foreign;

	rti_env_init(env, 0);
	/* In a pid namespace that kept an outer /proc, we are somebody else there. */
	if (rti_source_readlink(source, RTI_PROC, "self", self, sizeof(self)) > 0 &&
	    rti_path_number(self) != env->getpid())
		is_foreign = 1;
	rti_env_init(env, is_foreign);
}
