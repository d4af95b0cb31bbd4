#!/bin/sh
# SPDX-License-Identifier: MIT
# Records the ABI of the release under way, to be compared with from then on: the copy of its headers, the assertions of
# its layout and, for the machine that this runs on, its ABI as abidw sees it.
#
# Usage: update-baseline.sh BUILD_DIRECTORY   (a build with debug information and without sanitizers)
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

# Only what is public, and no paths: neither of the library, nor of its sources, nor of this machine.
abidw --exported-interfaces-only --headers-dir "$include" --drop-private-types --type-id-style hash \
  --no-corpus-path --no-comp-dir-path --no-show-locs "$library" |
  sed "s| path='[^']*/lib/| path='lib/|" >"$here/baseline/librtrack-$(uname -m).abi"
