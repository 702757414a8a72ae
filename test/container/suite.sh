# shellcheck shell=bash
# Makes the integration tests runnable without Maven, for a container or a virtual machine that has the checkout and the
# JDK at the same paths as this machine. Sourced in the root of the checkout, after .mvn/toolchain.sh and need_jdk.

classpath_file=test/target/test.classpath

# Builds the tests if a source is newer.
build_tests() {
  # Maven writes this class path when it compiles the tests.
  if is_stale "$classpath_file" all elf btf sys loader process usdt bpf-objects trace metrics bindings cli test; then
    echo "building the tests" >&2
    ./mvnw -q -B -pl test -am -DskipTests -Dspotless.check.skip=true package >&2
    # Maven leaves a class path file that did not change as old as it was.
    touch "$classpath_file"
  fi
}

# Builds the tests and brings their libraries into the checkout. Sets `suite_classpath`.
stage_suite() {
  local staged=test/target/staged entry entries
  build_tests

  # The suite fetches these itself, but not where it has no network; it says so if they are missing.
  test/libbpf/headers >/dev/null || true
  test/libbpf/loadall >/dev/null || true

  # What comes from Maven's repository is copied; the rest is inside the checkout already.
  rm -rf "$staged"
  mkdir -p "$staged"
  suite_classpath=$PWD/test/target/test-classes
  IFS=: read -r -a entries <<<"$(<"$classpath_file")"
  for entry in "${entries[@]}"; do
    case $entry in
      "$PWD"/*) suite_classpath+=:$entry ;;
      *)
        cp "$entry" "$staged/"
        suite_classpath+=:$PWD/$staged/${entry##*/}
        ;;
    esac
  done
}

# Sets the array `suite` to the command that runs all tests one after the other, or what the options for JUnit's console
# launcher in "$@" select.
prepare_suite() {
  stage_suite
  [ $# -gt 0 ] || set -- "--scan-class-path=$PWD/test/target/test-classes"
  # The flags of the run outside: see surefire's configuration in pom.xml. A tree would be printed at the end alone.
  # shellcheck disable=SC2034 # for those who source this
  suite=("$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -cp "$suite_classpath"
    org.junit.platform.console.ConsoleLauncher execute --disable-banner --disable-ansi-colors --details=testfeed
    --fail-if-no-tests --reports-dir="$PWD/test/target/reports" "$@")
}

# Sets the array `suite` to the command that runs the test classes in "$@", or all, as many at the same time as Maven does.
prepare_parallel_suite() {
  stage_suite
  # shellcheck disable=SC2034 # for those who source this
  suite=("$JAVA_HOME/bin/java" -XX:+UseSerialGC -cp "$suite_classpath" io.bpf4j.test.again.Again
    --integration --rounds 1 --condition alone --restart --jobs $(($(nproc) * 3 / 2))
    ${BPF4J_TEST_SEED:+--seed "$BPF4J_TEST_SEED"} "$@")
}
