#!/bin/bash
# SPDX-License-Identifier: MIT
# Install missing packages (Debian 12), build librtrack, and run rtrack on a real job: another build
# of librtrack.
set -euo pipefail
exec 2>&1 # summaries go to standard error: keep them in order with the other lines
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Meson needs the python3 of the system. Another python3, earlier in PATH, may lack its module.
export PATH=/usr/bin:/bin:$PATH

build=build
job=$build/quickstart-job
csv=$build/quickstart.csv
options=(--buildtype=release -Dtests=disabled -Ddocs=disabled)

say() {
  printf '\n== %s\n' "$*"
}

quietly() {
  "$@" >"$log" 2>&1 || { cat "$log"; exit 1; }
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

say "Install the build tools"
tests/support/packages.sh gcc libc6-dev meson ninja-build
echo "gcc $(gcc -dumpfullversion), meson $(meson --version), ninja $(ninja --version)"

say "Build librtrack and rtrack in $build/"
[ -f $build/build.ninja ] || quietly meson setup $build "${options[@]}"
quietly meson compile -C $build
rtrack=$build/examples/rtrack/rtrack
$rtrack --version

say "Run a job: the same build from scratch, sampled every 100 ms"
rm -rf $job
quietly meson setup $job "${options[@]}"
echo "\$ rtrack run -i 100ms -o $csv -- ninja --quiet -C $job"
$rtrack run -i 100ms -o $csv -- ninja --quiet -C $job

say "The time series in $csv"
awk -v cpus="$(nproc)" -f examples/series.awk $csv
examples/series_svg.py $csv >$build/quickstart.svg
echo "$build/quickstart.svg is a picture of it."

say "The whole system, five samples"
$rtrack system --count 5 -i 200ms -o $build/quickstart-system.csv

say "What is missing here, and what that costs"
$rtrack info
