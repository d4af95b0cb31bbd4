#!/bin/sh
# SPDX-License-Identifier: MIT
# Generate rtrack-sys/src/bindings.rs from the installed header, with bindgen 0.60.
set -eu

cd "$(dirname "$0")"
bindgen --no-doc-comments --no-layout-tests --with-derive-default --size_t-is-usize \
  --allowlist-function 'rt_.*' --allowlist-type 'rt_.*' --allowlist-var 'RT_.*' \
  --blocklist-item 'RT_(RUSAGE|HAS|VERSION)_.*' \
  "$(pkg-config --variable=includedir rtrack)/rtrack/rtrack.h" -- $(pkg-config --cflags rtrack) \
  >"${1:-rtrack-sys/src/bindings.rs}"
