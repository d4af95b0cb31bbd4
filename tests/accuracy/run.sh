#!/bin/bash
# SPDX-License-Identifier: MIT
# Measure how exact the figures of rtrack, GNU time and psutil are, and write
# docs/reports/accuracy.md. The raw figures go to build-accuracy/accuracy.json. As root, the trees
# are also run as an unprivileged user. Takes about twelve minutes. Options are those of
# accuracy.py. E.g.: --repeat 3.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# Meson and psutil are modules of the system's Python. Another python3 first in PATH may lack them.
export PATH=/usr/bin:/bin:$PATH
tests/support/packages.sh gcc libc6-dev meson ninja-build pkg-config check \
  python3 python3-psutil time
build=$PWD/build-accuracy
if [ ! -e "$build/build.ninja" ]; then
  meson setup "$build" --buildtype=debugoptimized -Dtests=enabled -Ddocs=disabled >/dev/null
fi
ninja -C "$build" accuracy >/dev/null

export RTRACK_SOURCE_ROOT=$PWD RTRACK_BUILD_ROOT=$build
export PYTHONPATH=$PWD/tests/support PYTHONDONTWRITEBYTECODE=1
exec python3 tests/accuracy/accuracy.py \
  --markdown docs/reports/accuracy.md --json "$build/accuracy.json" "$@"
