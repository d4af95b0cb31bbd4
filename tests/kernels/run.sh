#!/bin/bash
# SPDX-License-Identifier: MIT
# Load the BPF programs on other kernels, and run their tests there: in a virtual machine of QEMU,
# with an initramfs that has the tests and what they link. Not part of the test suites.
#
#   tests/kernels/run.sh BUILD VMLINUZ...
#
# BUILD is a build directory with the tests. The kernels need BTF; modules are not loaded.
# E.g. of Debian: apt-get download linux-image-6.1.0-50-cloud-amd64-unsigned, and dpkg -x.
# Needs qemu-system-x86_64 (or QEMU: a command) and busybox-static (or BUSYBOX: its path). Without
# KVM it takes some minutes; with WITHOUT_KVM=1 it does without, where KVM cannot run a kernel.
set -euo pipefail

tests=(
  component/component-bpf-exec_peaks
  component/component-bpf-missed_frees
  component/component-bpf-rows
  component/component-bpf-trace_plugin
  component/component-bpf-tree_account
  component/component-tree-watched
  live/live-attach_account
  live/live-command_bpf
  live/live-command_bpf_texts
  live/live-trace_bpf_calls
)
caller=live/live-caller # the program that a test of traced calls starts: its first argument
limit_s=1800            # of one kernel

main() {
  local build=$1 qemu=${QEMU:-qemu-system-x86_64} busybox=${BUSYBOX:-/bin/busybox} kernel
  shift

  command -v "${qemu%% *}" >/dev/null || skip "there is no ${qemu%% *}"
  [ -x "$busybox" ] || skip "there is no $busybox"
  ! ldd "$busybox" >/dev/null 2>&1 || skip "$busybox is not linked statically"
  build=$(realpath "$build")
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  make_initramfs "$build" "$busybox" "$work"
  for kernel; do
    echo "== $kernel"
    boot "$qemu" "$kernel" "$work/initramfs" |
      grep --line-buffered -aE '^(Linux|==|ok|not ok|1\.\.|Bail)' ||
      echo "not ok: it did not run the tests"
  done
}

skip() {
  echo "1..0 # SKIP $1"
  exit 77
}

# Each file has the path that it has here, so that run paths hold.
copy() {
  local file

  for file; do
    [ -e "$root$file" ] || cp --parents -L "$file" "$root"
  done
}

libraries_of() {
  ldd "$@" | grep -o '/[^ ]*' | grep -v ':$' | xargs realpath -s | sort -u
}

make_initramfs() {
  local build=$1 busybox=$2 root=$3/root test

  mkdir -p "$root"/{bin,dev,proc,sys,tmp,usr}
  cp "$busybox" "$root/bin/busybox"
  for test in "${tests[@]}"; do
    [ ! -x "$build/tests/$test" ] || copy "$build/tests/$test"
  done
  copy "$build/tests/$caller" "$build"/lib/librtrack-bpf.so.[0-9] \
    "$build"/lib/rtrack-supervisor-? "$build"/examples/rtrack/rtrack
  # shellcheck disable=SC2046
  copy $(libraries_of "$build/examples/rtrack/rtrack" "${tests[@]/#/$build/tests/}")
  copy "$(gcc -print-file-name=libgcc_s.so.1 | xargs realpath -s)" # pthread_exit(3) opens it
  write_init "$build" >"$root/init"
  chmod +x "$root/init"
  (cd "$root" && find . | "$busybox" cpio -o -H newc | gzip -1) >"$3/initramfs"
}

# What the machine runs instead of a system. Its first process has no parent and reaps orphans. The
# programs lie in a ramfs: in a tmpfs their pages would count as shared memory of each process.
write_init() {
  local build=$1 test argument

  cat <<EOF
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin RTRACK_BUILD_ROOT=$build CK_TIMEOUT_MULTIPLIER=10
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
echo 1 >/proc/sys/kernel/printk
cd /tmp
uname -sr
EOF
  for test in "${tests[@]}"; do
    argument=
    [[ $test != live/live-trace* ]] || argument=$build/tests/$caller
    echo "echo '== $test'; $build/tests/$test $argument"
  done
  echo 'poweroff -f'
}

# QEMU 7.2 makes mistakes in cmpxchg16b, with which Linux 6.12 allocates memory.
boot() {
  local machine=(-accel tcg -cpu qemu64,-cx16)

  if [ -w /dev/kvm ] && [ -z "${WITHOUT_KVM-}" ]; then
    machine=(-accel kvm -cpu host)
  fi
  # shellcheck disable=SC2086
  timeout "$limit_s" $1 -machine q35 "${machine[@]}" -smp 2 -m 1024 -kernel "$2" -initrd "$3" \
    -append 'console=ttyS0 quiet panic=-1 rootfstype=ramfs' -display none -monitor none \
    -serial stdio -no-reboot -nic none </dev/null | tr -d '\r'
}

if [ $# -lt 2 ]; then
  echo "usage: tests/kernels/run.sh BUILD VMLINUZ..." >&2
  exit 2
fi
main "$@"
