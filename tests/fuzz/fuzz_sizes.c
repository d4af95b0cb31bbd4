/* SPDX-License-Identifier: MIT */
/* Option structs and samples of any size, with any content. */
#include "input.h"

#include <stddef.h>

#include "api/struct_size.h"
#include "api/tracker.h"

#define LARGEST_STRUCT 4096 /* larger ones are refused */

/* No file can be opened, so that no tracker is made. */
static int open_nothing(int dirfd, const char *path, int flags)
{
	(void)dirfd;
	(void)path;
	(void)flags;
	return -ENOENT;
}

static int access_nothing(int dirfd, const char *path)
{
	(void)dirfd;
	(void)path;
	return -ENOENT;
}

static int close_nothing(int fd)
{
	(void)fd;
	abort();
}

static const struct rti_procfs_ops no_files = {
	.open = open_nothing,
	.access = access_nothing,
	.close = close_nothing,
};

/* A block with a size of its own as the first field, and chance after it. It is no longer than what
 * may be read of it. Its length goes to *len. */
static uint8_t *make_block(struct fuzz_input *in, size_t *len)
{
	uint32_t size =
	    take_u8(in) % 8 ? take_below(in, LARGEST_STRUCT + 1) : (uint32_t)take_u64(in);
	bool is_zero = take_u8(in) % 2;
	uint8_t *block;

	*len = size < sizeof(size) || size > LARGEST_STRUCT ? sizeof(size) : size;
	block = calloc(1, *len);
	require(block != NULL);
	for (size_t at = sizeof(size); at < *len && !is_zero && !has_ended(in); at += 16)
		take_bytes(in, block + at, *len - at < 16 ? *len - at : 16);
	memcpy(block, &size, sizeof(size));
	return block;
}

static void set_pointer(uint8_t *block, size_t len, size_t offset, const void *pointer)
{
	if (offset < len)
		memset(block + offset, 0,
		       len - offset < sizeof(pointer) ? len - offset : sizeof(pointer));
	if (offset + sizeof(pointer) <= len)
		memcpy(block + offset, &pointer, sizeof(pointer));
}

static void try_trackers(struct fuzz_input *in)
{
	static const char *const roots[] = { NULL, "", "/", "/nowhere" };
	uint32_t message_size = take_below(in, 200);
	char *message = malloc(message_size ? message_size : 1);
	struct rt_tracker *tracker = (void *)message; /* anything but NULL */
	size_t len;
	uint8_t *opts = make_block(in, &len);
	int err;

	require(message != NULL);
	memset(message, 'x', message_size);
	set_pointer(opts, len, offsetof(struct rt_opts, root), roots[take_below(in, 4)]);
	set_pointer(opts, len, offsetof(struct rt_opts, message), message);
	if (offsetof(struct rt_opts, message_size) + sizeof(message_size) <= len)
		memcpy(opts + offsetof(struct rt_opts, message_size), &message_size,
		       sizeof(message_size));
	if (take_u8(in) % 2)
		err = rti_tracker_new(&tracker, (int32_t)take_u64(in), (void *)opts, &no_files);
	else
		err = rti_cgroup_tracker_new(&tracker, "/a", (void *)opts, &no_files);
	require(err == -EINVAL || err == -E2BIG || err == -ENOENT);
	require(tracker == NULL);
	if (message_size && len >= RTI_END_OF(rt_opts, message))
		require_string(message, message_size);
	free(opts);
	free(message);
}

/* There is no program to start. */
static void try_command(struct fuzz_input *in)
{
	static const char *const no_program[] = { NULL };
	static const size_t pointers[] = {
		offsetof(struct rt_command_opts, argv), offsetof(struct rt_command_opts, envp),
		offsetof(struct rt_command_opts, cwd),  offsetof(struct rt_command_opts, tracker),
		offsetof(struct rt_command_opts, fds),  offsetof(struct rt_command_opts, message),
	};
	struct rt_command *command = (void *)in;
	size_t len;
	uint8_t *opts = make_block(in, &len);
	int err;

	for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++)
		set_pointer(opts, len, pointers[i], NULL);
	if (take_u8(in) % 2)
		set_pointer(opts, len, offsetof(struct rt_command_opts, argv), no_program);
	err = rt_command_start(&command, (void *)opts);
	require(err == -EINVAL || err == -E2BIG || err == -EFAULT);
	require(command == NULL);
	free(opts);
}

static bool are_disjoint(uint64_t a, uint64_t b, uint64_t c)
{
	return !(a & b) && !(a & c) && !(b & c);
}

static void try_diff(struct fuzz_input *in)
{
	size_t from_len, to_len, size = take_below(in, LARGEST_STRUCT + 2);
	uint8_t *from = make_block(in, &from_len), *to = make_block(in, &to_len);
	struct rt_delta *delta = malloc(size ? size : 1);
	int err;

	require(delta != NULL);
	err = rt_diff((void *)from, (void *)to, delta, size);
	require(err <= 0);
	if (err == 0 && size >= RTI_END_OF(rt_delta, estimated))
		require(are_disjoint(delta->valid, delta->partial, delta->estimated));
	free(from);
	free(to);
	free(delta);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = fuzz_input(data, len);

	switch (take_below(&in, 4)) {
	case 0:
		try_command(&in);
		break;
	case 1:
		try_diff(&in);
		break;
	default:
		try_trackers(&in);
		break;
	}
	return 0;
}
