# shellcheck shell=bash
# Makes Debian root file systems from the sources that this machine's own apt uses. Sourced by ./run and ./fresh-debian
# after .mvn/toolchain.sh, whose `die`, `may_install` and `apt_install` it calls.
#
# Nothing here names a mirror: apt is asked, so a machine behind a local mirror, a proxy or a snapshot of Debian gets
# its container from the same place as its other packages.

cache=${XDG_CACHE_HOME:-$HOME/.cache}/bpf4j

# Installs the commands in "$@"; on Debian each is the name of its package too.
need_commands() {
  local command missing=()
  for command in "$@"; do
    command -v "$command" >/dev/null 2>&1 || missing+=("$command")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if may_install && command -v apt-get >/dev/null 2>&1; then
    echo "${0##*/}: installing ${missing[*]}" >&2
    apt_install "${missing[@]}" || die "could not install the packages ${missing[*]}"
  else
    die "needs the commands ${missing[*]}: as root, install the packages of these names"
  fi
}

# Debian's code name for this machine: bookworm, trixie …
machine_suite() {
  # shellcheck source=/dev/null
  (. /etc/os-release && [ -n "${VERSION_CODENAME:-}" ] && echo "$VERSION_CODENAME") ||
    die "/etc/os-release names no suite: this is made for Debian; elsewhere use test/container/Containerfile"
}

# One line per package source of Debian's own that apt has for this machine, in the form of sources.list, with suite $1
# in place of the machine's: the suite itself, its updates, its security updates. Sources of third parties stay out.
debian_sources() {
  local wanted=$1 machine
  machine=$(machine_suite)
  # Origin comes from the downloaded Release files: a machine that never ran `apt-get update` has none.
  if [ -z "$(apt-get indextargets 'Created-By: Packages' 'Origin: Debian')" ]; then
    may_install && apt-get update -qq >&2
  fi
  apt-get indextargets --format "\$(REPO_URI) \$(CODENAME) \$(COMPONENT)" 'Created-By: Packages' 'Origin: Debian' |
    awk -v machine="$machine" -v wanted="$wanted" \
      '$2 == machine || $2 ~ "^" machine "-(updates|security)$" { sub("^" machine, wanted, $2); print "deb", $1, $2, $3 }' |
    sort -u
}

# Runs a command in root file system $1. In its own mount and pid namespace, so nothing stays mounted and no daemon that a
# package starts outlives it. The folder becomes the root by pivot_root: in a mere chroot no container could be started.
in_rootfs() {
  local root=$1
  shift
  mkdir -p "$root/dev/pts"
  # shellcheck disable=SC2016 # expanded by the inner shell
  unshare --mount --pid --fork --kill-child -- sh -euc '
    root=$1; shift
    mount --rbind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    cd "$root"
    pivot_root . mnt
    exec chroot . sh -euc "umount -l /mnt; exec \"\$@\"" sh \
      /usr/bin/env -i HOME=/root TERM=dumb LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ${http_proxy:+http_proxy="$http_proxy"} \
      ${https_proxy:+https_proxy="$https_proxy"} ${no_proxy:+no_proxy="$no_proxy"} "$@"' sh "$root" "$@"
}

bootstrap() { # SUITE FOLDER MIRROR
  local mounted
  mounted=$(awk -v folder="$2/" 'index($5, folder) == 1 { print $5; exit }' /proc/self/mountinfo)
  [ -z "$mounted" ] || die "$mounted is still mounted, so $2 is not emptied: umount it"
  find "$2" -mindepth 1 -maxdepth 1 -exec rm -rf --one-file-system {} +
  debootstrap --variant=minbase "$@" >"$2.log" 2>&1
}

install_in() { # FOLDER PACKAGE…
  local root=$1
  shift
  { in_rootfs "$root" apt-get update -qq &&
    in_rootfs "$root" apt-get install -y -qq --no-install-recommends "$@" &&
    in_rootfs "$root" apt-get clean; } >>"$root.log" 2>&1
}

# Makes a minimal Debian of suite $1 in folder $2 and installs the packages in the rest of "$@". It is made under another
# name and moved when done: a folder that is there is complete.
make_rootfs() {
  local suite=$1 root=$2 sources mirror making
  shift 2
  sources=$(debian_sources "$suite")
  mirror=$(awk -v suite="$suite" '$3 == suite { print $2; exit }' <<<"$sources")
  [ -n "$mirror" ] || die "apt knows no Debian source of this machine to take $suite from: see /etc/apt/sources.list.d"

  mkdir -p "$(dirname "$root")"
  making=$(mktemp -d "$root.XXXXXX")
  # shellcheck disable=SC2064 # this folder, now
  trap "rm -rf --one-file-system '$making'" EXIT
  chmod 755 "$making"

  echo "making a root file system of Debian $suite (some minutes, once)" >&2
  twice bootstrap "$suite" "$making" "$mirror" || {
    tail -20 "$making.log" >&2
    die "debootstrap of $suite failed; the whole log is $making.log"
  }
  echo "$sources" >"$making/etc/apt/sources.list"
  # The machine's proxy and trust in old Release files hold for its containers as well.
  apt-config dump | grep -E '^Acquire::(https?::|Retries|Check-)' >"$making/etc/apt/apt.conf.d/90machine" || true
  # Packages must not start their daemons here: 101 is "forbidden by policy" to invoke-rc.d.
  printf '#!/bin/sh\nexit 101\n' >"$making/usr/sbin/policy-rc.d"
  chmod +x "$making/usr/sbin/policy-rc.d"
  if [ $# -gt 0 ]; then
    twice install_in "$making" "$@" || {
      tail -20 "$making.log" >&2
      die "could not install $* in Debian $suite; the whole log is $making.log"
    }
  fi
  rm -f "$making.log"
  mv -T "$making" "$root"
  trap - EXIT
}

# Sets `rootfs` to the root file system that the integration tests run in, of this machine's suite; makes it if need be.
# What it is made from is its name: a changed list of packages makes another one.
test_rootfs() {
  local packages suite here
  here=$(dirname "${BASH_SOURCE[0]}")
  suite=$(machine_suite)
  mapfile -t packages < <(grep -v '^#' "$here/packages.txt")
  rootfs=$cache/container-$suite-$( (echo "${packages[@]}" && cat "$here/rootfs.sh") | sha256sum | cut -c1-12)
  [ ! -d "$rootfs" ] || return 0
  # Those of former lists are of no use any more, and large.
  rm -rf --one-file-system "$cache/container-$suite-"*
  make_rootfs "$suite" "$rootfs" "${packages[@]}"
}

# Sets `minimal` to the root file system of a minimal Debian of suite $1, with the certificates that a newcomer who could
# clone has; makes it if need be.
minimal_rootfs() {
  minimal=$cache/minimal-$1-$(sha256sum "$(dirname "${BASH_SOURCE[0]}")/rootfs.sh" | cut -c1-12)
  [ -d "$minimal" ] || make_rootfs "$1" "$minimal" ca-certificates
}
