/* SPDX-License-Identifier: MIT */
/* A libnvidia-ml.so.1 that does what a file says, which it reads anew in each call. The environment
 * names the file (FAKE_NVML_SCRIPT). nvml_fixture.h has its lines.
 *
 * It is built with the functions of three ages: FAKE_NVML_VERSION 1, 2 or 3 is the newest version
 * of a call that it has. Version 0 has the calls alone without which it is of no use. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INSTANCES 100 /* the number of the first MIG instance, where lines name a device */

/* Returns the next line that begins with a word, without the word; NULL at the end. */
static const char *next_line(FILE *script, const char *word)
{
	static _Thread_local char line[256];
	size_t len = strlen(word);

	while (script && fgets(line, sizeof(line), script)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, word, len) == 0 && line[len] == ' ')
			return line + len + 1;
	}
	return NULL;
}

static FILE *open_script(void)
{
	const char *path = getenv("FAKE_NVML_SCRIPT");

	return path ? fopen(path, "re") : NULL;
}

static void note_call(const char *call, unsigned device, uint64_t argument)
{
	const char *path = getenv("FAKE_NVML_LOG");
	FILE *log = path ? fopen(path, "ae") : NULL;

	if (!log)
		return;
	fprintf(log, "%s %u %llu\n", call, device, (unsigned long long)argument);
	fclose(log);
}

static bool is_to_hang(const char *call)
{
	FILE *script = open_script();
	bool hangs = false;
	const char *line;

	while ((line = next_line(script, "hang")))
		hangs |= strcmp(line, call) == 0;
	if (script)
		fclose(script);
	return hangs;
}

/* Begin a call. Returns the result that the script asks for, else 0. */
static int enter(const char *call, unsigned device, uint64_t argument)
{
	FILE *script;
	const char *line;
	int result = 0;

	note_call(call, device, argument);
	while (is_to_hang(call))
		usleep(2000);
	script = open_script();
	while ((line = next_line(script, "result"))) {
		char name[100];
		int code, fields;
		unsigned of;

		fields = sscanf(line, "%99s %d %u", name, &code, &of);
		if (fields >= 2 && strcmp(name, call) == 0 && (fields == 2 || of == device))
			result = code;
	}
	if (script)
		fclose(script);
	return result;
}

/* Finds the line of a device or an instance, by its number. */
static bool find_line(const char *word, unsigned number, char *out)
{
	FILE *script = open_script();
	const char *line;
	bool found = false;

	for (unsigned i = 0; !found && (line = next_line(script, word)); i++) {
		found = i == number;
		if (found)
			strcpy(out, line);
	}
	if (script)
		fclose(script);
	return found;
}

struct device {
	unsigned bus, percent, owner;
	unsigned long long used, total, millijoules;
	char name[64];
};

static bool find_device(unsigned number, struct device *out)
{
	char line[256];

	memset(out, 0, sizeof(*out));
	if (number >= INSTANCES)
		return find_line("instance", number - INSTANCES, line) &&
		       sscanf(line, "%u %llu %llu", &out->owner, &out->used, &out->total) == 3;
	return find_line("gpu", number, line) &&
	       sscanf(line, "%x %u %llu %llu %llu %63[^\n]", &out->bus, &out->percent, &out->used,
	              &out->total, &out->millijoules, out->name) >= 5;
}

/* Returns the number that a line has for a call, or 0. */
static unsigned long long number_for(const char *word, const char *call)
{
	FILE *script = open_script();
	unsigned long long number = 0, read;
	const char *line;
	char name[100];

	while ((line = next_line(script, word)))
		if (sscanf(line, "%99s %llu", name, &read) == 2 && strcmp(name, call) == 0)
			number = read;
	if (script)
		fclose(script);
	return number;
}

/* Sets a count that the script has another one for. */
static void claim(const char *call, uint32_t *count)
{
	unsigned long long claimed = number_for("claim", call);

	if (claimed)
		*count = (uint32_t)claimed;
}

#if FAKE_NVML_VERSION >= 1
static unsigned number_of(const void *device)
{
	return (unsigned)(uintptr_t)device - 1;
}

/* Returns whether a list is to be too long for its room once more. */
static bool is_to_grow(const char *call)
{
	static unsigned grown;

	return grown < number_for("grow", call) && ++grown;
}

/* Writes a text, or as many bytes as there is room for, without an end. */
static void put_text(const char *call, char *text, uint32_t size, const char *value)
{
	if (number_for("unterminated", call))
		memset(text, 0xFF, size);
	else
		snprintf(text, size, "%s", value);
}
#endif

/* The library may hang when it is opened, before any call. */
__attribute__((constructor)) static void load(void)
{
	while (is_to_hang("load"))
		usleep(2000);
}

#define API __attribute__((visibility("default")))

#if FAKE_NVML_VERSION >= 2
#define LATER(name) name##_v2
#else
#define LATER(name) name
#endif

API int LATER(nvmlInit)(void);
API int LATER(nvmlInit)(void)
{
	return enter("nvmlInit", 0, 0);
}

