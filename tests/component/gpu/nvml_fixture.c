/* SPDX-License-Identifier: MIT */
/* A fake libnvidia-ml.so.1, and the script that it follows. */
#include "gpu/nvml_fixture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

static void set_path(const struct nvml_fixture *f, const char *variable, const char *file)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", f->files.root, file);
	ck_assert_int_eq(setenv(variable, path, 1), 0);
}

void nvml_fixture_new(struct nvml_fixture *f)
{
	fixture_new(&f->files);
	fixture_write(&f->files, "script", "");
	set_path(f, "FAKE_NVML_SCRIPT", "script");
	set_path(f, "FAKE_NVML_LOG", "log");
}

void nvml_fixture_free(struct nvml_fixture *f)
{
	fixture_free(&f->files);
}

const char *nvml_fixture_library(int version)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/fake-nvml-%d.so", FAKE_NVML_DIR, version);
	return path;
}

void nvml_fixture_script(struct nvml_fixture *f, const char *format, ...)
{
	char text[4096], draft[200], path[200];
	va_list args;

	va_start(args, format);
	ck_assert_int_lt(vsnprintf(text, sizeof(text), format, args), (int)sizeof(text));
	va_end(args);
	fixture_write(&f->files, "draft", text);
	snprintf(draft, sizeof(draft), "%s/draft", f->files.root);
	snprintf(path, sizeof(path), "%s/script", f->files.root);
	ck_assert_int_eq(rename(draft, path), 0);
}

struct call {
	char name[100];
	unsigned device;
	long long argument;
};

/* Returns how often a call was made, and the last one. */
static int read_log(const struct nvml_fixture *f, const char *call, struct call *last)
{
	char path[200];
	struct call read;
	FILE *log;
	int calls = 0;

	snprintf(path, sizeof(path), "%s/log", f->files.root);
	log = fopen(path, "re");
	if (!log)
		return 0;
	while (fscanf(log, "%99s %u %lld", read.name, &read.device, &read.argument) == 3) {
		if (strcmp(read.name, call) != 0)
			continue;
		*last = read;
		calls++;
	}
	fclose(log);
	return calls;
}

int nvml_fixture_calls(const struct nvml_fixture *f, const char *call)
{
	struct call last;

	return read_log(f, call, &last);
}

long long nvml_fixture_argument(const struct nvml_fixture *f, const char *call)
{
	struct call last = { .argument = -1 };

	read_log(f, call, &last);
	return last.argument;
}

void nvml_fixture_forget(struct nvml_fixture *f)
{
	fixture_write(&f->files, "log", "");
}
