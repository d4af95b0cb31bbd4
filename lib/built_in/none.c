/* SPDX-License-Identifier: MIT */
/* The shared library contains none of its helpers: they are files beside it. */
#include "os/built_in.h"

const struct rti_built_in rti_built_in = { 0 };
