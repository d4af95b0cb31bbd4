#!/bin/bash
# SPDX-License-Identifier: MIT
# Install the named Debian packages that are missing. Usage: packages.sh NAME...
set -euo pipefail

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

apt() {
  local sudo=
  [ "$(id -u)" -eq 0 ] || sudo=sudo
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@"
}

if ! command -v dpkg-query >/dev/null; then
  echo "Not a Debian system: nothing is installed. Needed Debian packages: $*" >&2
  exit 0
fi
missing=()
for package; do
  is_installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "Installing: ${missing[*]}"
install=(install -y --no-install-recommends "${missing[@]}")
# The package lists may be too old for the mirror. So after a failure, update them and try again.
if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null ||
  ! apt "${install[@]}" >/dev/null 2>&1; then
  apt update
  messages=$(apt "${install[@]}" 2>&1) || { echo "$messages" >&2; exit 1; }
fi
