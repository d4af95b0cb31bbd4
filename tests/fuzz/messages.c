/* SPDX-License-Identifier: MIT */
#include "messages.h"

#include <sys/socket.h>

#include "os/kernel_abi.h"
#include "parse/process_event.h"
#include "parse/taskstats.h"

#define FEW_PIDS 24
#define NAMED_MAX 512
#define EVENT_BYTES 76 /* of Linux 6.18 */
#define ACCOUNT_BYTES 512
#define ACCOUNT_AT 28 /* after the headers of netlink, generic netlink and the attributes */

int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
                    struct timespec *timeout);

void (*messages_on_event)(uint32_t what, const uint32_t data[6]);

static struct {
	struct fuzz_input *in;
	int32_t named[NAMED_MAX];
	size_t named_count;
} from;

void messages_begin(struct fuzz_input *in)
{
	from.in = in;
	from.named_count = 0;
}

int32_t named_pid(size_t number)
{
	return number < from.named_count ? from.named[number] : 0;
}

int32_t take_pid(struct fuzz_input *in)
{
	uint8_t how = take_u8(in);
	int32_t pid = how < 240 ? how % FEW_PIDS + 1 : (int32_t)take_u64(in);

	if (from.named_count < NAMED_MAX)
		from.named[from.named_count++] = pid;
	return pid;
}

static size_t cut(struct fuzz_input *in, size_t len)
{
	return take_u8(in) < 250 ? len : take_below(in, (uint32_t)len + 1);
}

/* Bytes that an event of a kind needs at least. */
static size_t needed(uint32_t what)
{
	switch (what) {
	case RTI_EVENT_WHAT_FORK:
		return 16;
	case RTI_EVENT_WHAT_EXIT:
		return 12;
	default:
		return 8;
	}
}

static size_t make_event(struct fuzz_input *in, uint8_t *out, size_t room, bool is_sent)
{
	static const uint32_t kinds[] = { RTI_EVENT_WHAT_FORK, RTI_EVENT_WHAT_FORK,
		                          RTI_EVENT_WHAT_EXIT, RTI_EVENT_WHAT_EXEC,
		                          RTI_EVENT_WHAT_COMM, RTI_EVENT_WHAT_TRACE,
		                          RTI_EVENT_WHAT_NONE, 0x40 };
	uint32_t what = kinds[take_below(in, 8)], data[6];
	uint64_t at_ns = take_u64(in);
	size_t len;

	for (int i = 0; i < 6; i++)
		data[i] = (uint32_t)take_pid(in);
	if (take_u8(in) % 4) { /* of a process, and not of a thread of it */
		data[0] = data[1];
		data[2] = data[3];
	}
	if (what == RTI_EVENT_WHAT_COMM)
		take_bytes(in, &data[2], 16);
	memset(out, 0, room);
	memcpy(out + RTI_EVENT_AT_WHAT, &what, sizeof(what));
	memcpy(out + 44, &at_ns, sizeof(at_ns));
	memcpy(out + RTI_EVENT_AT_DATA, data, sizeof(data));
	len = cut(in, room < EVENT_BYTES ? room : EVENT_BYTES);
	if (is_sent && len >= RTI_EVENT_AT_DATA + needed(what) && messages_on_event)
		messages_on_event(what, data);
	return len;
}

static void put_u32(uint8_t *out, size_t at, uint32_t value)
{
	memcpy(out + at, &value, sizeof(value));
}

static void put_u64(uint8_t *out, size_t at, uint64_t value)
{
	memcpy(out + at, &value, sizeof(value));
}

static void fill_account(struct fuzz_input *in, uint8_t *stats)
{
	stats[0] = take_u8(in) < 250 ? 14 : take_u8(in); /* the version */
	stats[RTI_TASKSTATS_AT_FLAG] = take_u8(in) % 2 ? RTI_TASKSTATS_LAST : 0;
	put_u64(stats, RTI_TASKSTATS_AT_CPU_NS, take_u64(in));
	take_bytes(in, stats + RTI_TASKSTATS_AT_COMM, 8);
	put_u32(stats, RTI_TASKSTATS_AT_PID, (uint32_t)take_pid(in));
	put_u64(stats, RTI_TASKSTATS_AT_USER_US, take_u64(in));
	put_u64(stats, RTI_TASKSTATS_AT_SYSTEM_US, take_u64(in));
	put_u64(stats, RTI_TASKSTATS_AT_PEAK_KIB, take_u64(in));
	put_u64(stats, RTI_TASKSTATS_AT_READ_BYTES, take_u64(in));
	put_u64(stats, RTI_TASKSTATS_AT_WRITE_BYTES, take_u64(in));
	put_u32(stats, RTI_TASKSTATS_AT_TGID, (uint32_t)take_pid(in));
	put_u64(stats, RTI_TASKSTATS_AT_LIFETIME_US, take_u64(in));
}

/* A message of TASKSTATS: one attribute that has the pid and the account in it. */
static size_t make_account(struct fuzz_input *in, uint8_t *out, size_t room)
{
	const uint16_t inner[] = {
		8, 1, 0, 0, 4 + RTI_TASKSTATS_BYTES_MIN, RTI_TASKSTATS_TYPE_STATS
	};
	const uint16_t outer[] = { 4 + sizeof(inner) + RTI_TASKSTATS_BYTES_MIN,
		                   RTI_TASKSTATS_TYPE_AGGR_PID };
	size_t len = 20 + sizeof(outer) + sizeof(inner) + RTI_TASKSTATS_BYTES_MIN;

	if (room < ACCOUNT_BYTES)
		return 0;
	memset(out, 0, ACCOUNT_BYTES);
	put_u32(out, 0, (uint32_t)len);
	out[4] = 30; /* a family */
	out[16] = RTI_TASKSTATS_CMD_NEW;
	memcpy(out + 20, outer, sizeof(outer));
	memcpy(out + 24, inner, sizeof(inner));
	fill_account(in, out + 24 + sizeof(inner));
	if (take_u8(in) >= 250) /* any header */
		take_bytes(in, out, 36);
	return cut(in, len);
}

/* The kernel is port 0, and other processes may write, too. */
static unsigned fill(struct fuzz_input *in, int fd, struct mmsghdr *message)
{
	struct iovec *part = message->msg_hdr.msg_iov;
	struct rti_sockaddr_nl *sender = message->msg_hdr.msg_name;
	bool is_kernel = take_u8(in) < 250;

	memset(sender, 0, sizeof(*sender));
	sender->nl_pid = is_kernel ? 0 : 77;
	if (fd == MESSAGES_ACCOUNTS_FD)
		return (unsigned)make_account(in, part->iov_base, part->iov_len);
	return (unsigned)make_event(in, part->iov_base, part->iov_len,
	                            is_kernel && fd == MESSAGES_EVENTS_FD);
}

int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
                    struct timespec *timeout)
{
	static const int errors[] = { EINTR, ENOBUFS, EAGAIN, ENOMEM, EAGAIN, EAGAIN, EBADF };
	uint8_t how = from.in && !has_ended(from.in) ? take_u8(from.in) : 0;
	unsigned n = how % 4 + 1;

	(void)flags;
	(void)timeout;
	if (!from.in || has_ended(from.in) || how >= 249) {
		errno = how >= 249 ? errors[how - 249] : EAGAIN;
		return -1;
	}
	n = n < count ? n : count;
	for (unsigned i = 0; i < n; i++)
		messages[i].msg_len = fill(from.in, fd, &messages[i]);
	return (int)n;
}
