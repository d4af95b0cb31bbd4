#!/bin/bash
# SPDX-License-Identifier: MIT
# Count which lines and branches of lib/ the tests run: tests/coverage/run.sh [SUITE...]
# It takes half an hour. The default is the suites that docs/testing.md names. The counts of a suite
# stay in build-coverage/suites/SUITE.json, and the next run adds those of other suites to its own.
# Remove build-coverage after a change of lib/.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=/usr/bin:/bin:$PATH
build=$PWD/build-coverage
tests/support/packages.sh gcc libc6-dev meson ninja-build pkg-config check python3 gcovr
if [ ! -d "$build/meson-info" ]; then
  # The linker takes the one of the two that fits: one test is a 32-bit program.
  for bits in 64 32; do
    mkdir -p "$build/counts-$bits"
    gcc -m$bits -O2 -fPIC -fvisibility=hidden -c -o "$build/count_children.o" \
      tests/coverage/count_children.c || continue
    ar rcs "$build/counts-$bits/libcount_children.a" "$build/count_children.o"
  done
  meson setup "$build" -Db_coverage=true -Dtests=enabled -Dc_link_args="-Wl,--wrap=_exit \
    -Wl,--wrap=syscall -L$build/counts-64 -L$build/counts-32 -lcount_children -lgcov"
fi
ninja -C "$build" all meson-test-prereq
# Some tests run a program as another user, which may not write its counts, and look at stderr.
export GCOV_ERROR_FILE=/dev/null
mkdir -p "$build/suites"
[ $# -gt 0 ] || set -- unit component api live command
for suite in "$@"; do
  # A process that is killed or starved may spoil the counts so far, at worst those of its suite.
  find "$build" -name '*.gcda' -delete
  meson test -C "$build" --no-rebuild --suite "$suite" || true
  # Threads that count at the same time may leave a branch with a negative number.
  gcovr -r . --filter lib/ --gcov-ignore-parse-errors --json "$build/suites/$suite.json" "$build"
done
gcovr -r . --filter lib/ --print-summary $(printf -- ' --add-tracefile %s' "$build"/suites/*.json)
