# shellcheck shell=bash
# Makes the integration tests runnable without Maven, for a container or a virtual machine that has the checkout and the
# JDK at the same paths as this machine. Sourced in the root of the checkout, after .mvn/toolchain.sh and need_jdk.

classpath_file=test/target/test.classpath

# Builds the tests if a source is newer.
build_tests() {
  # Maven writes this class path when it compiles the tests.
  if is_stale "$classpath_file" all elf btf sys loader process usdt bpf-objects trace cli test; then
    echo "building the tests" >&2
    ./mvnw -q -B -pl test -am -DskipTests -Dspotless.check.skip=true package >&2
    # Maven leaves a class path file that did not change as old as it was.
    touch "$classpath_file"
  fi
}

# Builds the tests, brings their libraries into the checkout, and sets the array `suite` to the command that runs them:
# all, or what the options for JUnit's console launcher in "$@" select.
prepare_suite() {
  local staged=test/target/staged classpath entry entries
  build_tests

  # The suite fetches these itself, but not where it has no network; it says so if they are missing.
  test/libbpf/headers >/dev/null || true
  test/libbpf/loadall >/dev/null || true

  # What comes from Maven's repository is copied; the rest is inside the checkout already.
  rm -rf "$staged"
  mkdir -p "$staged"
  classpath=$PWD/test/target/test-classes
  IFS=: read -r -a entries <<<"$(<"$classpath_file")"
  for entry in "${entries[@]}"; do
    case $entry in
      "$PWD"/*) classpath+=:$entry ;;
      *)
        cp "$entry" "$staged/"
        classpath+=:$PWD/$staged/${entry##*/}
        ;;
    esac
  done

  [ $# -gt 0 ] || set -- "--scan-class-path=$PWD/test/target/test-classes"
  # The flags of the run outside: see surefire's configuration in pom.xml. A tree would be printed at the end alone.
  # shellcheck disable=SC2034 # for those who source this
  suite=("$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -cp "$classpath"
    org.junit.platform.console.ConsoleLauncher execute --disable-banner --disable-ansi-colors --details=testfeed
    --fail-if-no-tests --reports-dir="$PWD/test/target/container-reports" "$@")
}
