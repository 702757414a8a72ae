package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.CLANG;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static io.bpf4j.test.support.Requirement.KERNEL_FUNCTION_TAGS;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfFile;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.CDeclarations;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A compiler reads the C text of BTF, and describes in BTF of its own what it made of it: each struct must have the
 * same members in the same places.
 */
@Requires(CLANG)
@Timeout(600)
class CDeclarationsOnKernelTest {
    /**
     * LLVM looks for each name of BTF among all before it (BTFStringTable::addString in BTFDebug.cpp), so ten thousand
     * variables at once take it three times as long. Not few, because each file reads the whole header.
     */
    private static final int VARIABLES_OF_A_FILE = 2000;

    @TempDir
    Path directory;

    @Test
    @Requires(KERNEL_BTF)
    void theTypesOfTheKernelKeepTheirLayout() throws Exception {
        assertThat(compared(BtfFile.read(Path.of("/sys/kernel/btf/vmlinux")))).isGreaterThan(10_000);
    }

    @Test
    void theTypesOfObjectsKeepTheirLayout() throws Exception {
        int members = 0;
        for (String name : TestObjects.names()) {
            try (ElfFile elf = ElfFile.parse(name, TestObjects.bytes(name))) {
                Optional<ByteView> types = elf.section(".BTF").map(elf::data);
                if (types.isPresent()) {
                    members += compared(Btf.parse(types.get()));
                }
            }
        }
        assertThat(members).isGreaterThan(400);
    }

    @Test
    @Requires({KERNEL_FUNCTION_TAGS, BPF})
    void aProgramCallsFunctionsOfTheKernelWithoutDeclaringThem() throws Exception {
        Btf types = BtfFile.read(Path.of("/sys/kernel/btf/vmlinux"));
        Path header = directory.resolve("vmlinux.h");
        try (Writer out = Files.newBufferedWriter(header)) {
            CDeclarations.of(types).header("__VMLINUX_H__", out);
        }
        assertThat(Files.readString(header)).contains("extern void bpf_rcu_read_lock(void) __weak __ksym;");
        Path source = Files.writeString(directory.resolve("calls.c"), """
                #include "vmlinux.h"
                /* As the headers of libbpf and of bpf4j define them: in the same words, or with a warning. */
                #define __weak __attribute__((weak))
                #define __ksym __attribute__((section(".ksyms")))

                char LICENSE[] __attribute__((section("license"), used)) = "GPL";

                __attribute__((section("tc"), used)) int calls(struct __sk_buff *skb)
                {
                	struct task_struct *task;

                	bpf_rcu_read_lock();
                	bpf_rcu_read_unlock();
                	task = bpf_task_from_pid(1);
                	if (task)
                		bpf_task_release(task);
                	return 0;
                }
                """);
        Path object = directory.resolve("calls.o");
        Commands.check(Commands.clang(source, object, "-Werror"));
        ObjectSpec spec = ObjectSpec.read(object);
        assertThat(spec.externs())
                .as("only what the program calls")
                .extracting(ExternSpec::name)
                .containsExactlyInAnyOrder(
                        "bpf_rcu_read_lock", "bpf_rcu_read_unlock", "bpf_task_from_pid", "bpf_task_release");
        try (BpfObject loaded = BpfLoader.of(spec).load()) {
            assertThat(loaded.program("calls").info().id()).isPositive();
        }
    }

    /** Compiles a variable of each struct and union whose name is unique; the number of compared members. */
    private int compared(Btf types) throws IOException, InterruptedException {
        Path header = directory.resolve("types.h");
        try (Writer out = Files.newBufferedWriter(header)) {
            CDeclarations.of(types).header("TYPES_H", out);
        }
        Map<String, Integer> names = new HashMap<>();
        for (int id = 1; id < types.typeCount(); id++) {
            if (isTagged(types.type(id))) {
                names.merge(types.name(id), 1, Integer::sum);
            }
        }
        List<String> variables = new ArrayList<>();
        for (int id = 1; id < types.typeCount(); id++) {
            BtfType type = types.type(id);
            if (type instanceof BtfType.Composite && names.getOrDefault(type.name(), 0) == 1) {
                String keyword = type instanceof BtfType.Struct ? "struct " : "union ";
                variables.add(keyword + type.name() + " v" + id + ";\n");
            }
        }
        int members = 0;
        int end = 0;
        // An object may have no struct: its header is compiled all the same.
        do {
            int start = end;
            end = Math.min(variables.size(), start + VARIABLES_OF_A_FILE);
            members += compare(types, compiled(variables.subList(start, end)));
        } while (end < variables.size());
        return members;
    }

    /** The types of a file that has the header and these variables. */
    private Btf compiled(List<String> variables) throws IOException, InterruptedException {
        Path source = directory.resolve("variables.c");
        Files.writeString(source, "#include \"types.h\"\nint first;\n" + String.join("", variables));
        Path object = directory.resolve("variables.o");
        Commands.check(Commands.clang(source, object, "-Werror", "-Wno-pragma-clang-attribute"));
        return BtfFile.read(object);
    }

    private static boolean isTagged(BtfType type) {
        return !type.name().isEmpty() && (type instanceof BtfType.Composite || type instanceof BtfType.Enumeration);
    }

    private static int compare(Btf types, Btf compiled) {
        int members = 0;
        for (int id = 1; id < compiled.typeCount(); id++) {
            if (compiled.type(id) instanceof BtfType.Var variable
                    && variable.name().startsWith("v")) {
                int original = Integer.parseInt(variable.name().substring(1));
                List<String> expected = members(types, original);
                assertThat(members(compiled, compiled.resolve(variable.type())))
                        .as(types.name(original))
                        .isEqualTo(expected);
                members += expected.size();
            }
        }
        return members;
    }

    /** A line for each member, also of anonymous structs. */
    private static List<String> members(Btf types, int id) {
        List<String> lines = new ArrayList<>();
        lines.add(types.size(id) + " bytes");
        add(types, (BtfType.Composite) types.type(id), 0, lines);
        return lines;
    }

    private static void add(Btf types, BtfType.Composite composite, long offset, List<String> lines) {
        for (BtfType.Member member : composite.members()) {
            BtfType type = types.type(types.resolve(member.type()));
            if (!member.name().startsWith("__padding") && !member.name().isEmpty()) {
                lines.add(member.name() + " at bit " + (offset + member.bitOffset()) + ", " + member.bitSize()
                        + " bits, of " + types.size(member.type()) + " bytes");
            }
            if (type instanceof BtfType.Composite inner
                    && (member.name().isEmpty() || inner.name().isEmpty())) {
                add(types, inner, offset + member.bitOffset(), lines);
            }
        }
    }
}