API int nvmlShutdown(void);
API int nvmlShutdown(void)
{
	return enter("nvmlShutdown", 0, 0);
}

API int LATER(nvmlDeviceGetCount)(uint32_t *count);
API int LATER(nvmlDeviceGetCount)(uint32_t *count)
{
	struct device device;

	for (*count = 0; find_device(*count, &device);)
		++*count;
	claim("nvmlDeviceGetCount", count);
	return enter("nvmlDeviceGetCount", 0, 0);
}

API int LATER(nvmlDeviceGetHandleByIndex)(uint32_t index, void **out);
API int LATER(nvmlDeviceGetHandleByIndex)(uint32_t index, void **out)
{
	*out = (void *)(uintptr_t)(index + 1);
	return enter("nvmlDeviceGetHandleByIndex", index, 0);
}

#if FAKE_NVML_VERSION >= 1
#if FAKE_NVML_VERSION >= 3
#define PCI_INFO nvmlDeviceGetPciInfo_v3
#else
#define PCI_INFO LATER(nvmlDeviceGetPciInfo)
#endif
API int PCI_INFO(void *device, uint32_t *out);
API int PCI_INFO(void *device, uint32_t *out)
{
	struct device found;
	char line[256];

	if (!find_device(number_of(device), &found))
		return 2;
	out[4] = 0;
	out[5] = found.bus;
	out[6] = 0;
	if (find_line("address", number_of(device), line))
		sscanf(line, "%u %u %u", &out[4], &out[5], &out[6]);
	return enter("nvmlDeviceGetPciInfo", number_of(device), 0);
}

API int nvmlDeviceGetUUID(void *device, char *text, uint32_t size);
API int nvmlDeviceGetUUID(void *device, char *text, uint32_t size)
{
	struct device found;
	char value[30];

	find_device(number_of(device), &found);
	snprintf(value, sizeof(value), number_of(device) >= INSTANCES ? "MIG-%u" : "GPU-%x",
	         number_of(device) >= INSTANCES ? number_of(device) : found.bus);
	put_text("nvmlDeviceGetUUID", text, size, value);
	return enter("nvmlDeviceGetUUID", number_of(device), 0);
}

API int nvmlDeviceGetName(void *device, char *text, uint32_t size);
API int nvmlDeviceGetName(void *device, char *text, uint32_t size)
{
	struct device found;

	find_device(number_of(device), &found);
	put_text("nvmlDeviceGetName", text, size, found.name);
	return enter("nvmlDeviceGetName", number_of(device), 0);
}

API int nvmlDeviceGetUtilizationRates(void *device, uint32_t *out);
API int nvmlDeviceGetUtilizationRates(void *device, uint32_t *out)
{
	struct device found;
	int result;

	if (!find_device(number_of(device), &found))
		return 15;
	out[0] = found.percent;
	out[1] = 0;
	result = enter("nvmlDeviceGetUtilizationRates", number_of(device), 0);
	if (result)
		out[0] /= 2; /* what it has filled in until it failed */
	return result;
}

#define RESERVED 1000000 /* what the driver keeps: used of version 1 includes it */

API int nvmlDeviceGetMemoryInfo(void *device, uint64_t *out);
API int nvmlDeviceGetMemoryInfo(void *device, uint64_t *out)
{
	struct device found;

	if (!find_device(number_of(device), &found))
		return 15;
	out[0] = found.total;
	out[2] = found.used + (FAKE_NVML_VERSION >= 3 ? RESERVED : 0);
	out[1] = found.total - out[2];
	return enter("nvmlDeviceGetMemoryInfo", number_of(device), 0);
}

#if FAKE_NVML_VERSION >= 3
API int nvmlDeviceGetMemoryInfo_v2(void *device, void *out);
API int nvmlDeviceGetMemoryInfo_v2(void *device, void *out)
{
	uint32_t version;
	struct device found;
	uint64_t *figures = (uint64_t *)out;

	memcpy(&version, out, sizeof(version));
	if (version != (40 | 2u << 24))
		return 25;
	if (!find_device(number_of(device), &found))
		return 15;
	figures[1] = found.total;
	figures[2] = RESERVED;
	figures[3] = found.total - found.used - RESERVED;
	figures[4] = found.used;
	return enter("nvmlDeviceGetMemoryInfo_v2", number_of(device), 0);
}
#endif

#if FAKE_NVML_VERSION >= 2
API int nvmlDeviceGetTotalEnergyConsumption(void *device, uint64_t *out);
API int nvmlDeviceGetTotalEnergyConsumption(void *device, uint64_t *out)
{
	struct device found;

	if (!find_device(number_of(device), &found))
		return 15;
	*out = found.millijoules;
	return enter("nvmlDeviceGetTotalEnergyConsumption", number_of(device), 0);
}
#endif

static size_t entry_bytes(int version)
{
	char line[256];
	unsigned bytes;

	if (version == 3 && find_line("entry", 0, line) && sscanf(line, "%u", &bytes) == 1)
		return bytes;
	return version == 1 ? 16 : 24;
}

