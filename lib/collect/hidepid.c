/* SPDX-License-Identifier: MIT */
/* Whether /proc is mounted so that it hides processes of other users. */
#include "collect/hidepid.h"

#include <string.h>

#include "parse/parse.h"
#include "parse/scan.h"
#include "util/visit.h"

struct search {
	const char *root;
	bool hides; /* by the last mount on /proc, which covers the ones before */
};

/* By number, or by name since Linux 5.8: fs/proc/root.c, proc_param_specs. hidepid=1 lists all. */
static bool has_hiding_option(struct rti_scan options)
{
	static const char *const hiding[] = { "hidepid=2", "hidepid=4", "hidepid=invisible",
		                              "hidepid=ptraceable" };
	struct rti_scan option;

	while (rti_scan_item(&options, &option)) {
		for (size_t i = 0; i < sizeof(hiding) / sizeof(hiding[0]); i++)
			if (rti_scan_is(&option, hiding[i]))
				return true;
	}
	return false;
}

static int check_mount(void *arg, const struct rti_mount *mount)
{
	struct search *search = arg;
	size_t len = strlen(search->root);

	if (strncmp(mount->mount_point, search->root, len) == 0 &&
	    strcmp(mount->mount_point + len, "/proc") == 0)
		search->hides =
		    strcmp(mount->type, "proc") == 0 && has_hiding_option(mount->super_options);
	return RTI_CONTINUE;
}

bool rti_proc_hides_processes(const struct rti_context *ctx)
{
	struct rti_mount mount;
	struct search search = { .root = ctx->procfs->root ? ctx->procfs->root : "" };

	if (rti_procfs_read(ctx->procfs, RTI_PROC, "self/mountinfo", RTI_SEQ_FILE, ctx->buf) < 0)
		return false;
	rti_parse_mountinfo(ctx->buf->data, ctx->buf->len, &mount, check_mount, &search);
	return search.hides;
}
