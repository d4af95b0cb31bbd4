/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Sends the command line and the working directory of a process that executes a program.
 *
 * For BPF programs. `settings`, `shared` and `ring` must be defined. */
#ifndef RTI_ACCOUNT_TEXT_H
#define RTI_ACCOUNT_TEXT_H

#include "bpf/kernel.h"

#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "account.h"

#define PATH_AREA_MAX (RTI_ACCOUNT_COMMAND_MAX + RTI_ACCOUNT_CWD_MAX)
#define PATH_PART_MAX RTI_ACCOUNT_PART_MAX
#include "bpf/path_walk.h"

/* Where a text is put together: the stack is too small for it. A process that is interrupted may
 * come back on another CPU, so a slot is taken as long as it is needed. */
struct text_slot {
	__u32 is_taken;
	__u32 reserved;
	struct rti_account_text text;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* the plug-in sets another number */
	__type(key, __u32);
	__type(value, struct text_slot);
} text_slots SEC(".maps");

struct slot_search {
	__u32 first, found; /* found: number plus 1; 0: none */
};

static long take_slot(__u32 i, struct slot_search *search)
{
	__u32 key = (search->first + i) & (settings.text_slots - 1);
	struct text_slot *slot = bpf_map_lookup_elem(&text_slots, &key);

	if (!slot || __sync_val_compare_and_swap(&slot->is_taken, 0, 1) != 0)
		return 0;
	search->found = key + 1;
	return 1;
}

/* What is not there is not waited for: the memory of the arguments was written just now. Without
 * the NUL at the end. */
static void read_command(struct rti_account_text *text, const struct mm_struct *mm)
{
	__u64 start = mm ? mm->arg_start : 0, end = mm ? mm->arg_end : 0;
	__u64 length = end > start ? end - start - 1 : 0;

	if (length > RTI_ACCOUNT_COMMAND_MAX) {
		length = RTI_ACCOUNT_COMMAND_MAX;
		text->flags |= RTI_TEXT_CUT;
	}
	if (bpf_probe_read_user(text->bytes, (__u32)length, (const void *)start) < 0)
		length = 0;
	text->command_bytes = (__u32)length;
}

/* Behind the command line. A path of RTI_ACCOUNT_CWD_MAX bytes or more is not known: the kernel
 * shows none either. */
static void read_cwd(struct rti_account_text *text, struct task_struct *task)
{
	struct vfsmount *mount = BPF_CORE_READ(task, fs, pwd.mnt);
	struct dentry *dentry = BPF_CORE_READ(task, fs, pwd.dentry);
	struct path_walk walk = { dentry, mount, text->bytes, text->command_bytes, false };

	text->cwd_bytes = 0;
	/* Another process may have the same fs_struct and change its directory. */
	if (!dentry || mount != BPF_CORE_READ(task, fs, pwd.mnt))
		return;
	if (is_deleted(&walk))
		text->flags |= RTI_TEXT_CWD_DELETED;
	write_path(&walk);
	if (!walk.is_complete || walk.used - text->command_bytes >= RTI_ACCOUNT_CWD_MAX)
		return;
	text->flags |= RTI_TEXT_HAS_CWD;
	text->cwd_bytes = walk.used - text->command_bytes;
}

static bool send_text(struct rti_account_text *text)
{
	__u32 bytes = text->command_bytes + text->cwd_bytes;

	if (bytes > RTI_ACCOUNT_TEXT_BYTES ||
	    bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > settings.text_bytes)
		return false;
	bytes += __builtin_offsetof(struct rti_account_text, bytes);
	return bpf_ringbuf_output(&ring, text, bytes, BPF_RB_NO_WAKEUP) == 0;
}

/* Returns the number of the text, or 0 if there is no room for it. */
static __u32 take_text(struct task_struct *task)
{
	struct slot_search search = { .first = bpf_get_smp_processor_id() };
	struct text_slot *slot;
	__u32 key, number;

	bpf_loop(settings.text_slots, take_slot, &search, 0);
	key = search.found - 1;
	slot = search.found ? bpf_map_lookup_elem(&text_slots, &key) : NULL;
	if (!slot)
		return 0;
	number = __sync_fetch_and_add(&shared.texts, 1) + 1;
	slot->text.kind = RTI_ACCOUNT_TEXT;
	slot->text.number = number;
	slot->text.flags = 0;
	read_command(&slot->text, task->mm);
	read_cwd(&slot->text, task);
	if (!send_text(&slot->text))
		number = 0;
	__sync_val_compare_and_swap(&slot->is_taken, 1, 0);
	return number;
}

/* A process that only forks has the text of its parent. */
static void note_text(struct rti_account_row *row, struct task_struct *task)
{
	row->exec_id = task->self_exec_id;
	row->text = take_text(task);
	if (row->text)
		__sync_fetch_and_and(&row->flags, ~RTI_ROW_LACKS_TEXT);
	else
		__sync_fetch_and_or(&row->flags, RTI_ROW_LACKS_TEXT);
}

static void inherit_text(struct rti_account_row *row, const struct rti_account_row *of_parent,
                         const struct task_struct *child)
{
	row->exec_id = child->self_exec_id;
	row->text = of_parent ? of_parent->text : 0;
	if (of_parent)
		row->flags |= of_parent->flags & RTI_ROW_LACKS_TEXT;
}

#endif
