/* SPDX-License-Identifier: MIT */
/* The processes that use a device, as NVML lists them. */
#include "gpu/nvml_process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define ENTRIES 64u        /* room at first */
#define ENTRIES_MAX 65536u /* more are not believed */
#define GROWTHS_MAX 4      /* how often a list may grow while it is read */
#define UNWRITTEN 0xA5     /* what memory holds that the library has not written */
#define UNKNOWN_BYTES UINT64_MAX

/* Bytes of one entry by version. Some drivers of the release R535 write 32 bytes for version 3. */
static const size_t entry_sizes[RTI_NVML_VERSIONS] = { 16, 24, 24 };
#define LARGEST_ENTRY 32u

_Static_assert(sizeof(struct rti_nvml_sample) == LARGEST_ENTRY, "one buffer serves both lists");

static int make_room(struct rti_nvml_buffer *buffer, size_t entries)
{
	void *data = rti_array_grow(buffer->data, &buffer->room, entries * LARGEST_ENTRY, 1);

	if (!data)
		return RTI_NVML_NO_MEMORY;
	buffer->data = data;
	return RTI_NVML_OK;
}

void rti_nvml_buffer_free(struct rti_nvml_buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct rti_nvml_buffer){ 0 };
}

static uint32_t room_of(const struct rti_nvml_buffer *buffer)
{
	size_t room = buffer->room / LARGEST_ENTRY;

	return room < ENTRIES_MAX ? (uint32_t)room : ENTRIES_MAX;
}

/* Make room for a list that did not fit. Returns true if it is to be asked for again. */
static bool has_grown(struct rti_nvml_buffer *buffer, int result, uint32_t wanted)
{
	uint32_t room = room_of(buffer);

	if (result != RTI_NVML_TOO_SMALL || wanted > ENTRIES_MAX)
		return false;
	/* Some more, since processes come. Twice as many if the library does not say how many. */
	wanted = wanted > room ? wanted + wanted / 4 : 2 * room;
	return make_room(buffer, wanted) == RTI_NVML_OK;
}

/* Returns the result of a list, or UNKNOWN if it claims to be longer than the room that it was
 * given. */
static int believe(const struct rti_nvml_buffer *buffer, int result, const uint32_t *count)
{
	return result == RTI_NVML_OK && *count > room_of(buffer) ? RTI_NVML_UNKNOWN : result;
}

/* Ask for one list in one version. */
static int read_list(int (*call)(void *device, uint32_t *count, void *entries), void *device,
                     struct rti_nvml_buffer *buffer, uint32_t *count)
{
	int result = make_room(buffer, ENTRIES);

	for (int i = 0; i <= GROWTHS_MAX && result == RTI_NVML_OK; i++) {
		*count = room_of(buffer);
		memset(buffer->data, UNWRITTEN, buffer->room);
		result = call(device, count, buffer->data);
		if (!has_grown(buffer, result, *count))
			break;
		result = i < GROWTHS_MAX ? RTI_NVML_OK : RTI_NVML_TOO_SMALL;
	}
	return believe(buffer, result, count);
}

/* Returns how far apart the entries are. Only entries of 32 bytes reach to the end of the last
 * one. */
static size_t find_stride(const struct rti_nvml_buffer *buffer, size_t version, uint32_t count)
{
	const unsigned char *end = (const unsigned char *)buffer->data + count * LARGEST_ENTRY;

	for (size_t i = 1; version == RTI_NVML_VERSIONS - 1 && count > 0 && i <= 8; i++) {
		if (end[-(ptrdiff_t)i] != UNWRITTEN)
			return LARGEST_ENTRY;
	}
	return entry_sizes[version];
}

/* Returns the use of a process on a device, or NULL if it is not listed. */
static struct rti_gpu_use *find_use(struct rti_gpu_readings *readings, size_t gpu, int32_t pid)
{
	/* Those of the last device are at the end. */
	for (size_t i = readings->use_count; i-- > 0 && readings->use[i].gpu == gpu;)
		if (readings->use[i].pid == pid)
			return &readings->use[i];
	return NULL;
}

/* Each list reports all memory of a process, so the sizes are not added up. */
static int add_entry(struct rti_gpu_readings *readings, size_t gpu, const unsigned char *entry,
                     enum rti_nvml_list list)
{
	const struct rti_gpu_reading *whole = &readings->gpu[gpu];
	struct rti_gpu_use *use;
	uint64_t bytes;
	uint32_t pid;

	memcpy(&pid, entry, sizeof(pid));
	memcpy(&bytes, entry + 8, sizeof(bytes));
	if (pid == 0 || pid > INT32_MAX)
		return RTI_NVML_OK;
	use = find_use(readings, gpu, (int32_t)pid);
	if (!use)
		use = rti_gpu_add_use(readings);
	if (!use)
		return RTI_NVML_NO_MEMORY;
	use->gpu = gpu;
	use->pid = (int32_t)pid;
	use->is_compute |= list != RTI_NVML_GRAPHICS;
	/* No process has more memory of a device than there is. */
	if (bytes != UNKNOWN_BYTES &&
	    (whole->err[RTI_GPU_MEMORY] < 0 || bytes <= whole->memory_total_bytes)) {
		use->has_memory = true;
		use->memory_bytes = bytes > use->memory_bytes ? bytes : use->memory_bytes;
	}
	return RTI_NVML_OK;
}

