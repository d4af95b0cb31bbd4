/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/fdinfo/FD of a GPU. */
#include "parse/drm_fdinfo.h"

#include <errno.h>

#include "parse/pci_address.h"
#include "parse/scan.h"
#include "util/arith.h"

/* One region of memory. drm-memory- is what older drivers write for drm-resident-. */
struct region {
	struct rti_scan name;
	bool has_resident;
	bool has_shared; /* the driver says how much of it is shared: Linux 6.5 */
	uint64_t bytes, shared_bytes;
};

struct reader {
	struct rti_drm_fdinfo *out;
	unsigned region_count;
	struct region regions[RTI_DRM_REGIONS_MAX];
};

static const struct {
	const char *prefix;
	enum rti_drm_engine_kind kind;
} kinds[] = {
	/* i915, amdgpu, xe, msm, panfrost, v3d, etnaviv, lima */
	{ "render", RTI_DRM_RENDER },   { "gfx", RTI_DRM_RENDER },
	{ "rcs", RTI_DRM_RENDER },      { "gpu", RTI_DRM_RENDER },
	{ "fragment", RTI_DRM_RENDER }, { "vertex-tiler", RTI_DRM_RENDER },
	{ "bin", RTI_DRM_RENDER },      { "3d", RTI_DRM_RENDER },
	{ "3D", RTI_DRM_RENDER },       { "compute", RTI_DRM_COMPUTE },
	{ "ccs", RTI_DRM_COMPUTE },     { "csd", RTI_DRM_COMPUTE },
	{ "copy", RTI_DRM_COPY },       { "bcs", RTI_DRM_COPY },
	{ "dma", RTI_DRM_COPY },        { "tfu", RTI_DRM_COPY },
	{ "dec", RTI_DRM_DECODE },      { "vcs", RTI_DRM_DECODE },
	{ "jpeg", RTI_DRM_DECODE },     { "video-enhance", RTI_DRM_OTHER },
	{ "video", RTI_DRM_DECODE },    { "enc", RTI_DRM_ENCODE },
};

static size_t length(const struct rti_scan *s)
{
	return (size_t)(s->end - s->at);
}

/* By the beginning of its name: drivers number engines of one kind. E.g.: "enc_1". */
static enum rti_drm_engine_kind kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
			return kinds[i].kind;
	return RTI_DRM_OTHER;
}

/* Find an engine by its name, or add it. Returns NULL if there is no room, or the name does not
 * fit. */
static struct rti_drm_engine *engine(struct reader *r, const struct rti_scan *name)
{
	struct rti_drm_fdinfo *out = r->out;
	struct rti_drm_engine *e;

	if (length(name) == 0 || length(name) >= sizeof(e->name))
		return NULL;
	for (unsigned i = 0; i < out->engine_count; i++)
		if (rti_scan_is(name, out->engines[i].name))
			return &out->engines[i];
	if (out->engine_count == RTI_DRM_ENGINES_MAX)
		return NULL;
	e = &out->engines[out->engine_count++];
	*e = (struct rti_drm_engine){ .capacity = 1 };
	rti_scan_copy(name, e->name, sizeof(e->name));
	e->kind = kind_of(e->name);
	return e;
}

/* Find a region by its name, or add it. Returns NULL if there is no room. */
static struct region *region(struct reader *r, const struct rti_scan *name)
{
	for (unsigned i = 0; i < r->region_count; i++) {
		const struct rti_scan *known = &r->regions[i].name;

		if (length(name) == length(known) && memcmp(name->at, known->at, length(name)) == 0)
			return &r->regions[i];
	}
	if (r->region_count == RTI_DRM_REGIONS_MAX)
		return NULL;
	r->regions[r->region_count] = (struct region){ .name = *name };
	return &r->regions[r->region_count++];
}

/* Bytes, or a number with a unit of 1024 or 1048576 of them. */
static bool scan_bytes(struct rti_scan *value, uint64_t *out)
{
	uint64_t unit = 1;
	struct rti_scan word;

	if (!rti_scan_u64(value, out))
		return false;
	if (rti_scan_word(value, &word)) {
		if (rti_scan_is(&word, "KiB"))
			unit = 1024;
		else if (rti_scan_is(&word, "MiB"))
			unit = 1048576;
		else
			return false;
	}
	*out = rti_multiply_saturated(*out, unit);
	return true;
}

static void take_memory(struct reader *r, const struct rti_scan *name, struct rti_scan *value,
                        bool is_resident)
{
	struct region *found;
	uint64_t bytes;

	if (!scan_bytes(value, &bytes))
		return;
	found = region(r, name);
	if (!found || (found->has_resident && !is_resident))
		return;
	found->bytes = bytes;
	found->has_resident = is_resident;
	r->out->has_memory = true;
}

