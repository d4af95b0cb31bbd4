#!/bin/bash
# SPDX-License-Identifier: MIT
# Break the library in many small ways, one at a time, and see whether a test notices:
#   tests/mutation/run.sh [--count N] [--seed S] [--seconds N] [--report FILE] [lib/FILE.c...]
# It takes hours: run it before a release. Results and builds stay in build-mutation, and the next
# run uses them if the sources are the same.
#
# A mutant may do anything. So guard.c runs the tests, in a cgroup of their own that is all they see
# of /sys/fs/cgroup, in a copy of the sources.
set -euo pipefail

main() {
  cd "$(dirname "${BASH_SOURCE[0]}")/../.."
  export PATH=/usr/bin:/bin:/usr/sbin:/sbin
  if [ "${1-}" = --inside ]; then
    fence_in "$2"
    exec python3 tests/mutation/main.py --work "$2" --guard "$2/guard" "${@:3}"
  fi

  local work=$PWD/build-mutation
  tests/support/packages.sh gcc libc6-dev meson ninja-build pkg-config check python3 \
    python3-clang-14 git
  mkdir -p "$work"
  prepare "$work"
  gcc -O2 -o "$work/guard" tests/mutation/guard.c
  if [ "$(id -u)" = 0 ]; then
    trap 'leave_cgroups' EXIT
    enter_cgroups
    unshare --mount --cgroup "$0" --inside "$work" "$@"
  else
    python3 tests/mutation/main.py --work "$work" --guard "$work/guard" "$@"
  fi
}

# prepare WORK: copy the sources and build them twice, unless WORK has them as they are.
prepare() {
  local work=$1 now
  now=$(git ls-files -z | xargs -0 sha256sum 2>/dev/null | sha256sum)
  [ "$now" != "$(cat "$work/stamp" 2>/dev/null)" ] || return 0
  rm -rf "${work:?}"/*
  mkdir "$work/source"
  git ls-files -z | xargs -0 cp --parents -t "$work/source"
  cp -r .git "$work/source"
  (
    cd "$work/source"
    meson setup "$work/counting" --buildtype=debug -Dtests=enabled -Db_coverage=true
    ninja -C "$work/counting" all meson-test-prereq
    # Without line numbers, so that a change that changes nothing compiles to the same bytes.
    meson setup "$work/build" --buildtype=plain -Doptimization=1 -Dtests=enabled
    ninja -C "$work/build" all meson-test-prereq
  ) >"$work/build.log" 2>&1 || { tail -20 "$work/build.log" >&2; exit 1; }
  echo "$now" >"$work/stamp"
}

name=mutation-$$

# Move into a new cgroup of each hierarchy.
enter_cgroups() {
  local dir
  for dir in $(mounted_cgroups); do
    if mkdir "$dir/$name" 2>/dev/null; then
      limit "$dir/$name"
      echo $$ >"$dir/$name/cgroup.procs" || true
    fi
  done
}

# limit CGROUP: a mutant may use up all memory, or fork for ever.
limit() {
  echo 3G >"$1/memory.limit_in_bytes" 2>/dev/null || echo 3G >"$1/memory.max" 2>/dev/null || true
  echo 4000 >"$1/pids.max" 2>/dev/null || true
}

mounted_cgroups() {
  awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/self/mounts
}

# Whatever still runs in ours is killed first, e.g. after Ctrl-C.
leave_cgroups() {
  local dir tries pids
  for dir in $(mounted_cgroups); do
    echo $$ >"$dir/cgroup.procs" 2>/dev/null || true
  done
  for dir in $(mounted_cgroups); do
    for ((tries = 0; tries < 100; tries++)); do
      [ -d "$dir/$name" ] || break
      pids=$(find "$dir/$name" -name cgroup.procs -exec cat {} + 2>/dev/null | grep -vx 0 || true)
      [ -z "$pids" ] || xargs kill -KILL <<<"$pids" 2>/dev/null || true
      find "$dir/$name" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.05
    done
  done
}

# In the new namespaces: mount each hierarchy again, which shows our cgroup as the root.
fence_in() {
  local type where options
  mount --make-rprivate /
  awk '$3 == "cgroup" || $3 == "cgroup2" { print $3, $2, $4 }' /proc/self/mounts |
    while read -r type where options; do
      umount "$where" 2>/dev/null && mount -t "$type" -o "$options" none "$where" || true
    done
}

main "$@"
