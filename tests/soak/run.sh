#!/bin/bash
# SPDX-License-Identifier: MIT
# Use the library for ten minutes, or for as many seconds as are given, and look at what only time
# shows: tests/soak/run.sh [SECONDS]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=/usr/bin:/bin:$PATH
tests/support/packages.sh gcc libc6-dev meson ninja-build pkg-config check python3 iproute2
[ -d build-soak ] || meson setup build-soak --buildtype=debugoptimized -Dtests=enabled
ninja -C build-soak all meson-test-prereq
export LD_LIBRARY_PATH=$PWD/build-soak/lib PYTHONPATH=$PWD/examples/python
build-soak/tests/soak/soak "${1:-600}"
python3 tests/soak/devices.py "${1:-600}" || [ $? = 77 ] # not run; it says why
