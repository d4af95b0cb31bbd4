/* SPDX-License-Identifier: MIT */
/* What each kind of tracker has: its domains, its default ones, and the flags that it takes. */
#ifndef RTI_KIND_H
#define RTI_KIND_H

#include <stdbool.h>
#include <stdint.h>

/* RT_OPT_ bits that a kind of tracker takes; 0 for an unknown kind. */
uint32_t rti_kind_flags(uint32_t kind);

/* Whether two of these flags contradict each other. */
bool rti_flags_are_opposed(uint32_t flags);

/* What rt_domains() and rt_default_domains() return. */
uint64_t rti_kind_domains(uint32_t kind);
uint64_t rti_kind_default_domains(uint32_t kind);

/* RT_HAS_ bits that any kind of tracker has. */
uint64_t rti_known_domains(void);

#endif
