/* SPDX-License-Identifier: MIT */
/* Preloaded into rtrack, it makes the list of processes lack some: rt_command_processes() returns
 * what SHORT_LIST_ERROR says, after it has written the rows that there are. */
#include <dlfcn.h>
#include <stdlib.h>

#include <rtrack/rtrack.h>

int rt_command_processes(struct rt_command *c, struct rt_command_process *array,
                         size_t element_size, size_t *count)
{
	int (*next)(struct rt_command *, struct rt_command_process *, size_t, size_t *);
	int err;

	*(void **)&next = dlsym(RTLD_NEXT, "rt_command_processes");
	err = next(c, array, element_size, count);
	return err < 0 ? err : -atoi(getenv("SHORT_LIST_ERROR"));
}
