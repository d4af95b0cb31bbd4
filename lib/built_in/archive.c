/* SPDX-License-Identifier: MIT */
/* The static library contains its supervisor and its tracer, as one program file: the program that
 * it is linked to may be copied anywhere, and has no directory of its own that can be relied on.
 *
 * They are executed, and not forked: a program inherits the peak memory of the process that
 * executes it. */
#include "os/built_in.h"

#include "helpers_file.h"

__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        "rti_helpers_file: .incbin \"" RTI_HELPERS_FILE "\"\n"
        "rti_helpers_file_end: .byte 0\n"
        ".popsection\n");
extern const unsigned char rti_helpers_file[], rti_helpers_file_end[];

const struct rti_built_in rti_built_in = { .file = rti_helpers_file,
	                                   .file_end = rti_helpers_file_end };
