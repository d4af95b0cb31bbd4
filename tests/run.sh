#!/bin/bash
# SPDX-License-Identifier: MIT
# Install the packages that the tests need (Debian 12), build, and run the tests:
#
#   tests/run.sh             the three commands of CONTRIBUTING.md: each fact once
#   tests/run.sh --full      what continuous integration runs
#     plain     the same, in a new build-dev
#     variants  the suite full, and all inputs of chance
#     asan      clang, AddressSanitizer and UndefinedBehaviorSanitizer: each fact once
#     tsan      clang, ThreadSanitizer: the tests that have threads
#     musl      the library and the examples with the musl C library
#     ilp32     the library and the examples for 32-bit systems, on x86-64, and the fuzz targets
#   tests/run.sh --release   what takes hours in sum, before a release
#     measures  the suite release: short forms of the benchmarks
#     loaded    the suites live, command and accuracy beside four busy loops for each CPU
#     one_cpu   the same on one CPU
#     foreign   the library and the examples for s390x, which is big-endian, and for ARM with 64
#               bits, under qemu
#     fuzz      the targets of libFuzzer: they are built
#     soak, accuracy, coverage, kernels   tests/NAME/run.sh
#     by_hand   says what it does not run, and why
#
# Names of parts after --full or --release select these. The last line has the numbers of passed,
# failed and skipped tests.
set -euo pipefail

packages=(
  gcc libc6-dev meson ninja-build pkg-config check # builds, unit tests
  python3 locales time # tests in Python, a locale with a comma, letters of a template
  strace               # traced calls, beside those of a trace
  git                  # which files are those of the project
)
full_packages=(
  clang llvm bpftool libbpf-dev         # the BPF plug-in
  g++ libclang-rt-14-dev musl-tools     # C++, sanitizers, another C library
  python3-psutil                        # reference figures
  bindfs                                # a file system that a process serves
  python3-pandas python3-jsonschema jq  # readers of series, checks of schemas
  python3-pyte less make vim-tiny       # a terminal emulator, and what runs in it
  fish zsh                              # completions
  valgrind                              # leaks of the command
  cargo rustfmt librust-pkg-config-dev  # Rust
  bindgen libclang-common-14-dev        # Rust: a generator, with its stddef.h
  python3-cffi swig                     # generators of bindings
  abigail-tools                         # ABI
  doxygen groff man-db mandoc           # documentation
  clang-format-14 reuse                 # style
)
release_packages=(
  libproc2-dev sysstat # contenders of the benchmarks
  qemu-user
  binutils-s390x-linux-gnu libc6-dev-s390x-cross libgcc-12-dev-s390x-cross
  libstdc++-12-dev-s390x-cross
  binutils-aarch64-linux-gnu libc6-dev-arm64-cross libgcc-12-dev-arm64-cross
  libstdc++-12-dev-arm64-cross
)
full=(plain variants asan tsan musl)
release=(measures loaded one_cpu foreign fuzz soak accuracy coverage kernels by_hand)

# A compiler for 32-bit systems. Debian has it on x86-64 alone.
[ "$(uname -m)" != x86_64 ] || { full+=(ilp32); full_packages+=(g++-multilib); }

