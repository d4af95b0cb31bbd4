/* SPDX-License-Identifier: MIT */
/* The public calls that hand out the list of processes. */
#include <errno.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "api/struct_size.h"
#include "command/handle.h"

static int copy_list_out(const struct rt_command *c, struct rt_command_process *array,
                         size_t element_size, size_t *count)
{
	const struct rti_process_list *list = &c->process_list;
	size_t room = *count;

	if (!c->is_over)
		return -ENODATA;
	*count = list->count;
	for (size_t i = 0; i < list->count && i < room; i++)
		rti_struct_copy_out((char *)array + i * element_size, element_size,
		                    &list->rows[i].shown, sizeof(list->rows[i].shown));
	if (list->is_short)
		return -ENOMEM;
	return list->is_lossy ? -ENOBUFS : 0;
}

int rt_command_processes(struct rt_command *c, struct rt_command_process *array,
                         size_t element_size, size_t *count)
{
	int err;

	if (!c || !count || (!array && *count))
		return -EFAULT;
	if (rti_struct_check_size(element_size, RTI_COMMAND_PROCESS_V1) < 0)
		return -EINVAL;
	if (!c->has_list)
		return -EOPNOTSUPP;
	err = rti_tracker_take(c->tracker);
	if (err < 0)
		return err;
	err = copy_list_out(c, array, element_size, count);
	rti_lock_release(&c->lock);
	return err;
}

static int copy_text_out(const struct rt_command *c, size_t row, uint32_t text, char *buffer,
                         size_t *length)
{
	size_t room = *length;
	const char *at;

	if (!c->is_over)
		return -ENODATA;
	if (row >= c->process_list.count)
		return -EINVAL;
	at = rti_process_list_text(&c->process_list, row, text, length);
	if (at && room)
		memcpy(buffer, at, *length < room ? *length : room);
	return 0;
}

int rt_command_process_text(struct rt_command *c, size_t row, uint32_t text, char *buffer,
                            size_t *length)
{
	int err;

	if (!c || !length || (!buffer && *length))
		return -EFAULT;
	if (text != RT_TEXT_COMMAND_LINE && text != RT_TEXT_CWD)
		return -EINVAL;
	if (!c->has_list)
		return -EOPNOTSUPP;
	err = rti_tracker_take(c->tracker);
	if (err < 0)
		return err;
	err = copy_text_out(c, row, text, buffer, length);
	rti_lock_release(&c->lock);
	return err;
}
