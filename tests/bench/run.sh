#!/bin/bash
# SPDX-License-Identifier: MIT
# Measure what a sample and a command cost, beside libproc2, psutil and sysstat, and write docs/benchmarks.md, .json and
# .svg. Takes about nine minutes, during which the machine should have nothing else to do. Options are those of
# bench.py: --quick for the short form, --only WORD for some of it; neither writes anything.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# Meson and psutil are modules of the system's own Python; another python3 that comes first may lack them.
export PATH=/usr/bin:/bin:$PATH
tests/support/packages.sh gcc libc6-dev meson ninja-build pkg-config check time \
  python3 python3-psutil libproc2-dev sysstat gnuplot-nox clang llvm bpftool libbpf-dev
build=$PWD/build-bench
if [ ! -e "$build/build.ninja" ]; then
  meson setup "$build" --buildtype=release -Dtests=enabled -Ddocs=disabled >/dev/null
fi
ninja -C "$build" all bench >/dev/null

export RTRACK_SOURCE_ROOT=$PWD RTRACK_BUILD_ROOT=$build PYTHONPATH=$PWD/tests/support PYTHONDONTWRITEBYTECODE=1
write=(--markdown docs/benchmarks.md --json docs/benchmarks.json --chart docs/benchmarks.svg)
[[ " $* " != *" --quick "* ]] || write=()
exec python3 tests/bench/bench.py "${write[@]}" "$@"