/* Writes the processes of a list: "process DEVICE LIST PID BYTES". */
static int list(const char *call, int version, char kind, void *device, uint32_t *room, char *out)
{
	int result = enter(call, number_of(device), *room);
	FILE *script = open_script();
	uint32_t count = 0;
	const char *line;

	while ((line = next_line(script, "process"))) {
		unsigned of, pid;
		long long bytes;
		char in;

		if (sscanf(line, "%u %c %u %lld", &of, &in, &pid, &bytes) != 4 ||
		    of != number_of(device) || in != kind)
			continue;
		if (count++ < *room) {
			char *entry = out + (count - 1) * entry_bytes(version);

			memset(entry, 0, entry_bytes(version));
			memcpy(entry, &pid, 4);
			memcpy(entry + 8, &bytes, 8);
		}
	}
	if (script)
		fclose(script);
	if (result == 0 && count > *room)
		result = 7;
	if (result == 0 && is_to_grow(call)) {
		count = *room + 1;
		result = 7;
	}
	*room = count;
	claim(call, room);
	return result;
}

#define LIST(name, kind, version)                                                                  \
	API int name(void *device, uint32_t *room, void *out);                                     \
	API int name(void *device, uint32_t *room, void *out)                                      \
	{                                                                                          \
		return list(#name, version, kind, device, room, (char *)out);                      \
	}

LIST(nvmlDeviceGetComputeRunningProcesses, 'c', 1)
LIST(nvmlDeviceGetGraphicsRunningProcesses, 'g', 1)
#if FAKE_NVML_VERSION >= 2
LIST(nvmlDeviceGetComputeRunningProcesses_v2, 'c', 2)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, 'g', 2)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, 'm', 2)
#endif
#if FAKE_NVML_VERSION >= 3
LIST(nvmlDeviceGetComputeRunningProcesses_v3, 'c', 3)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, 'g', 3)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, 'm', 3)
#endif

struct sample {
	uint32_t pid, padding;
	uint64_t timestamp;
	uint32_t sm, memory, encode, decode;
};

/* Writes "sample DEVICE PID TIMESTAMP SM ENCODE DECODE", whatever its time. */
API int nvmlDeviceGetProcessUtilization(void *device, struct sample *out, uint32_t *room,
                                        uint64_t newer);
API int nvmlDeviceGetProcessUtilization(void *device, struct sample *out, uint32_t *room,
                                        uint64_t newer)
{
	int result = enter("nvmlDeviceGetProcessUtilization", number_of(device), newer);
	FILE *script = open_script();
	uint32_t count = 0;
	const char *line;

	while ((line = next_line(script, "sample"))) {
		struct sample sample = { 0 };
		unsigned long long timestamp;
		unsigned of;

		if (sscanf(line, "%u %u %llu %u %u %u", &of, &sample.pid, &timestamp, &sample.sm,
		           &sample.encode, &sample.decode) != 6 ||
		    of != number_of(device))
			continue;
		sample.timestamp = timestamp;
		if (count++ < *room)
			out[count - 1] = sample;
	}
	if (script)
		fclose(script);
	if (result == 0 && count > *room)
		result = 7;
	if (result == 0 && count == 0)
		result = 6;
	if (is_to_grow("nvmlDeviceGetProcessUtilization")) {
		count = *room + 1;
		result = 7;
	}
	*room = count;
	claim("nvmlDeviceGetProcessUtilization", room);
	return result;
}
#endif

#if FAKE_NVML_VERSION >= 3
static unsigned count_instances(unsigned owner)
{
	struct device instance;
	unsigned count = 0;

	for (unsigned i = 0; find_device(INSTANCES + i, &instance); i++)
		count += instance.owner == owner;
	return count;
}

API int nvmlDeviceGetMigMode(void *device, uint32_t *current, uint32_t *pending);
API int nvmlDeviceGetMigMode(void *device, uint32_t *current, uint32_t *pending)
{
	*current = *pending = count_instances(number_of(device)) > 0;
	return enter("nvmlDeviceGetMigMode", number_of(device), 0);
}

API int nvmlDeviceGetMaxMigDeviceCount(void *device, uint32_t *count);
API int nvmlDeviceGetMaxMigDeviceCount(void *device, uint32_t *count)
{
	*count = 7;
	claim("nvmlDeviceGetMaxMigDeviceCount", count);
	return enter("nvmlDeviceGetMaxMigDeviceCount", number_of(device), 0);
}

/* The numbers have gaps: 1, 3, 5 ... */
API int nvmlDeviceGetMigDeviceHandleByIndex(void *device, uint32_t index, void **out);
API int nvmlDeviceGetMigDeviceHandleByIndex(void *device, uint32_t index, void **out)
{
	struct device instance;
	unsigned seen = 0;

	for (unsigned i = 0; find_device(INSTANCES + i, &instance); i++) {
		if (instance.owner != number_of(device) || 2 * seen++ + 1 != index)
			continue;
		*out = (void *)(uintptr_t)(INSTANCES + i + 1);
		return enter("nvmlDeviceGetMigDeviceHandleByIndex", number_of(device), index);
	}
	return 6;
}
#endif
