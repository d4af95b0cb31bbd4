#!/bin/sh
# SPDX-License-Identifier: MIT
# Record the ABI of the current release as the baseline for later comparisons. Writes a copy of the
# headers, the layout assertions and, for the architecture of this system, the ABI dump of abidw.
#
# Usage: update-baseline.sh BUILD_DIRECTORY
# The build needs debug information and no sanitizers.
set -eu

build=${1:?usage: $0 BUILD_DIRECTORY}
here=$(cd "$(dirname "$0")" && pwd)
include=$here/../../include/rtrack
library=$(readlink -f "$build/lib/librtrack.so")
number() { sed -n "s/^#define RT_VERSION_$1 //p" "$build/include/rtrack/version.h"; }
headers=$here/headers/$(number MAJOR).$(number MINOR)/rtrack

mkdir -p "$headers" "$here/baseline"
cp "$include/rtrack.h" "$build/include/rtrack/version.h" "$headers/"
PYTHONDONTWRITEBYTECODE=1 python3 "$here/layout.py" "$include/rtrack.h" >"$here/layout_lp64.h"

# Record only public declarations, and no paths of the library, its sources or the build directory.
abidw --exported-interfaces-only --headers-dir "$include" --drop-private-types \
  --type-id-style hash --no-corpus-path --no-comp-dir-path --no-show-locs "$library" |
  sed "s| path='[^']*/lib/| path='lib/|" >"$here/baseline/librtrack-$(uname -m).abi"
