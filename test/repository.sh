# Makes a Maven repository of what this checkout has built, for projects that get bpf4j from one, as users do. Sourced.
#
# Nothing is installed in the user's own repository, from which the rest is taken.

# Sets $version, and $maven to the arguments of ./mvnw that select the repository.
make_repository() { # CHECKOUT FOLDER
  version=$(sed -n 's|^  <version>\(.*\)</version>|\1|p' "$1/pom.xml")
  rm -rf "$2/io/bpf4j"
  install_artifact "$2" bpf4j "$1/pom.xml"
  for module in elf btf sys loader process usdt objects headers trace metrics bindings maven-plugin; do
    folder=$1/$module
    [ $module != objects ] || folder=$1/bpf-objects
    jar=$folder/target/bpf4j-$module-$version.jar
    [ -e "$jar" ] || die "$jar is missing: build first, ./mvnw -DskipTests package"
    install_artifact "$2" bpf4j-$module "$folder/pom.xml" "$jar"
  done
  # The user's repository, wherever settings.xml has it: the class path of the tests names it.
  users=$(tr : '\n' <"$1/cli/target/test.classpath" | sed -n 's|/org/jspecify/.*||p')
  # The versions of plugins that this project uses, too, so that they need not be fetched.
  plugins=$(sed -n 's|.*<\([a-z]*-plugin\.version\)>\(.*\)</.*|-D\1=\2|p' "$1/pom.xml")
  maven="-Dmaven.repo.local=$2 -Dmaven.repo.local.tail=$users -Dbpf4j.version=$version $plugins"
}

# As Maven lays out what `install` gives it. Without the files in which Maven notes where an artifact is from, it takes
# them as the user's own.
install_artifact() { # REPOSITORY ARTIFACT POM [JAR]
  artifact=$1/io/bpf4j/$2/$version
  mkdir -p "$artifact"
  cp "$3" "$artifact/$2-$version.pom"
  [ -z "${4:-}" ] || cp "$4" "$artifact/$2-$version.jar"
}

# Adds what only the tests of this checkout need, after make_repository.
add_what_tests_use() { # CHECKOUT FOLDER
  install_artifact "$2" bpf4j-test-fuzz "$1/test/fuzz/pom.xml" "$1/test/fuzz/target/bpf4j-test-fuzz-$version.jar"
  install_artifact "$2" bpf4j-test-objects "$1/test/objects/pom.xml" \
    "$1/test/objects/target/bpf4j-test-objects-$version.jar"
  install_artifact "$2" bpf4j-cli "$1/cli/pom.xml" "$1/cli/target/modules/bpf4j-cli-$version.jar"
  for module in sys loader; do
    cp "$1/$module/target/bpf4j-$module-$version-tests.jar" "$2/io/bpf4j/bpf4j-$module/$version/"
  done
}
