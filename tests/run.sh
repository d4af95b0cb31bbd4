#!/bin/bash
# SPDX-License-Identifier: MIT
# Install the packages that the tests need (Debian 12), build, and run all tests:
#   plain   gcc, warnings are errors
#   asan    clang, warnings are errors, AddressSanitizer and UndefinedBehaviorSanitizer
#   tsan    clang, ThreadSanitizer: the tests that have threads
#   musl    the library and the examples with the musl C library
#   ilp32   the library and the examples for 32-bit systems, on x86-64, and the fuzz targets
# The last line has the numbers of passed, failed and skipped tests. --quick stops after plain.
#
# What takes longer, or needs more packages, is run by itself, before a release:
#   --loaded   the suites live, command and accuracy beside four busy loops for each CPU, and then
#              on one CPU
#   --foreign  the library and the examples for s390x, which is big-endian, and for ARM with 64
#              bits, under qemu
set -euo pipefail

packages=(
  gcc g++ libc6-dev meson ninja-build pkg-config check # builds, unit tests
  python3 python3-psutil time locales # tests in Python, reference figures, a locale with comma
  python3-pandas python3-jsonschema jq                 # readers of series, checks of schemas
  strace                                               # traced calls, beside those of a trace
  python3-pyte less make vim-tiny # a terminal emulator, and what runs in it
  fish zsh                        # completions
  cargo rustfmt librust-pkg-config-dev                 # Rust
  bindgen libclang-common-14-dev                       # Rust: a generator, with its stddef.h
  python3-cffi swig                                    # generators of bindings
  abigail-tools binutils                               # ABI
  doxygen groff man-db mandoc                          # documentation
  git clang-format-14 reuse                            # style
)
thorough_packages=(clang libclang-rt-14-dev llvm musl-tools bpftool libbpf-dev libproc2-dev sysstat
  valgrind)

# A compiler for 32-bit systems. Debian has it on x86-64 alone.
has_ilp32=0
[ "$(uname -m)" != x86_64 ] || { has_ilp32=1; thorough_packages+=(g++-multilib); }

foreign_packages=(
  clang qemu-user
  binutils-s390x-linux-gnu libc6-dev-s390x-cross libgcc-12-dev-s390x-cross
  libstdc++-12-dev-s390x-cross
  binutils-aarch64-linux-gnu libc6-dev-arm64-cross libgcc-12-dev-arm64-cross
  libstdc++-12-dev-arm64-cross
)

main() {
  local part parts

  case "$*" in
  '')
    packages+=("${thorough_packages[@]}")
    parts=(run_plain run_asan run_tsan run_musl)
    [ $has_ilp32 = 0 ] || parts+=(run_ilp32)
    ;;
  --quick) parts=(run_plain) ;;
  --loaded) packages+=("${thorough_packages[@]}") parts=(run_loaded) ;;
  --foreign) packages+=("${foreign_packages[@]}") parts=(run_foreign) ;;
  *) echo "usage: tests/run.sh [--quick | --loaded | --foreign]" >&2; exit 2 ;;
  esac
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  # Meson is a module of the system's Python. Another python3 that is first in PATH may lack it.
  export PATH=/usr/bin:/bin:$PATH
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  steps=$scratch/steps.tap
  results=()
  under=()        # what the tests run under
  needed_tests=() # names; none: all that were built

  step "packages" tests/support/packages.sh "${packages[@]}" || true
  for part in "${parts[@]}"; do
    "$part" || true
  done
  echo "1..$(wc -l <"$steps")" >>"$steps"
  echo
  python3 tests/support/tally.py "${results[@]}" steps="$steps"
}

run_plain() {
  build plain --buildtype=debugoptimized -Dtests=enabled && run_tests plain
}

# Skip the suites consumers, docs and style: they do not depend on the compiler or the sanitizers.
# Skip accuracy and bench: they judge figures, by the code that the suites live and command run.
# The suite supervised has tests of other suites once more, with a supervisor of its own.
run_asan() {
  export CC=clang CXX=clang++
  export ASAN_OPTIONS=halt_on_error=1:abort_on_error=1:detect_stack_use_after_return=1
  export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1
  build asan --buildtype=debug -Dtests=enabled -Ddocs=disabled -Dfuzz=enabled \
    -Db_sanitize=address,undefined -Db_lundef=false &&
    run_tests asan --no-suite consumers --no-suite docs --no-suite style --no-suite supervised \
      --no-suite accuracy --no-suite bench
  unset CC CXX ASAN_OPTIONS UBSAN_OPTIONS
}

# Without random addresses: those of newer kernels are too random for the sanitizer of clang 14.
run_tsan() {
  local tests=(command_threads many_threads event_loop threads fork os/worker os/trace_ring
    os/forked_reap collect/sys_fs_stalled)

  export CC=clang CXX=clang++ TSAN_OPTIONS=halt_on_error=1:exitcode=66
  if setarch -R true 2>/dev/null; then
    under=(setarch -R)
  fi
  needed_tests=("${tests[@]}")
  build tsan --buildtype=debug -Dtests=enabled -Ddocs=disabled -Db_sanitize=thread \
    -Db_lundef=false &&
    run_tests tsan "${tests[@]}"
  needed_tests=()
  under=()
  unset CC CXX TSAN_OPTIONS
}

