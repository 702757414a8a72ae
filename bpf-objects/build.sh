#!/bin/sh
# Compiles the BPF sources of this repository to the objects that are committed beside them: the tracer in this folder,
# which is shipped, and the objects of test/objects, which only tests and benchmarks use. Each src/main/bpf/NAME.bpf.c
# becomes NAME.bpf.o under src/main/resources for little-endian machines, and big/NAME.bpf.o for big-endian ones (s390x).
#
#   bpf-objects/build.sh            compile them again
#   bpf-objects/build.sh --check    compile into a temporary folder and compare byte for byte;
#                                   exit 1 where something differs
#
# Toolchain: clang and llvm-strip of LLVM 19 (Debian: clang-19 llvm-19; the objects were made by 19.1.7).
# Exit 3: no such compiler. CLANG and LLVM_STRIP name others.
#
# The same bytes on every machine: no system headers, paths relative to the source folder, no compiler
# name in the object, DWARF stripped (BTF and its line information stay).
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
shipped=$top/bpf-objects/src/main/bpf
shipped_objects=$top/bpf-objects/src/main/resources/io/bpf4j/objects
tests=$top/test/objects/src/main/bpf
test_objects=$top/test/objects/src/main/resources/io/bpf4j/test/objects

find_tool() { # NAME given: the tool of LLVM 19, by its versioned or plain name
    for tool in "$1-19" "/usr/lib/llvm-19/bin/$1" "$1"; do
        if path=$(command -v "$tool" 2>/dev/null) && "$path" --version 2>/dev/null | grep -q 'version 19\.'; then
            echo "$path"
            return
        fi
    done
}

clang=${CLANG:-$(find_tool clang)}
strip=${LLVM_STRIP:-$(find_tool llvm-strip)}
if [ -z "$clang" ] || [ -z "$strip" ]; then
    echo "bpf-objects/build.sh: clang 19 and llvm-strip 19 are needed (Debian: apt-get install clang-19 llvm-19)" >&2
    exit 3
fi

# cpu v3 (32-bit jumps and registers): Linux 5.1. The oldest kernel we care for is 5.10.
compile() { # SOURCE_DIR NAME OUTPUT_DIR OUTPUT_NAME [FLAGS...]
    sources=$1
    source=$2.bpf.c
    output=$3/$4.bpf.o
    shift 4
    (cd "$sources" && "$clang" -target "$order" -mcpu=v3 -std=gnu11 -O2 -g -gno-record-command-line -fno-ident \
        -nostdinc -Iinclude -fdebug-compilation-dir=. -ffile-prefix-map="$sources"=. \
        -Wall -Wextra -Werror -Wno-unused-parameter "$@" -c "$source" -o "$output")
    "$strip" --strip-debug "$output"
}

compile_folder() { # SOURCE_DIR OUTPUT_DIR: all sources of the folder itself and of its corpus
    mkdir -p "$2"
    for file in "$1"/*.bpf.c; do
        name=$(basename "$file" .bpf.c)
        compile "$1" "$name" "$2" "$name"
    done
    [ -d "$1/corpus" ] || return 0
    mkdir -p "$2/corpus"
    for file in "$1"/corpus/*.bpf.c; do
        name=corpus/$(basename "$file" .bpf.c)
        case $name in
        # Instructions of Linux 6.6.
        *_v4) compile "$1" "$name" "$2" "$name" -mcpu=v4 ;;
        *) compile "$1" "$name" "$2" "$name" ;;
        esac
    done
}

# Runs the command "$@" for both byte orders at the same time, with `order` set and the output folder $1 at its end.
for_both_orders() { # OUTPUT_DIR COMMAND…
    output=$1
    shift
    mkdir -p "$output/big"
    (order=bpfel && "$@" "$output") &
    little=$!
    (order=bpfeb && "$@" "$output/big") &
    big=$!
    wait "$little"
    wait "$big"
}

compile_shipped() { # OUTPUT_DIR
    for_both_orders "$1" compile_folder "$shipped"
}

compile_tests_of_order() { # SOURCE_DIR OUTPUT_DIR
    compile_folder "$1" "$2"
    # The layout of a USDT spec before libbpf 1.7, from the same source.
    compile "$1" args12 "$2" args12_208 -DUSDT_SPEC_208
}

# The sources of the tests use the shipped headers, too. They are compiled in a copy that has both at one place: clang puts
# the text of each line into the object, and reads it by the name of the file that the object will hold.
compile_tests() { # OUTPUT_DIR
    both=$work/sources
    mkdir -p "$both"
    cp -r "$shipped/include" "$tests/." "$both"
    for_both_orders "$1" compile_tests_of_order "$both"
    # For TestObjects, since a jar can't be listed.
    for folder in "$1" "$1/corpus"; do
        (cd "$folder" && LC_ALL=C ls -- *.bpf.o) > "$folder/names"
    done
}

check() { # COMMITTED_DIR FRESH_DIR
    diff -rq "$1" "$2" >&2 && return
    echo "bpf-objects/build.sh: the committed objects are not what $("$clang" --version | head -n 1) makes" >&2
    echo "of the sources; run bpf-objects/build.sh and commit the result" >&2
    exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case ${1-} in
'')
    rm -rf "$shipped_objects" "$test_objects"
    compile_shipped "$shipped_objects"
    compile_tests "$test_objects"
    ;;
--check)
    compile_shipped "$work/shipped"
    compile_tests "$work/tests"
    check "$shipped_objects" "$work/shipped"
    check "$test_objects" "$work/tests"
    ;;
*)
    echo "usage: bpf-objects/build.sh [--check]" >&2
    exit 2
    ;;
esac
