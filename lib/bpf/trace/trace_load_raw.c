/* SPDX-License-Identifier: MIT */
/* Loads the BPF programs that trace calls by raw tracepoints. */
#define RTI_TRACE_RAW
#include "bpf/trace/trace_load.c"
