/* SPDX-License-Identifier: MIT */
/* Opens a shared library at run time, by name. E.g.: that of a driver, which few systems have. */
#ifndef RTI_MODULE_H
#define RTI_MODULE_H

#include <stddef.h>

/* Open a library. name is looked for as ld.so(8) does, or is a path. Returns 0; -ENOENT if there is
 * none, or the program is linked statically, which would get a second C library. */
int rti_module_open(const char *name, void **out);

/* Find a function and store its address in *function, which is a pointer to a function. Stores NULL
 * if the library has none of that name. */
void rti_module_function(void *module, const char *name, void *function);

/* NULL is allowed. */
void rti_module_close(void *module);

#endif