static void take_shared(struct reader *r, const struct rti_scan *name, struct rti_scan *value)
{
	struct region *found;
	uint64_t bytes;

	if (!scan_bytes(value, &bytes))
		return;
	found = region(r, name);
	if (!found)
		return;
	found->has_shared = true;
	found->shared_bytes = bytes;
}

static void take_capacity(struct reader *r, const struct rti_scan *name, struct rti_scan *value)
{
	struct rti_drm_engine *e;
	uint32_t capacity;

	if (!rti_scan_u32(value, &capacity) || capacity == 0)
		return;
	e = engine(r, name);
	if (e)
		e->capacity = capacity;
}

/* Which figure of an engine a key names, and its place. */
static void take_engine(struct reader *r, const struct rti_scan *name, struct rti_scan *value,
                        uint32_t has)
{
	struct rti_drm_engine *e;
	uint64_t number;

	if (!rti_scan_u64(value, &number))
		return;
	e = engine(r, name);
	if (!e)
		return;
	e->has |= has;
	if (has == RTI_DRM_TIME)
		e->busy_ns = number;
	else if (has == RTI_DRM_CYCLES)
		e->cycles = number;
	else
		e->total_cycles = number;
}

static void take_pci_address(struct rti_drm_fdinfo *out, struct rti_scan *value)
{
	struct rti_pci_address pci;

	out->has_pci_address = rti_scan_pci_address(value, &pci);
	if (!out->has_pci_address)
		return;
	out->pci_domain = pci.domain;
	out->pci_bus = pci.bus;
	out->pci_device = pci.device;
	out->pci_function = pci.function;
}

/* The key is without its "drm-". A longer prefix comes before one that it begins with. */
static void take_key(struct reader *r, struct rti_scan *key, struct rti_scan *value)
{
	struct rti_drm_fdinfo *out = r->out;

	if (rti_scan_is(key, "driver"))
		rti_scan_copy(value, out->driver, sizeof(out->driver));
	else if (rti_scan_is(key, "pdev"))
		take_pci_address(out, value);
	else if (rti_scan_is(key, "client-id"))
		out->has_client_id = rti_scan_u64(value, &out->client_id);
	else if (rti_scan_literal(key, "engine-capacity-"))
		take_capacity(r, key, value);
	else if (rti_scan_literal(key, "engine-"))
		take_engine(r, key, value, RTI_DRM_TIME);
	else if (rti_scan_literal(key, "cycles-"))
		take_engine(r, key, value, RTI_DRM_CYCLES);
	else if (rti_scan_literal(key, "total-cycles-"))
		take_engine(r, key, value, RTI_DRM_TOTAL_CYCLES);
	else if (rti_scan_literal(key, "resident-"))
		take_memory(r, key, value, true);
	else if (rti_scan_literal(key, "memory-"))
		take_memory(r, key, value, false);
	else if (rti_scan_literal(key, "shared-"))
		take_shared(r, key, value);
}

static void take_line(struct reader *r, struct rti_scan *line)
{
	struct rti_scan key = *line, value;

	if (!rti_scan_literal(&key, "drm-"))
		return;
	value.at = memchr(key.at, ':', length(&key));
	if (!value.at)
		return;
	key.end = value.at++;
	value.end = line->end;
	rti_scan_blanks(&value);
	take_key(r, &key, &value);
}

/* A GPU with memory of its own calls it vram (amdgpu, xe: "vram0") or local (i915: "local0"). All
 * other names are of the machine's memory. E.g.: "system", "gtt", "cpu", "memory", "stolen". */
static void sum_memory(const struct reader *r)
{
	struct rti_drm_fdinfo *out = r->out;

	for (unsigned i = 0; i < r->region_count; i++) {
		const struct region *found = &r->regions[i];
		struct rti_scan name = found->name;

		if (!rti_scan_literal(&name, "vram") && !rti_scan_literal(&name, "local")) {
			out->system_memory_bytes =
			    rti_add_saturated(out->system_memory_bytes, found->bytes);
			continue;
		}
		out->has_device_region = true;
		out->device_memory_bytes =
		    rti_add_saturated(out->device_memory_bytes, found->bytes);
		out->may_share |= found->bytes && (!found->has_shared || found->shared_bytes);
	}
}

int rti_parse_drm_fdinfo(const char *data, size_t len, struct rti_drm_fdinfo *out)
{
	struct rti_scan s = rti_scan(data, len), line;
	struct reader r = { .out = out };

	out->driver[0] = '\0';
	out->has_pci_address = out->has_client_id = out->has_memory = false;
	out->has_device_region = out->may_share = false;
	out->engine_count = 0;
	out->device_memory_bytes = out->system_memory_bytes = 0;
	while (rti_scan_line(&s, &line))
		take_line(&r, &line);
	sum_memory(&r);
	return out->driver[0] ? 0 : -EBADMSG;
}