# musl-gcc comes without kernel headers, and the library needs none.
run_musl() {
  CC=musl-gcc \
    build musl --buildtype=debug -Dtests=disabled -Ddocs=disabled -Ddefault_library=static &&
    step "musl: rtrack run" build-musl/examples/rtrack/rtrack run -- true &&
    step "musl: rtrack system" build-musl/examples/rtrack/rtrack system --count 1
}

# Without libcheck, which is not there for 32-bit programs: what is left of the tests are the fuzz
# targets, with a tenth of their inputs.
run_ilp32() {
  export RTRACK_FUZZ_RUNS=100000
  CC='gcc -m32' CXX='g++ -m32' PKG_CONFIG_LIBDIR=/usr/lib/i386-linux-gnu/pkgconfig \
    build ilp32 --buildtype=debugoptimized -Dtests=auto -Ddocs=disabled &&
    step "ilp32: rtrack run" build-ilp32/examples/rtrack/rtrack run -- true &&
    step "ilp32: rtrack system" build-ilp32/examples/rtrack/rtrack system --count 1 &&
    run_tests ilp32
  unset RTRACK_FUZZ_RUNS
}

# A test that counts on a quiet machine fails here.
run_loaded() {
  local suites=(--suite live --suite command --suite accuracy --no-suite supervised) one_cpu

  build loaded --buildtype=debugoptimized -Dtests=enabled || return
  start_loops $((4 * $(nproc)))
  run_tests loaded "${suites[@]}" --logbase beside-loops
  stop_loops
  one_cpu=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
  under=(taskset -c "$one_cpu")
  run_tests loaded "${suites[@]}" --logbase on-one-cpu
  under=()
}

loops=()

# start_loops COUNT: each loop ends with this script, however that ends.
start_loops() {
  local number

  trap 'stop_loops; rm -rf "$scratch"' EXIT
  for ((number = 0; number < $1; number++)); do
    setpriv --pdeathsig KILL sh -c 'while :; do :; done' &
    loops+=($!)
  done
}

stop_loops() {
  [ ${#loops[@]} = 0 ] || kill "${loops[@]}" 2>/dev/null
  wait "${loops[@]}" 2>/dev/null || true
  loops=()
}

run_foreign() {
  local machine

  for machine in s390x aarch64; do
    run_foreign_machine $machine || true
  done
}

# qemu lacks some system calls, and the supervisor cannot be executed: figures have marks here.
run_foreign_machine() {
  local machine=$1 rtrack=build-$1/examples/rtrack/rtrack

  build "$machine" --buildtype=debug -Dtests=disabled -Ddocs=disabled \
    --cross-file "tests/foreign/$machine.ini" || return
  step "$machine: layout of structs" clang --target="$machine-linux-gnu" -fsyntax-only -Iinclude \
    -I"build-$machine/include" -include rtrack/rtrack.h -x c tests/abi/layout_lp64.h
  step "$machine: rtrack run" exits_with 7 "qemu-$machine" "$rtrack" run -- sh -c 'exit 7'
  step "$machine: rtrack attach" "qemu-$machine" "$rtrack" attach --count 2 -i 50ms $$
  step "$machine: rtrack system" "qemu-$machine" "$rtrack" system --count 1
  step "$machine: rtrack rusage" "qemu-$machine" "$rtrack" rusage
}

# exits_with CODE COMMAND...
exits_with() {
  local code=0

  "${@:2}" || code=$?
  [ $code = "$1" ]
}

# build LABEL OPTION...: configure build-LABEL and compile it.
build() {
  local label=$1 dir=build-$1

  shift
  rm -rf "$dir"
  step "$label: configure" meson setup "$dir" --werror "$@" &&
    step "$label: compile" compile "$dir"
}

# compile BUILD: what the tests of needed_tests need, or all if there are none in it.
compile() {
  local targets=(all meson-test-prereq) found

  if [ ${#needed_tests[@]} != 0 ]; then
    found=$(python3 tests/support/needed.py "$1" "${needed_tests[@]}") || return
    mapfile -t targets <<<"$found"
  fi
  ninja -k 0 -C "$1" "${targets[@]}"
}

# step NAME COMMAND...: run a command as one test. If it fails, print its output.
step() {
  echo "== $1"
  if "${@:2}" >"$scratch/log" 2>&1; then
    echo "ok - $1" >>"$steps"
  else
    echo "not ok - $1" >>"$steps"
    cat "$scratch/log"
    return 1
  fi
}

# run_tests LABEL MESON-OPTION...: run the tests, and print the output of failed tests. The last
# option may be `--logbase NAME`, if one build has several runs. Many tests sleep most of the time,
# so one more than there are CPUs runs at a time.
run_tests() {
  local log=testlog jobs=$(($(nproc) + 1))

  [ "${*: -2:1}" != --logbase ] || log=${*: -1}
  echo "== $1: tests"
  "${under[@]}" meson test -C "build-$1" --no-rebuild --print-errorlogs \
    --num-processes $jobs "${@:2}" || true
  results+=("$1=build-$1/meson-logs/$log.json")
}

main "$@"
