/* SPDX-License-Identifier: MIT */
/* The command lines and working directories of processes, as BPF programs have sent them. */
#ifndef RTI_BPF_TEXTS_H
#define RTI_BPF_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/account/account.h"
#include "os/protocol/supervisor_protocol.h"

/* What the processes have that share one text. */
struct rti_bpf_text {
	struct rti_record_text command, cwd; /* a length of 0: not known */
	bool is_cut;                         /* the command line; if it is empty: no room for it */
};

/* Written by bpf_texts.c only. */
struct rti_bpf_texts {
	struct rti_bpf_text *of_number; /* by the number of a text */
	size_t numbers, number_capacity;
	char *bytes;
	size_t used, capacity;
	struct rti_record_text last_cwd; /* mostly the next text has it, too */
};

/* Keep a text. If memory is short or RTI_TEXT_BYTES_MAX is reached, it is cut to nothing. */
void rti_bpf_texts_keep(struct rti_bpf_texts *texts, const struct rti_account_text *text);

/* Returns the text with a number, which is empty if it is not known. */
struct rti_bpf_text rti_bpf_texts_find(const struct rti_bpf_texts *texts, uint32_t number);

/* Returns the bytes, which the caller then owns. NULL: there are none. */
char *rti_bpf_texts_release(struct rti_bpf_texts *texts);

/* Texts that are all 0 are fine. */
void rti_bpf_texts_free(struct rti_bpf_texts *texts);

#endif