main() {
  local part parts is_full=0

  case ${1-} in
  '') parts=(plain) ;;
  --full) is_full=1 parts=("${full[@]}") packages+=("${full_packages[@]}") ;;
  --release) parts=("${release[@]}") packages+=("${full_packages[@]}" "${release_packages[@]}") ;;
  *) usage ;;
  esac
  for part in "${@:2}"; do
    [[ " ${parts[*]} " = *" $part "* ]] || usage
  done
  [ $# -le 1 ] || parts=("${@:2}")

  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  # Meson is a module of the system's Python. Another python3 that is first in PATH may lack it.
  export PATH=/usr/bin:/bin:$PATH
  export MESON_TESTTHREADS=$((2 * $(nproc) + 1)) # many tests sleep most of the time
  mapfile -t commands < <(sed -n '/^## Build and test/,/^## /s/^    \(meson .*\)/\1/p' \
    CONTRIBUTING.md)
  scratch=$(mktemp -d)
  trap clean_up EXIT
  steps=$scratch/steps.tap
  builder=
  results=()
  under=() # what the tests run under

  step "packages" tests/support/packages.sh "${packages[@]}" || true
  set -m # a process group of its own
  build_beside "${parts[@]}" &
  builder=$!
  set +m
  for part in "${parts[@]}"; do
    "run_$part" || true
  done
  echo "1..$(wc -l <"$steps")" >>"$steps"
  echo
  python3 tests/support/tally.py "${results[@]}" steps="$steps"
}

clean_up() {
  stop_loops
  [ -z "$builder" ] || kill -- -$builder 2>/dev/null || true
  rm -rf "$scratch"
}

usage() {
  echo "usage: tests/run.sh [--full [PART]... | --release [PART]...]" >&2
  exit 2
}

# What is built meanwhile leaves the CPUs to the tests.
build_beside() {
  local part

  renice -n 19 $BASHPID >/dev/null
  for part; do
    ! declare -F "build_$part" >/dev/null || "build_$part" || true
  done
}

is_built() {
  wait $builder
  [ -e "$scratch/built-$1" ]
}

run_plain() {
  [ $is_full = 0 ] || rm -rf build-dev
  build_dev || return
  run_tests plain build-dev testlog ${commands[2]}
}

# The first two commands.
build_dev() {
  [ ! -e "$scratch/built-dev" ] || return 0
  step "${commands[0]}" ${commands[0]} &&
    step "${commands[1]}" without_warnings ${commands[1]} &&
    touch "$scratch/built-dev"
}

without_warnings() {
  "$@" 2>&1 | tee "$scratch/said" && ! grep -q 'warning:' "$scratch/said"
}

run_variants() {
  build_dev || return
  run_tests variants build-dev testlog-full meson test -C build-dev --setup full --suite full \
    --suite inputs
}

build_asan() {
  CC=clang CXX=clang++ \
    build asan --buildtype=debug -Dtests=enabled -Ddocs=disabled -Db_sanitize=address,undefined \
    -Db_lundef=false
}

run_asan() {
  is_built asan || return
  export ASAN_OPTIONS=halt_on_error=1:abort_on_error=1:detect_stack_use_after_return=1
  export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1
  run_tests asan build-asan testlog meson test -C build-asan --no-rebuild
  unset ASAN_OPTIONS UBSAN_OPTIONS
}

# Without random addresses: those of newer kernels are too random for the sanitizer of clang 14.
run_tsan() {
  local tests=(command_threads many_threads event_loop threads fork os/worker os/trace_ring
    os/forked_reap collect/sys_fs_stalled recorder
    recorder_host)

  export TSAN_OPTIONS=halt_on_error=1:exitcode=66
  if setarch -R true 2>/dev/null; then
    under=(setarch -R)
  fi
  CC=clang CXX=clang++ \
    configure tsan --buildtype=debug -Dtests=enabled -Ddocs=disabled -Db_sanitize=thread \
    -Db_lundef=false &&
    run_tests tsan build-tsan testlog meson test -C build-tsan "${tests[@]}"
  under=()
  unset TSAN_OPTIONS
}

# musl-gcc comes without kernel headers, and the library needs none.
build_musl() {
  CC=musl-gcc \
    build musl --buildtype=debug -Dtests=disabled -Ddocs=disabled -Ddefault_library=static
}

run_musl() {
  is_built musl || return
  step "musl: rtrack run" build-musl/examples/rtrack/rtrack run -- true
  step "musl: rtrack system" build-musl/examples/rtrack/rtrack system --count 1
}

