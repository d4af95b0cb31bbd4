#!/bin/bash
# SPDX-License-Identifier: MIT
# Measure the cost of a sample and of a command, and compare it with libproc2, psutil and sysstat.
# Writes docs/reports/benchmarks.md, .json and .svg. Takes ten minutes at most. The system should be
# idle: what there is no time for is left out, and the page says so.
# Options are those of bench.py: --quick runs a short form, --only WORD runs some of the scenarios.
# Neither writes anything.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# Meson and psutil are modules of the system's Python. Another python3 first in PATH may lack them.
export PATH=/usr/bin:/bin:$PATH
tests/support/packages.sh gcc libc6-dev meson ninja-build pkg-config check time \
  python3 python3-psutil libproc2-dev sysstat gnuplot-nox clang llvm bpftool libbpf-dev
build=$PWD/build-bench
installed=$build/installed
if [ ! -e "$build/build.ninja" ]; then
  meson setup "$build" --buildtype=release -Dtests=enabled -Ddocs=disabled >/dev/null
fi
meson configure "$build" -Dprefix="$installed"
ninja -C "$build" all bench >/dev/null
meson install -C "$build" --no-rebuild --quiet
# In the build directory, the loader looks for the library in some 20 places first.
export RTRACK_INSTALLED=$installed/bin/rtrack

export RTRACK_SOURCE_ROOT=$PWD RTRACK_BUILD_ROOT=$build
export PYTHONPATH=$PWD/tests/support PYTHONDONTWRITEBYTECODE=1
reports=docs/reports
write=(--markdown $reports/benchmarks.md --json $reports/benchmarks.json
  --chart $reports/benchmarks.svg)
[[ " $* " != *" --quick "* ]] || write=()
exec python3 tests/bench/bench.py "${write[@]}" "$@"
