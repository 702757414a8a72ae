# Finds what bpf4j is built with, and installs what is missing where that is allowed. Sourced by ./bpf4j, ./verify,
# ./bench and ./mvnw; written for plain sh, since ./mvnw is.
#
# A command that needs something and may not install it stops with one line that says what to install.

jdk_version=25

# An empty environment (env -i) has no home folder, and Maven's files are below it. It has no PATH either: the shell
# then uses one of its own, which programs need as well; gcc, for instance, finds its parts by it.
: "${HOME:=$(getent passwd "$(id -u)" | cut -d: -f6)}"
export HOME PATH

die() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# Sets $major to the major version of the JDK in folder $1, or to nothing where there is no compiler. Reads the JDK's own
# `release` file, by the shell alone: starting a JVM to ask takes longer than the rest of this file.
jdk_major() {
  major=
  [ -x "$1/bin/javac" ] || return 0
  if [ -r "$1/release" ]; then
    while read -r line; do
      case $line in
        JAVA_VERSION=\"*)
          major=${line#*\"}
          major=${major%%[!0-9]*}
          ;;
      esac
    done <"$1/release"
  else
    major=$("$1/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')
  fi
}

is_jdk() {
  jdk_major "$1"
  [ -n "$major" ] && [ "$major" -ge "$jdk_version" ]
}

# Prints the home of a JDK that is new enough: JAVA_HOME, then the javac on PATH, then /usr/lib/jvm.
find_jdk() {
  if [ -n "${JAVA_HOME:-}" ] && is_jdk "$JAVA_HOME"; then
    echo "$JAVA_HOME"
    return 0
  fi
  javac=$(command -v javac 2>/dev/null) && javac=$(readlink -f "$javac") && is_jdk "${javac%/bin/javac}" && {
    echo "${javac%/bin/javac}"
    return 0
  }
  for home in /usr/lib/jvm/*; do
    if [ ! -L "$home" ] && is_jdk "$home"; then
      echo "$home"
      return 0
    fi
  done
  return 1
}

may_install() {
  [ "$(id -u)" = 0 ]
}

# Runs a command, and once more after a pause if it fails: for what is fetched from a mirror. While a mirror is
# synchronized, its lists name files that it has no longer, or not yet.
twice() {
  "$@" && return 0
  echo "${0##*/}: $1 failed; once more in a minute, in case a mirror is being synchronized" >&2
  sleep 60
  "$@"
}

# Installs Debian packages, quietly; false where apt has none of that name. Another program may be installing: apt waits
# ten minutes for its locks, but not for that of the lists, so another checkout's scripts are waited for before.
apt_install() (
  if command -v flock >/dev/null 2>&1; then
    # A folder that only root can open. In /tmp, another user's link of the lock's name would lead to any file.
    exec 8</root && flock 8
  fi
  twice apt_install_once "$@"
)

apt_install_once() {
  apt-get -o DPkg::Lock::Timeout=600 update -qq >/dev/null &&
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends "$@" \
      >/dev/null
}

install_jdk() {
  echo "${0##*/}: installing JDK $jdk_version" >&2
  if command -v apt-get >/dev/null 2>&1; then
    apt_install "openjdk-$jdk_version-jdk-headless"
  elif command -v dnf >/dev/null 2>&1; then
    dnf install -y -q "java-$jdk_version-openjdk-devel"
  elif command -v zypper >/dev/null 2>&1; then
    zypper -q -n install "java-$jdk_version-openjdk-devel"
  elif command -v apk >/dev/null 2>&1; then
    apk add -q "openjdk$jdk_version-jdk"
  elif command -v pacman >/dev/null 2>&1; then
    pacman -S --noconfirm -q "jdk$jdk_version-openjdk"
  else
    return 1
  fi
}

# Sets and exports JAVA_HOME.
need_jdk() {
  if ! home=$(find_jdk); then
    may_install && install_jdk >&2 || true
    home=$(find_jdk) || die "needs JDK $jdk_version or later, found none in JAVA_HOME, on PATH or in /usr/lib/jvm:" \
      "install the package openjdk-$jdk_version-jdk-headless (or unpack any JDK $jdk_version build into /usr/lib/jvm)"
  fi
  JAVA_HOME=$home
  export JAVA_HOME
}

# Any Maven, which ./mvnw needs once to fetch the pinned one.
need_any_maven() {
  command -v mvn >/dev/null 2>&1 && return 0
  if may_install && command -v apt-get >/dev/null 2>&1; then
    echo "${0##*/}: installing Maven" >&2
    apt_install maven || true
  fi
  command -v mvn >/dev/null 2>&1 || die "needs any Maven once, to fetch the pinned one: install the package maven"
}

# One build at a time in a checkout: two would overwrite each other's classes. Held until this process and the builds
# that it starts are done, or until unlock_build.
lock_build() { # CHECKOUT
  [ -z "${BPF4J_BUILD_LOCKED:-}" ] || return 0
  command -v flock >/dev/null 2>&1 && mkdir -p "$1/target" 2>/dev/null || return 0
  exec 9>"$1/target/.lock"
  flock -n 9 || {
    echo "waiting for another build in $1" >&2
    flock 9
  }
  export BPF4J_BUILD_LOCKED=yes
}

unlock_build() {
  if [ -n "${BPF4J_BUILD_LOCKED:-}" ]; then
    unset BPF4J_BUILD_LOCKED
    exec 9>&-
  fi
}

# Whether $1 is missing, or older than a source of the modules in the rest of "$@", which are folders of this one. $2 is
# the sources that count: `main`, or `all` with the tests'.
is_stale() { # FILE main|all MODULE…
  [ -e "$1" ] || return 0
  built=$1
  case $2 in
    main) left_out='*/src/test' counted='*/src/main/*' ;;
    all) left_out='*/target' counted='*/src/*' ;;
  esac
  shift 2
  [ -n "$(find pom.xml "$@" \( -name target -o -path "$left_out" \) -prune -o \( -path "$counted" -o -name pom.xml \) \
    -type f -newer "$built" -print -quit)" ]
}
