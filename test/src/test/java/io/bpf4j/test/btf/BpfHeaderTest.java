package io.bpf4j.test.btf;

import static io.bpf4j.test.support.Requirement.CLANG;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfFile;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.ByteView;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The headers for BPF programs say what the running kernel's types say. */
@Requires(KERNEL_BTF)
class BpfHeaderTest {
    private static final Path HEADERS = TargetProgram.testModule()
            .resolve("../bpf-objects/src/main/bpf/include")
            .normalize();
    private static final Pattern HELPER = Pattern.compile("HELPER\\((\\d+), [^,]+, bpf_(\\w+),");
    private static final Pattern ENUMERATOR = Pattern.compile("\\b([A-Z]\\w+) = (-?\\d+)(ULL)?[, ]");
    private static final Pattern STRUCT = Pattern.compile("(?m)^struct (\\w+) \\{");

    private static String text;
    private static Btf kernel;
    private static Map<String, Long> enumerators;

    @TempDir
    Path folder;

    @BeforeAll
    static void read() throws IOException {
        text = Files.readString(HEADERS.resolve("bpf4j/helpers.h")) + Files.readString(HEADERS.resolve("bpf4j/bpf.h"));
        kernel = Btf.parse(ByteView.of(
                "vmlinux", Files.readAllBytes(Path.of("/sys/kernel/btf/vmlinux")), ByteOrder.nativeOrder()));
        enumerators = new LinkedHashMap<>();
        for (int id = 1; id < kernel.typeCount(); id++) {
            if (kernel.type(id) instanceof BtfType.Enumeration type) {
                type.values().forEach(value -> enumerators.put(value.name(), value.value()));
            }
        }
    }

    @Test
    void allHelpersOfTheKernelHaveTheirNumbers() {
        Map<String, Long> declared = new LinkedHashMap<>();
        for (MatchResult helper : HELPER.matcher(text).results().toList()) {
            assertThat(declared.put("BPF_FUNC_" + helper.group(2), Long.valueOf(helper.group(1))))
                    .as(helper.group())
                    .isNull();
        }
        int type = kernel.find("bpf_func_id", BtfKind.ENUM).orElseThrow();
        for (BtfType.EnumValue value : ((BtfType.Enumeration) kernel.type(type)).values()) {
            if (value.name().startsWith("BPF_FUNC_") && value.value() != 0) {
                assertThat(declared).containsEntry(value.name(), value.value());
            }
        }
        assertThat(declared).hasSize(211);
    }

    @Test
    void numbersWithANameAreTheKernels() {
        int compared = 0;
        for (MatchResult constant : ENUMERATOR.matcher(text).results().toList()) {
            // An older kernel lacks some.
            Long actual = enumerators.get(constant.group(1));
            if (actual != null) {
                assertThat(Long.parseLong(constant.group(2)))
                        .as(constant.group(1))
                        .isEqualTo(actual);
                compared++;
            }
        }
        assertThat(compared).isGreaterThan(100);
    }

    @Requires(CLANG)
    @ParameterizedTest
    @ValueSource(strings = {"bpfel", "bpfeb"})
    void structsAreTheKernels(String target) throws IOException, InterruptedException {
        List<String> names = STRUCT.matcher(Files.readString(HEADERS.resolve("bpf4j/bpf.h")))
                .results()
                .map(struct -> struct.group(1))
                .toList();
        assertThat(names).contains("xdp_md", "__sk_buff", "bpf_fib_lookup").doesNotHaveDuplicates();
        StringBuilder source = new StringBuilder("""
                #include <bpf4j/bpf.h>
                #include <bpf4j/core.h>
                #include <bpf4j/pidns.h>
                #include <bpf4j/usdt.h>
                """);
        names.forEach(name -> source.append("struct %s a_%s;%n".formatted(name, name)));
        Path file = Files.writeString(folder.resolve("structs.bpf.c"), source);
        Path object = folder.resolve("structs.bpf.o");
        Commands.check(List.of(
                Commands.clang().orElseThrow().toString(),
                "-target",
                target,
                "-g",
                "-O2",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-nostdinc",
                "-I" + HEADERS,
                "-c",
                file.toString(),
                "-o",
                object.toString()));
        Btf ours = BtfFile.read(object);
        for (String name : names) {
            OptionalInt theirs = kernel.find(name, BtfKind.STRUCT);
            if (theirs.isPresent()) {
                int own = ours.find(name, BtfKind.STRUCT).orElseThrow();
                Map<String, String> actual = members(kernel, theirs.getAsInt(), 0);
                // A newer kernel may have more at the end, an older one less.
                Map<String, String> expected = members(ours, own, 0);
                expected.keySet().retainAll(actual.keySet());
                assertThat(expected).as(name).isNotEmpty();
                assertThat(actual).as(name).containsAllEntriesOf(expected);
            }
        }
    }

    /** Offset and size of each member in bits, those of nameless structs and unions among them. */
    private static Map<String, String> members(Btf types, int struct, long offset) {
        Map<String, String> members = new LinkedHashMap<>();
        for (BtfType.Member member : ((BtfType.Composite) types.type(types.resolve(struct))).members()) {
            long at = offset + member.bitOffset();
            if (member.name().isEmpty()) {
                members.putAll(members(types, member.type(), at));
            } else {
                long bits = member.isBitField() ? member.bitSize() : types.size(member.type()) * 8;
                members.put(member.name(), bits + " bits at " + at);
            }
        }
        return members;
    }
}
