/* SPDX-License-Identifier: MIT */
/* The ring of traced calls. Another process of the same user may write to its head: both ends stay
 * within the ring. As long as none has, records arrive in order, and each is read or lost. */
#include "input.h"

#include <errno.h>

#include "os/protocol/trace_ring.h"

#define CAPACITY_MAX 16
#define ROOM_MAX 24
#define STEPS_MAX 200
#define CANARY 0xa5

struct memory {
	_Alignas(64) char head[RTI_TRACE_RING_HEAD_BYTES];
	struct rti_trace_record records[CAPACITY_MAX + 1]; /* one more than any ring has */
};

static struct memory memory;
static struct rti_trace_ring *ring = (void *)&memory;
static struct rti_trace_end reader, writer;
static bool is_honest;
static uint64_t made, next_read; /* numbers of records */

static void begin(struct fuzz_input *in)
{
	size_t records = 1 + take_below(in, CAPACITY_MAX);
	size_t bytes = RTI_TRACE_RING_HEAD_BYTES + records * sizeof(struct rti_trace_record);

	memset(memory.head, 0, sizeof(memory.head));
	memset(memory.records, CANARY, sizeof(memory.records));
	bytes += take_below(in, sizeof(struct rti_trace_record)); /* as a memory of whole pages */
	require(rti_trace_end_init(&reader, &memory, bytes));
	require(rti_trace_end_init(&writer, &memory, bytes));
	require(reader.capacity == records && writer.capacity == records);
	is_honest = true;
	made = next_read = 0;
}

static void check_canary(void)
{
	const uint8_t *at = (const uint8_t *)&memory.records[writer.capacity];
	const uint8_t *end = (const uint8_t *)&memory.records[CAPACITY_MAX + 1];

	for (; at < end; at++)
		require(*at == CANARY);
}

static void put(void)
{
	const struct rti_trace_record record = { .entry_ns = made };

	if (is_honest && rti_trace_ring_is_full(&writer)) {
		uint64_t lost = ring->lost;

		require(!rti_trace_ring_put(&writer, &record) && ring->lost == lost + 1);
		return;
	}
	rti_trace_ring_put(&writer, &record);
	made++;
}

static void take(struct fuzz_input *in)
{
	struct rti_trace_record records[ROOM_MAX];
	int room = (int)take_below(in, ROOM_MAX + 1);
	int count = rti_trace_ring_take(&reader, records, room);

	require(count <= room && count <= (int)reader.capacity);
	require(count >= 0 || (count == -EPROTO && !is_honest));
	if (!is_honest)
		return;
	for (int i = 0; i < count; i++)
		require(records[i].entry_ns == next_read++);
	require(rti_trace_ring_is_empty(&reader) == (next_read == made));
}

/* What another process writes: anything, or something near what is there. */
static uint64_t take_position(struct fuzz_input *in, uint64_t now)
{
	uint64_t near = take_below(in, 2 * CAPACITY_MAX + 2);

	return near > 2 * CAPACITY_MAX ? take_u64(in) : now + near - CAPACITY_MAX;
}

static void forge(struct fuzz_input *in)
{
	is_honest = false;
	switch (take_below(in, 4)) {
	case 0:
		ring->read = take_position(in, ring->read);
		break;
	case 1:
		ring->written = take_position(in, ring->written);
		break;
	case 2:
		ring->lost = take_u64(in);
		break;
	default:
		take_bytes(in, memory.head, sizeof(*ring));
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input input = fuzz_input(data, len), *in = &input;

	begin(in);
	for (int steps = 0; steps < STEPS_MAX && !has_ended(in); steps++) {
		uint8_t how = take_u8(in);

		if (how < 120)
			put();
		else if (how < 240)
			take(in);
		else if (how < 248)
			ring->is_asleep = 1;
		else
			forge(in);
	}
	check_canary();
	return 0;
}
