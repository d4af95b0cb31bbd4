#!/bin/bash
# SPDX-License-Identifier: MIT
# Count which lines and branches of lib/ the tests run: tests/coverage/run.sh [SUITE...]
# It takes half an hour. The default is the suites that docs/reports/testing.md names. The counts of
# a suite stay in build-coverage/suites/SUITE.json, and the next run adds those of other suites to
# its own. Remove build-coverage after a change of lib/.
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

# A process that is killed or starved may spoil the counts so far: those of its test, at worst.
cat >"$build/apart" <<END
#!/bin/bash
GCOV_PREFIX=\$(mktemp -d "$build/counts/XXXXXX") exec "\$@"
END
chmod +x "$build/apart"

# Add the counts of all tests, and put them where gcovr looks for them. There are those of programs
# that were started without the variable, too. E.g.: the tracer.
add_counts() {
  local sum=$build/counts/sum test
  mkdir -p "$build/counts/rest$build"
  (cd "$build" && find . -path ./counts -prune -o -name '*.gcda' -print0 |
    tar --null -T - -c) | tar -x -C "$build/counts/rest$build"
  for test in "$build"/counts/*"$build"; do
    if [ ! -d "$sum" ]; then
      cp -r "$test" "$sum"
    elif gcov-tool merge -o "$sum.next" "$sum" "$test" >/dev/null 2>&1; then
      rm -r "$sum"
      mv "$sum.next" "$sum"
    else
      echo "The counts of a test are spoilt and left out." >&2
      rm -rf "$sum.next"
    fi
  done
  cp -r "$sum/." "$build"
  rm -r "$build/counts" # gcovr would add them once more
}

for suite in "$@"; do
  find "$build" -name '*.gcda' -delete
  rm -rf "$build/counts"
  mkdir "$build/counts"
  meson test -C "$build" --no-rebuild --wrapper "$build/apart" --suite "$suite" || true
  add_counts
  # Threads that count at the same time may leave a branch with a negative number.
  gcovr -r . --filter lib/ --gcov-ignore-parse-errors --json "$build/suites/$suite.json" "$build"
done
gcovr -r . --filter lib/ --print-summary $(printf -- ' --add-tracefile %s' "$build"/suites/*.json)
