#!/bin/sh
# SPDX-License-Identifier: MIT
# Record the ABI of a release when it is made. Writes a copy of the headers and of the version
# script, the layout assertions and, for the architecture of this system, the ABI dump of abidw.
# What is recorded of a release stays as it is: on another architecture only the dump is added.
#
# Usage: update-baseline.sh BUILD_DIRECTORY
# The build needs debug information and no sanitizers.
set -eu

build=${1:?usage: $0 BUILD_DIRECTORY}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
include=$root/include/rtrack
library=$(readlink -f "$build/lib/librtrack.so")
number() { sed -n "s/^#define RT_VERSION_$1 //p" "$build/include/rtrack/version.h"; }
release=$(number MAJOR).$(number MINOR)
headers=$here/headers/$release/rtrack
baseline=$here/baseline/$release
dump=$baseline/librtrack-$(uname -m).abi

# record FILE COPY: copy a file, or check that the copy is the same.
record() {
  if [ ! -e "$2" ]; then
    cp "$1" "$2"
  elif ! cmp -s "$1" "$2"; then
    echo "$0: $2 is recorded already, and $1 differs from it" >&2
    exit 1
  fi
}

if [ -e "$dump" ]; then
  echo "$0: $dump is recorded already" >&2
  exit 1
fi
mkdir -p "$headers" "$baseline"
for file in "$include"/*.h; do
  record "$file" "$headers/$(basename "$file")"
done
record "$build/include/rtrack/version.h" "$headers/version.h"
record "$root/lib/librtrack.map" "$baseline/librtrack.map"
PYTHONDONTWRITEBYTECODE=1 python3 "$here/layout.py" "$include/rtrack.h" >"$here/layout_lp64.h"

# Record only public declarations, and no paths of the library, its sources or the build directory.
abidw --exported-interfaces-only --headers-dir "$include" --drop-private-types \
  --type-id-style hash --no-corpus-path --no-comp-dir-path --no-show-locs "$library" |
  sed "s| path='[^']*/lib/| path='lib/|" >"$dump.part"
mv "$dump.part" "$dump"
