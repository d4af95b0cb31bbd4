/* SPDX-License-Identifier: MIT */
/* rtrack info: which GPUs are found, by which interface, and why not by the others. */
#include "gpu_info.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "text/json.h"
#include "text/utf8.h"

static bool is_listed(const struct gpu_info *info, uint32_t source)
{
	for (size_t i = 0; i < info->count; i++)
		if (info->gpu[i].source == source)
			return true;
	return false;
}

static void set_problem(struct gpu_interface *interface, const char *problem)
{
	snprintf(interface->problem, sizeof(interface->problem), "%s", problem);
}

/* A library that is there and fails is the first reason for which a figure is missing. One that is
 * not there is no reason, if there are other cards. */
static void explain_nvml(struct gpu_info *info, struct gpu_interface *nvml,
                         const struct rt_tracker *tracker)
{
	struct rt_obstacle why = { .error = 0 };

	if (is_listed(info, RT_GPU_NVML))
		return;
	rt_tracker_obstacle(tracker, RT_HAS_GPU_MEMORY, &why, sizeof(why));
	if (why.error == 0 || why.error == -ENOENT || why.error == -EOPNOTSUPP)
		set_problem(nvml, "libnvidia-ml.so.1 cannot be opened, or its driver is not "
		                  "loaded");
	else
		set_problem(nvml, why.text);
}

void gpu_info_get(struct gpu_info *info, const struct rt_tracker *tracker)
{
	struct gpu_interface *const nvml = &info->interface[0], *const drm = &info->interface[1],
				    *const processes = &info->interface[2];
	size_t none = 0;

	*info = (struct gpu_info){
		.count = GPU_INFO_MAX,
		.interface = { { .name = "nvml", .about = "NVML" },
		               { .name = "drm", .about = "files of DRM drivers" },
		               { .name = "nvml_processes", .about = "processes by NVML" } },
	};
	if (!tracker || rt_tracker_gpus(tracker, info->gpu, sizeof(info->gpu[0]), &info->count) < 0)
		info->count = 0;
	if (info->count > GPU_INFO_MAX)
		info->count = GPU_INFO_MAX;
	explain_nvml(info, nvml, tracker);
	if (!is_listed(info, RT_GPU_DRM))
		set_problem(drm, "/sys/class/drm has no card that can render and that NVML lacks");
	if (nvml->problem[0])
		set_problem(processes, "it needs NVML");
	else if (rt_tracker_gpu_processes(tracker, NULL, sizeof(struct rt_gpu_process), &none) < 0)
		set_problem(processes, "they are listed in the first pid namespace alone, and to "
		                       "those that may see them");
}

static const char *interface_of(const struct rt_gpu *gpu)
{
	return gpu->source == RT_GPU_NVML ? "nvml" : "drm";
}

/* Returns the address as the kernel writes it, or an empty text. */
static struct address {
	char text[32];
} address_of(const struct rt_gpu *gpu)
{
	struct address address = { "" };

	if (gpu->pci_domain != UINT32_MAX)
		snprintf(address.text, sizeof(address.text), "%04x:%02x:%02x.%x", gpu->pci_domain,
		         gpu->pci_bus, gpu->pci_device, gpu->pci_function);
	return address;
}

void gpu_info_text(struct text *out, const struct gpu_info *info)
{
	for (size_t i = 0; i < info->count; i++) {
		const struct rt_gpu *gpu = &info->gpu[i];
		struct address address = address_of(gpu);

		struct text name = { 0 };

		utf8_add_printable(&name, gpu->name[0] ? gpu->name : gpu->uuid, false);
		text_printf(out, "  %-28s %s by %s%s%s%s\n", name.len > 0 ? name.data : "unnamed",
		            gpu->driver, gpu->source == RT_GPU_NVML ? "NVML" : "its files",
		            address.text[0] ? ", at " : "", address.text,
		            gpu->flags & RT_ITEM_PARTITION ? ", a partition" : "");
		text_free(&name);
	}
}

void gpu_info_json(struct text *out, const char *key, const struct gpu_info *info)
{
	json_begin(out, key, '[');
	for (size_t i = 0; i < info->count; i++) {
		const struct rt_gpu *gpu = &info->gpu[i];
		struct address address = address_of(gpu);

		json_begin(out, NULL, '{');
		json_string(out, "name", gpu->name);
		json_string(out, "uuid", gpu->uuid[0] ? gpu->uuid : NULL);
		json_string(out, "driver", gpu->driver);
		json_string(out, "interface", interface_of(gpu));
		json_string(out, "pci", address.text[0] ? address.text : NULL);
		json_bool(out, "partition", (gpu->flags & RT_ITEM_PARTITION) != 0);
		if (gpu->valid & RT_HAS_GPU_MEMORY)
			json_u64(out, "memory_total_bytes", gpu->memory_total_bytes);
		else
			json_null(out, "memory_total_bytes");
		json_end(out, '}');
	}
	json_end(out, ']');
}
