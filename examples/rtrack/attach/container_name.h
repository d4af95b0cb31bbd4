/* SPDX-License-Identifier: MIT */
/* Names of containers, which are known to their engine alone. */
#ifndef CONTAINER_NAME_H
#define CONTAINER_NAME_H

#include <stdbool.h>

enum { CONTAINER_ID_BYTES = 65 };

/* Whether a word can be the name of a container, or its id. */
bool container_name_is_valid(const char *name);

/* Ask docker(1) and podman(1) for the id of a container. Returns false if neither knows it. */
bool container_name_ask(const char *name, char id[CONTAINER_ID_BYTES]);

#endif