# Without libcheck, which is not there for 32-bit programs: what is left of the tests are the fuzz
# targets.
build_ilp32() {
  CC='gcc -m32' CXX='g++ -m32' PKG_CONFIG_LIBDIR=/usr/lib/i386-linux-gnu/pkgconfig \
    build ilp32 --buildtype=debugoptimized -Dtests=auto -Ddocs=disabled
}

run_ilp32() {
  is_built ilp32 || return
  step "ilp32: rtrack run" build-ilp32/examples/rtrack/rtrack run -- true
  step "ilp32: rtrack system" build-ilp32/examples/rtrack/rtrack system --count 1
  run_tests ilp32 build-ilp32 testlog meson test -C build-ilp32 --no-rebuild
}

run_measures() {
  build_dev || return
  run_tests measures build-dev testlog-release meson test -C build-dev --setup release \
    --suite release
}

# A test that counts on a quiet machine fails here.
run_loaded() {
  build_dev || return
  start_loops $((4 * $(nproc)))
  run_with_time loaded
  stop_loops
}

run_one_cpu() {
  build_dev || return
  under=(taskset -c "$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')")
  run_with_time one_cpu
  under=()
}

run_with_time() {
  run_tests "$1" build-dev "$1-full" meson test -C build-dev --logbase "$1" --setup full \
    --suite live --suite command --suite accuracy
}

loops=()

# start_loops COUNT: each loop ends with this script, however that ends.
start_loops() {
  local number

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

run_fuzz() {
  CC=clang CXX=clang++ \
    configure fuzz --buildtype=debug -Dtests=enabled -Ddocs=disabled -Dfuzz=enabled &&
    step "fuzz: compile" ninja -k 0 -C build-fuzz fuzz
}

run_soak() {
  step "soak" tests/soak/run.sh
}

# The page of the project stays as it is.
run_accuracy() {
  step "accuracy" tests/accuracy/run.sh --markdown build-accuracy/accuracy.md
}

run_coverage() {
  step "coverage" tests/coverage/run.sh && tail -n 8 "$log"
}

# RTRACK_KERNELS has the paths of kernels, with blanks between them.
run_kernels() {
  [ -n "${RTRACK_KERNELS-}" ] || {
    echo "not run: tests/kernels/run.sh: RTRACK_KERNELS names no kernel"
    return
  }
  echo "== kernels"
  build_dev || return
  tests/kernels/run.sh build-dev $RTRACK_KERNELS | tee "$scratch/kernels.tap"
  grep -E '^(not )?ok' "$scratch/kernels.tap" >>"$steps"
}

# What a person runs and reads.
run_by_hand() {
  echo "not run: tests/bench/run.sh: it needs a quiet machine, and writes the page"
  echo "not run: tests/mutation/run.sh: it takes hours"
}

# build LABEL OPTION...: configure build-LABEL and compile it.
build() {
  configure "$@" && step "$1: compile" ninja -k 0 -C "build-$1" && touch "$scratch/built-$1"
}

configure() {
  rm -rf "build-$1"
  step "$1: configure" meson setup "build-$1" --werror "${@:2}"
}

# step NAME COMMAND...: run a command as one test. If it fails, print its output.
step() {
  log=$(mktemp "$scratch/log.XXXXXX")
  echo "== $1"
  if "${@:2}" >"$log" 2>&1; then
    echo "ok - $1" >>"$steps"
  else
    echo "not ok - $1" >>"$steps"
    cat "$log"
    return 1
  fi
}

# run_tests LABEL BUILD LOG COMMAND...: run tests, and print the output of those that fail. Without
# a log, none was run.
run_tests() {
  local log=$2/meson-logs/$3.json

  rm -f "$log"
  echo "== $1: ${*:4}"
  "${under[@]}" "${@:4}" --print-errorlogs || true
  if [ -e "$log" ]; then
    results+=("$1=$log")
  else
    step "$1: tests" false
  fi
}

main "$@"
