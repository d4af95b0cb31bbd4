/* SPDX-License-Identifier: MIT */
/* Opens a shared library at run time, by name. E.g.: the library of a driver, which few systems
 * have. */
#ifndef RTI_LIBRARY_H
#define RTI_LIBRARY_H

#include <stddef.h>

/* Open a library. name is looked for as ld.so(8) does, or is a path. Returns 0; -EMFILE, -ENFILE or
 * -ENOMEM; or -ENOENT if there is none, or the program is linked statically, which would get a
 * second C library. */
int rti_library_open(const char *name, void **out);

/* Returns the address of an object, or NULL if the library has none of that name. */
const void *rti_library_symbol(void *library, const char *name);

/* Find a function and store its address in *function, which is a pointer to a function. Stores NULL
 * if the library has none of that name. */
void rti_library_function(void *library, const char *name, void *function);

/* NULL is allowed. */
void rti_library_close(void *library);

#endif
