# shellcheck shell=bash
# shellcheck disable=SC2034 # the variables are for those who source this
# What the machines that test/vm/run emulates differ in, and their root file systems. Sourced by test/vm/run.

# The first suite of Debian that has a Java of ours, and riscv64.
guest_suite=trixie

# Ends the run, since Debian's archive did not give $*. So nothing is known of the tests; test/vm/kernels says so.
not_fetched() {
  echo "not fetched: $*"
  die "could not fetch $*"
}

# Sets `from` to the suite whose packages have kernel $1, and `called` to what test/machines.txt calls a guest with it.
describe_kernel() {
  case $1 in
    5.10) from=bullseye called="vm container 5.10 6.1 6.12" ;;
    6.1) from=bookworm called="vm container 6.1 6.12" ;;
    6.12) from=bookworm called="vm container 6.12" ;;
    7.2) from=trixie-backports called="vm container 7.2" ;;
    *) die "knows the machines arm64, riscv64 and s390x, and the kernels 5.10, 6.1, 6.12 and 7.2, not $1" ;;
  esac
}

# How machine $1, by Debian's name, is emulated, and which compiler makes programs for it.
describe_machine() {
  local triplet
  threads=single
  case $1 in
    amd64)
      emulator=qemu-system-x86_64 emulator_packages=(qemu-system-x86 seabios)
      board=(-cpu max) console=ttyS0 compiler=gcc compiler_packages=(gcc libc6-dev)
      # The emulated HPET is the guest's clock: by the processor's counter, which it has to calibrate while the host does
      # other things, its time has been seen to run 70 times as fast as anybody else's.
      append="clocksource=hpet tsc=unstable"
      return
      ;;
    arm64)
      # Pointers are signed by a function of qemu's own: the architecture's takes most of the time.
      emulator=qemu-system-aarch64 emulator_packages=(qemu-system-arm) triplet=aarch64-linux-gnu
      board=(-M "virt,gic-version=3" -cpu "max,pauth-impdef=on") console=ttyAMA0 append=
      ;;
    riscv64)
      # A JVM dies where addresses have 57 bits. Two processors emulated by one thread stop at the first program.
      threads=multi
      emulator=qemu-system-riscv64 emulator_packages=(qemu-system-misc) triplet=riscv64-linux-gnu
      board=(-M virt -cpu rv64) console=ttyS0 append=no5lvl
      ;;
    s390x)
      emulator=qemu-system-s390x emulator_packages=(qemu-system-misc) triplet=s390x-linux-gnu
      board=(-M s390-ccw-virtio -cpu max) console=ttysclp0 append=
      ;;
    *) die "knows the machines arm64, riscv64 and s390x" ;;
  esac
  compiler=$triplet-gcc
  compiler_packages=("gcc-$triplet")
}

download_packages() {
  update_private_apt "$guest_suite"
  private_apt apt-get install -y -qq --download-only --no-install-recommends "$@" >&2
}

# Sets `rootfs` to the root file system of the guest's machine: packages, unpacked. Nothing of them is run here, for this
# machine can't; so nothing is configured, which a JVM and a compiler can do without. A folder that is there is complete.
guest_rootfs() {
  local packages=(bash binutils busybox-static coreutils findutils gcc grep libc-bin libc6-dev libstdc++6
    openjdk-25-jre-headless procps python3-minimal sed systemtap-sdt-dev util-linux) making folder file
  rootfs_kind=$machine
  rootfs=$vm/$machine-$guest_suite-$(declare -f guest_rootfs | sha256sum | cut -c1-12)
  [ ! -d "$rootfs" ] || return 0
  making=$(mktemp -d "$vm/making.XXXXXX")
  chmod 755 "$making"
  echo "fetching Debian $guest_suite for $machine" >&2
  twice download_packages "${packages[@]}" || not_fetched "the packages of $machine"
  mkdir -p "$making"/{usr/{bin,lib,sbin},boot,dev,etc,proc,root,run,sys,tmp}
  for folder in bin lib sbin; do
    ln -s "usr/$folder" "$making/$folder"
  done
  for file in "$vm/apt/cache/archives"/*.deb; do
    dpkg-deb -x "$file" "$making"
  done
  rm -rf "$vm/apt"
  [ -e "$making/usr/bin/sh" ] || ln -s bash "$making/usr/bin/sh"
  printf '%s\n' root:x:0:0:root:/root:/bin/bash nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin >"$making/etc/passwd"
  printf '%s\n' root:x:0: nogroup:x:65534: >"$making/etc/group"
  # A mirror that is just being synchronized may lack what its index names.
  for file in bin/{bash,busybox,gcc,python3,sed,setsid} sbin/ldconfig 'include/*/sys/sdt.h' \
    "lib/jvm/java-25-openjdk-$machine/bin/java"; do
    compgen -G "$making/usr/$file" >/dev/null || not_fetched "all packages of $machine: there is no usr/$file"
  done
  rm -rf "$vm/$machine-$guest_suite-"*
  mv -T "$making" "$rootfs"
}
