#!/bin/sh
# Compiles src/main/bpf/*.bpf.c and src/main/bpf/corpus/*.bpf.c to the objects that are committed under
# src/main/resources: each for little-endian machines, and below big/ once more for big-endian ones (s390x).
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

here=$(cd "$(dirname "$0")" && pwd)
sources=$here/src/main/bpf
committed=$here/src/main/resources/io/bpf4j/objects

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

order=bpfel
# cpu v3 (32-bit jumps and registers): Linux 5.1. The oldest kernel we care for is 5.10.
compile() { # OUTPUT_DIR NAME SOURCE [FLAGS...]
    output=$1/$2.bpf.o
    source=$3
    shift 3
    (cd "$sources" && "$clang" -target "$order" -mcpu=v3 -std=gnu11 -O2 -g -gno-record-command-line -fno-ident \
        -nostdinc -Iinclude -fdebug-compilation-dir=. -ffile-prefix-map="$sources"=. \
        -Wall -Wextra -Werror -Wno-unused-parameter "$@" -c "$source" -o "$output")
    "$strip" --strip-debug "$output"
}

compile_all() { # OUTPUT_DIR
    order=bpfel
    compile_each "$1"
    mkdir -p "$1/big"
    order=bpfeb
    compile_each "$1/big"
}

compile_each() { # OUTPUT_DIR
    for source in "$sources"/*.bpf.c; do
        name=$(basename "$source" .bpf.c)
        compile "$1" "$name" "$name.bpf.c"
    done
    compile "$1" args12_208 args12.bpf.c -DUSDT_SPEC_208
    mkdir -p "$1/corpus"
    for source in "$sources"/corpus/*.bpf.c; do
        name=$(basename "$source" .bpf.c)
        case $name in
        # Instructions of Linux 6.6.
        *_v4) compile "$1" "corpus/$name" "corpus/$name.bpf.c" -mcpu=v4 ;;
        *) compile "$1" "corpus/$name" "corpus/$name.bpf.c" ;;
        esac
    done
    [ "$order" = bpfel ] || return 0
    # What BpfObjects.names() and corpus() answer: a jar can't be listed.
    for folder in "$1" "$1/corpus"; do
        (cd "$folder" && LC_ALL=C ls -- *.bpf.o) > "$folder/names"
    done
}

case ${1-} in
'')
    mkdir -p "$committed"
    rm -rf "$committed"/*.bpf.o "$committed"/corpus/*.bpf.o "$committed/big"
    compile_all "$committed"
    ;;
--check)
    fresh=$(mktemp -d)
    trap 'rm -rf "$fresh"' EXIT
    compile_all "$fresh"
    if ! diff -rq "$committed" "$fresh" >&2; then
        echo "bpf-objects/build.sh: the committed objects are not what $("$clang" --version | head -n 1) makes" >&2
        echo "of the sources; run bpf-objects/build.sh and commit the result" >&2
        exit 1
    fi
    ;;
*)
    echo "usage: bpf-objects/build.sh [--check]" >&2
    exit 2
    ;;
esac