/* The newest version that works. A driver may be older than its library. */
static int add_list(const struct rti_nvml_library *library, void *device, enum rti_nvml_list list,
                    size_t gpu, struct rti_nvml_buffer *buffer, struct rti_gpu_readings *readings)
{
	int result = RTI_NVML_NO_FUNCTION;
	size_t version = RTI_NVML_VERSIONS, stride;
	uint32_t count = 0;

	while (version-- > 0 && result == RTI_NVML_NO_FUNCTION) {
		if (library->processes[list][version])
			result =
			    read_list(library->processes[list][version], device, buffer, &count);
		if (result != RTI_NVML_OK)
			continue;
		stride = find_stride(buffer, version, count);
		for (uint32_t i = 0; i < count && result == RTI_NVML_OK; i++)
			result = add_entry(readings, gpu,
			                   (const unsigned char *)buffer->data + i * stride, list);
		return result;
	}
	return result;
}

/* A missing list is no loss. E.g.: before R470 there was none of MPS. */
static bool is_absent(int result)
{
	return result == RTI_NVML_NO_FUNCTION || result == RTI_NVML_NOT_SUPPORTED ||
	       result == RTI_NVML_NOT_FOUND;
}

int rti_nvml_list_processes(const struct rti_nvml_library *library, void *device, size_t gpu,
                            struct rti_nvml_buffer *buffer, struct rti_gpu_readings *readings)
{
	int failed = RTI_NVML_OK, absent = 0;

	for (int list = 0; list < RTI_NVML_LISTS; list++) {
		int result =
		    add_list(library, device, (enum rti_nvml_list)list, gpu, buffer, readings);

		absent += is_absent(result);
		if (result != RTI_NVML_OK && !is_absent(result) && failed == RTI_NVML_OK)
			failed = result;
	}
	if (absent == RTI_NVML_LISTS)
		failed = RTI_NVML_NOT_SUPPORTED;
	if (failed != RTI_NVML_OK && readings->use_err == 0)
		readings->use_err = rti_nvml_error(failed);
	return failed;
}

static int read_samples(const struct rti_nvml_library *library, void *device, uint64_t seen_us,
                        struct rti_nvml_buffer *buffer, uint32_t *count)
{
	int result = library->samples ? make_room(buffer, ENTRIES) : RTI_NVML_NO_FUNCTION;

	*count = 0;
	for (int i = 0; i <= GROWTHS_MAX && result == RTI_NVML_OK; i++) {
		*count = room_of(buffer);
		memset(buffer->data, UNWRITTEN, buffer->room);
		result = library->samples(device, buffer->data, count, seen_us);
		if (!has_grown(buffer, result, *count))
			break;
		result = i < GROWTHS_MAX ? RTI_NVML_OK : RTI_NVML_TOO_SMALL;
	}
	return believe(buffer, result, count);
}

static void use_sample(struct rti_gpu_readings *readings, size_t gpu, uint64_t seen_us,
                       const struct rti_nvml_sample *sample)
{
	struct rti_gpu_use *use;

	if (sample->timestamp_us <= seen_us || sample->pid > INT32_MAX)
		return;
	use = find_use(readings, gpu, (int32_t)sample->pid);
	if (!use || sample->timestamp_us <= use->sampled_at_us)
		return;
	if (sample->sm > 100 || sample->memory > 100 || sample->encode > 100 ||
	    sample->decode > 100) {
		use->is_doubtful = true;
		return;
	}
	use->sampled_at_us = sample->timestamp_us;
	use->busy_percent = sample->sm;
	use->encode_percent = sample->encode;
	use->decode_percent = sample->decode;
}

void rti_nvml_sample_processes(const struct rti_nvml_library *library, void *device, size_t gpu,
                               uint64_t *seen_us, struct rti_nvml_buffer *buffer,
                               struct rti_gpu_readings *readings)
{
	uint64_t newest_us = *seen_us;
	uint32_t count;
	int result = read_samples(library, device, *seen_us, buffer, &count);
	const struct rti_nvml_sample *samples = buffer->data;

	if (result != RTI_NVML_OK && result != RTI_NVML_NOT_FOUND)
		return;
	for (uint32_t i = 0; result == RTI_NVML_OK && i < count; i++)
		use_sample(readings, gpu, *seen_us, &samples[i]);
	/* A process without a sample has been idle; if none has one, the result is NOT_FOUND.
	 * A process that has only impossible samples has not been idle. */
	for (size_t i = readings->use_count; i-- > 0 && readings->use[i].gpu == gpu;) {
		struct rti_gpu_use *use = &readings->use[i];

		use->has_busy = use->sampled_at_us > 0 || !use->is_doubtful;
		if (use->sampled_at_us > newest_us)
			newest_us = use->sampled_at_us;
	}
	*seen_us = newest_us;
}
