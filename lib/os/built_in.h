/* SPDX-License-Identifier: MIT */
/* What this program contains of the files that the library looks for otherwise. */
#ifndef RTI_BUILT_IN_H
#define RTI_BUILT_IN_H

#include <stdbool.h>
#include <stddef.h>

/* What a plug-in exports. */
struct rti_built_in_module {
	const char *entry; /* NULL ends a list */
	const void *ops;
};

struct rti_built_in {
	bool is_helper; /* the program itself takes the arguments of the helpers */
	/* A program file that does; NULL: there is none. */
	const unsigned char *file, *file_end;
	const struct rti_built_in_module *modules; /* NULL: none */
};

/* One file of lib/built_in/ has it: none.c in the shared library, archive.c in the static one. */
extern const struct rti_built_in rti_built_in;

#endif
