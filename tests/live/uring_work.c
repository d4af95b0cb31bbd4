/* SPDX-License-Identifier: MIT */
/* Reads of /dev/zero, one after another, which io_uring hands to a thread of the kernel. */
#include "uring_work.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define READ_BYTES (1 << 20)
#define NS_PER_S UINT64_C(1000000000)

struct uring {
	int fd;
	struct io_uring_params params;
	unsigned char *submitted, *completed; /* the queues */
	struct io_uring_sqe *entry;
};

static int set_up(struct io_uring_params *params)
{
	*params = (struct io_uring_params){ 0 };
	return (int)syscall(SYS_io_uring_setup, 1, params);
}

bool has_uring(void)
{
	struct io_uring_params params;
	int fd = set_up(&params);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void *map(const struct uring *ring, size_t bytes, off_t what)
{
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, what);

	if (mapped == MAP_FAILED)
		_exit(81);
	return mapped;
}

static void open_ring(struct uring *ring)
{
	const struct io_uring_params *p = &ring->params;

	ring->fd = set_up(&ring->params);
	if (ring->fd < 0)
		_exit(80);
	ring->submitted = map(ring, p->sq_off.array + sizeof(uint32_t), IORING_OFF_SQ_RING);
	ring->completed =
	    map(ring, p->cq_off.cqes + 2 * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
	ring->entry = map(ring, sizeof(*ring->entry), IORING_OFF_SQES);
}

static uint32_t *number_at(unsigned char *queue, uint32_t offset)
{
	return (uint32_t *)(void *)(queue + offset);
}

static void advance(uint32_t *number)
{
	__atomic_fetch_add(number, 1, __ATOMIC_RELEASE);
}

static void read_once(struct uring *ring, int fd, void *buffer)
{
	*ring->entry = (struct io_uring_sqe){
		.opcode = IORING_OP_READ,
		.flags = IOSQE_ASYNC,
		.fd = fd,
		.addr = (uintptr_t)buffer,
		.len = READ_BYTES,
	};
	*number_at(ring->submitted, ring->params.sq_off.array) = 0;
	advance(number_at(ring->submitted, ring->params.sq_off.tail));
	if (syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		_exit(82);
	advance(number_at(ring->completed, ring->params.cq_off.head));
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t used_by_others_ns(void)
{
	uint64_t own_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - own_ns;
}

void work_by_uring(uint64_t cpu_ns)
{
	uint64_t end_ns = used_by_others_ns() + cpu_ns;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	void *buffer = malloc(READ_BYTES);
	struct uring ring;

	if (fd < 0 || !buffer)
		_exit(83);
	open_ring(&ring);
	while (used_by_others_ns() < end_ns)
		read_once(&ring, fd, buffer);
	close(ring.fd);
	free(buffer);
	close(fd);
}
