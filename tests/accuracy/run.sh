#!/bin/bash
# SPDX-License-Identifier: MIT
# Measure how exact the figures of rtrack are, beside GNU time and psutil, and write the tables of docs/accuracy.md. The
# figures themselves go to build-accuracy/accuracy.json. As root the trees are also run by an unprivileged user. Takes
# about four minutes; options are those of accuracy.py, such as --repeat 3.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# Meson and psutil are modules of the system's own Python; another python3 that comes first may lack them.
export PATH=/usr/bin:/bin:$PATH
tests/support/packages.sh gcc libc6-dev meson ninja-build pkg-config check python3 python3-psutil time
build=$PWD/build-accuracy
if [ ! -e "$build/build.ninja" ]; then
  meson setup "$build" --buildtype=debugoptimized -Dtests=enabled -Ddocs=disabled >/dev/null
fi
ninja -C "$build" accuracy lib/rtrack-supervisor >/dev/null

export RTRACK_SOURCE_ROOT=$PWD RTRACK_BUILD_ROOT=$build PYTHONPATH=$PWD/tests/support PYTHONDONTWRITEBYTECODE=1
exec python3 tests/accuracy/accuracy.py --markdown docs/accuracy.md --json "$build/accuracy.json" "$@"
