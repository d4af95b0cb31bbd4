/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/stat. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "parse/parse.h"
#include "parse/scan.h"

/* comm may contain anything, even parentheses and newlines. No field after it contains a ')', so it
 * ends at the last one. */
static bool parse_comm(struct rti_scan *s, char *out, size_t out_size)
{
	struct rti_scan comm;

	rti_scan_blanks(s);
	if (!rti_scan_literal(s, "("))
		return false;
	comm.at = s->at;
	comm.end = memrchr(s->at, ')', (size_t)(s->end - s->at));
	if (!comm.end)
		return false;
	rti_scan_copy(&comm, out, out_size);
	s->at = comm.end + 1;
	return true;
}

int rti_parse_pid_stat(const char *data, size_t len, struct rti_pid_stat *out)
{
	struct rti_scan s = rti_scan(data, len), state;

	if (!rti_scan_i32(&s, &out->pid) || !parse_comm(&s, out->comm, sizeof(out->comm)) ||
	    !rti_scan_word(&s, &state) || state.end - state.at != 1 ||
	    !rti_scan_i32(&s, &out->ppid))
		return -EBADMSG;
	out->state = *state.at;
	/* Skip tty_nr, tpgid. */
	if (!rti_scan_i32(&s, &out->pgrp) || !rti_scan_i32(&s, &out->session) ||
	    !rti_scan_skip_words(&s, 2) || !rti_scan_u64(&s, &out->flags) ||
	    !rti_scan_u64(&s, &out->minflt) || !rti_scan_u64(&s, &out->cminflt) ||
	    !rti_scan_u64(&s, &out->majflt) || !rti_scan_u64(&s, &out->cmajflt) ||
	    !rti_scan_u64(&s, &out->utime) || !rti_scan_u64(&s, &out->stime) ||
	    !rti_scan_clamped(&s, &out->cutime) || !rti_scan_clamped(&s, &out->cstime))
		return -EBADMSG;
	/* Skip priority, nice. */
	if (!rti_scan_skip_words(&s, 2) || !rti_scan_u64(&s, &out->num_threads))
		return -EBADMSG;
	/* From here on, fields may be missing. Skip itrealvalue, then vsize. */
	out->starttime = out->rss_pages = out->stack = 0;
	out->has_starttime = rti_scan_skip_words(&s, 1) && rti_scan_u64(&s, &out->starttime);
	if (!out->has_starttime || !rti_scan_skip_words(&s, 1) ||
	    !rti_scan_clamped(&s, &out->rss_pages))
		out->rss_pages = 0;
	/* Skip rsslim to endcode, kstkesp to blocked, then sigcatch to cnswap. */
	out->has_signals = rti_scan_skip_words(&s, 3) && rti_scan_u64(&s, &out->stack) &&
	                   rti_scan_skip_words(&s, 4) && rti_scan_u64(&s, &out->sigignore) &&
	                   rti_scan_skip_words(&s, 4) && rti_scan_i32(&s, &out->exit_signal);
	if (!out->has_signals || !rti_scan_i32(&s, &out->processor))
		out->processor = -1;
	return 0;
}

int rti_parse_pid_stat_exit_code(const char *data, size_t len, int *status)
{
	struct rti_scan s = rti_scan(data, len);
	int32_t pid, code;
	char comm[2];

	/* Skip state to env_end. */
	if (!rti_scan_i32(&s, &pid) || !parse_comm(&s, comm, sizeof(comm)) ||
	    !rti_scan_skip_words(&s, 49) || !rti_scan_i32(&s, &code))
		return -EBADMSG;
	*status = code;
	return 0;
}

int rti_parse_thread_is_ending(const char *data, size_t len, bool *is_ending)
{
	struct rti_scan s = rti_scan(data, len);
	uint64_t flags, pending;
	int32_t tid;
	char comm[2];

	/* Skip state to tpgid, then minflt to kstkeip. */
	if (!rti_scan_i32(&s, &tid) || !parse_comm(&s, comm, sizeof(comm)) ||
	    !rti_scan_skip_words(&s, 6) || !rti_scan_u64(&s, &flags) ||
	    !rti_scan_skip_words(&s, 21) || !rti_scan_u64(&s, &pending))
		return -EBADMSG;
	*is_ending = flags & RTI_PF_EXITING || pending >> (SIGKILL - 1) & 1;
	return 0;
}
