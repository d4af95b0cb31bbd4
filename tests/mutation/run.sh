#!/bin/bash
# SPDX-License-Identifier: MIT
# Break the library in many small ways, one at a time, and see whether a test notices:
#   tests/mutation/run.sh [--count N] [--seed S] [--seconds N] [--report FILE] [lib/FILE.c...]
# It takes hours: run it before a release. Results and builds stay in build-mutation, and the next
# run goes on with them if the sources are the same.
#
# First each test runs once, with counts of lines. Then two workers try the mutants, each with the
# tests that run the line: those that take a minute in sum at least. What hung is tried again alone.
#
# A mutant may do anything. So guard.c runs the tests, in a cgroup of their own that is all they see
# of /sys/fs/cgroup, in a copy of the sources.
set -euo pipefail

main() {
  cd "$(dirname "${BASH_SOURCE[0]}")/../.."
  export PATH=/usr/bin:/bin:/usr/sbin:/sbin
  if [ "${1-}" = --inside ]; then
    fence_in
    exec python3 tests/mutation/main.py "${@:2}"
  fi

  local work=$PWD/build-mutation step worker
  tests/support/packages.sh gcc libc6-dev meson ninja-build pkg-config check python3 \
    python3-clang-14 git
  mkdir -p "$work"
  prepare "$work"
  gcc -O2 -o "$work/guard" tests/mutation/guard.c
  find "$work" -name '*.claim' -path "$work/*/*" -not -path "$work/worker-*" -delete
  set -- --work "$work" --guard "$work/guard" "$@"
  if [ "$(id -u)" = 0 ]; then
    trap 'leave_cgroups' EXIT
  fi
  for step in reach mutants; do
    export RTRACK_INPUTS_PERCENT=100
    [ $step != reach ] || RTRACK_INPUTS_PERCENT=10 # counts of lines take ten times as long
    for ((worker = 0; worker < workers; worker++)); do
      fenced $worker --step $step --worker $worker "$@" &
    done
    wait
  done
  fenced 0 --step alone "$@" &
  wait
  python3 tests/mutation/main.py --step report "$@"
}

workers=2  # each with a copy of the sources, a build and a cgroup

# fenced WORKER ARGUMENT...
fenced() {
  if [ "$(id -u)" = 0 ]; then
    enter_cgroups "$1"
    unshare --mount --cgroup tests/mutation/run.sh --inside "${@:2}"
  else
    python3 tests/mutation/main.py "${@:2}"
  fi
}

# prepare WORK: copy the sources and build them, unless WORK has them as they are.
prepare() {
  local work=$1 now worker
  now=$(git ls-files -z ':!docs' ':!*.md' ':!tests/mutation' | xargs -0 sha256sum | sha256sum)
  [ "$now" != "$(cat "$work/stamp" 2>/dev/null)" ] || return 0
  rm -rf "${work:?}"/*
  mkdir "$work/source"
  git ls-files -z | xargs -0 cp --parents -t "$work/source"
  cp -r .git "$work/source"
  {
    for ((worker = 0; worker < workers; worker++)); do
      mkdir "$work/worker-$worker"
      cp -r "$work/source" "$work/worker-$worker"
      # Without line numbers, so that a change that changes nothing compiles to the same bytes.
      build "$work/worker-$worker/source" "$work/worker-$worker/build" --buildtype=plain \
        -Doptimization=1
    done
    build "$work/source" "$work/counting" --buildtype=debug -Db_coverage=true
  } >"$work/build.log" 2>&1 || { tail -20 "$work/build.log" >&2; exit 1; }
  echo "$now" >"$work/stamp"
}

# build SOURCE BUILD OPTION...
build() {
  meson setup "$2" "$1" -Dtests=enabled "${@:3}" && ninja -C "$2" all meson-test-prereq
}

name=mutation-$$

# enter_cgroups WORKER: move into a new cgroup of each hierarchy.
enter_cgroups() {
  local dir
  for dir in $(mounted_cgroups); do
    mkdir -p "$dir/$name-$1" 2>/dev/null || continue
    limit "$dir/$name-$1"
    { echo $BASHPID >"$dir/$name-$1/cgroup.procs"; } 2>/dev/null || true
  done
}

# limit CGROUP: a mutant may use up all memory, or fork for ever.
limit() {
  {
    echo 3G >"$1/memory.limit_in_bytes" || echo 3G >"$1/memory.max" || true
    echo 4000 >"$1/pids.max" || true
  } 2>/dev/null
}

mounted_cgroups() {
  awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/self/mounts
}

# Whatever still runs in ours is killed first, e.g. after Ctrl-C.
leave_cgroups() {
  local dir tries pids
  for dir in $(mounted_cgroups | sed "s|$|/$name-|"); do
    for ((tries = 0; tries < 100; tries++)); do
      compgen -G "$dir*" >/dev/null || break
      pids=$(find "$dir"* -name cgroup.procs -exec cat {} + 2>/dev/null | grep -vx 0 || true)
      [ -z "$pids" ] || xargs kill -KILL <<<"$pids" 2>/dev/null || true
      find "$dir"* -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.05
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
