package io.bpf4j.loader;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Instructions;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.internal.types.ProgramBtf;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.RawCode;
import io.bpf4j.sys.internal.linux.Kallsyms;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The code of a loaded program: what the verifier made of its instructions, and what the JIT compiler made of these.
 *
 * <p>The verifier replaces and inserts instructions: it removes branches that are never taken, and puts addresses and
 * inlined functions in. The kernel undoes a part for this copy: a load of a map has the map's id, {@code map[id:7]}. A
 * call of a helper or kernel function has the function's distance from {@code __bpf_call_base}, or 0 if the kernel hides
 * addresses. What this process may not see is empty. <i>Immutable.</i>
 *
 * <p>Tested by {@code InspectionOnKernelTest}.
 */
public final class ProgramCode {
    private static final String CALL_BASE = "__bpf_call_base";

    private final List<Instruction> instructions;
    private final byte[] machineCode;
    private final List<Function> functions;
    private final List<SourceLine> lines;
    private final Map<Integer, String> callees;

    private ProgramCode(
            List<Instruction> instructions,
            byte[] machineCode,
            List<Function> functions,
            List<SourceLine> lines,
            Map<Integer, String> callees) {
        this.instructions = List.copyOf(instructions);
        this.machineCode = machineCode;
        this.functions = List.copyOf(functions);
        this.lines = List.copyOf(lines);
        this.callees = Map.copyOf(callees);
    }

    /**
     * A function of the program. The first one is where the program starts.
     *
     * @param name from BTF; empty without BTF
     * @param slot index of its first instruction; 0 without BTF
     * @param address of its machine code; 0 if the kernel hides it, or there is none
     * @param machineCodeBytes bytes of its machine code; the functions follow each other in {@link #machineCode()}
     */
    public record Function(String name, int slot, long address, int machineCodeBytes) {}

    /**
     * A line of the source, with the first of its instructions.
     *
     * @param slot index of the instruction
     * @param address of its machine code; 0 if the kernel hides it, or there is none
     * @param file as the compiler was told
     * @param text of the line; it and {@code file} are empty where they have more than 4096 bytes, or where those of all
     *     lines have more than 256 bytes each
     * @param line counted from 1
     * @param column counted from 1; 0 if unknown
     */
    public record SourceLine(int slot, long address, String file, String text, int line, int column) {}

    static ProgramCode of(Host host, Fd program) {
        RawCode raw = Kernel.of(host).execute(new ObjectCommand.CodeOfProgram(program));
        List<Instruction> instructions;
        try {
            instructions = Instructions.decode(
                    ByteView.of("code of " + program.description(), raw.instructions(), ByteOrder.nativeOrder()));
        } catch (MalformedDataException e) {
            throw new IllegalStateException("the kernel returned malformed code of " + program.description(), e);
        }
        Optional<Btf> types = raw.functions().length == 0 && raw.lines().length == 0
                ? Optional.empty()
                : ProgramBtf.of(Kernel.of(host), program);
        return new ProgramCode(
                instructions, raw.machineCode(), functions(raw, types), lines(raw, types), callees(host, instructions));
    }

    private static List<Function> functions(RawCode raw, Optional<Btf> types) {
        List<Function> functions = new ArrayList<>();
        int described = raw.functions().length / RawCode.FUNCTION_WORDS;
        for (int i = 0; i < Math.max(described, raw.lengths().length); i++) {
            boolean known = i < described && types.isPresent();
            functions.add(new Function(
                    known ? name(types.get(), raw.functions()[i * RawCode.FUNCTION_WORDS + 1]) : "",
                    i < described ? raw.functions()[i * RawCode.FUNCTION_WORDS] : 0,
                    i < raw.addresses().length ? raw.addresses()[i] : 0,
                    i < raw.lengths().length ? raw.lengths()[i] : 0));
        }
        return functions;
    }

    private static String name(Btf types, int id) {
        return id > 0 && id < types.typeCount() && types.kind(id) == BtfKind.FUNC ? types.name(id) : "";
    }

    static List<SourceLine> lines(RawCode raw, Optional<Btf> types) {
        if (types.isEmpty()) {
            return List.of();
        }
        int count = raw.lines().length / RawCode.LINE_WORDS;
        List<SourceLine> lines = new ArrayList<>(count);
        Texts texts = new Texts(types.get(), count);
        for (int i = 0; i < count; i++) {
            int at = i * RawCode.LINE_WORDS;
            int place = raw.lines()[at + 3];
            lines.add(new SourceLine(
                    raw.lines()[at],
                    i < raw.lineAddresses().length ? raw.lineAddresses()[i] : 0,
                    texts.at(raw.lines()[at + 1]),
                    texts.at(raw.lines()[at + 2]),
                    // BPF_LINE_INFO_LINE_NUM and BPF_LINE_INFO_LINE_COL of include/uapi/linux/bpf.h
                    place >>> 10,
                    place & 0x3ff));
        }
        return lines;
    }

    /**
     * The texts of source lines. A process may have loaded a million of lines that all refer to one text of megabytes,
     * so there is a limit for one and a limit for all.
     */
    private static final class Texts {
        private static final int OF_A_LINE = 256;

        private final Btf types;
        private final Map<Integer, String> known = new HashMap<>();
        private long left;

        Texts(Btf types, int lines) {
            this.types = types;
            this.left = (1 << 16) + (long) OF_A_LINE * lines;
        }

        String at(int offset) {
            String text = known.computeIfAbsent(offset, this::read);
            if (text.length() > left) {
                return "";
            }
            left -= text.length();
            return text;
        }

        private String read(int offset) {
            try {
                return types.nameAt(offset);
            } catch (MalformedDataException e) {
                return ""; // too long
            }
        }
    }

    /** The names of the called functions, by the immediate of the call; empty if the kernel hides addresses. */
    private static Map<Integer, String> callees(Host host, List<Instruction> instructions) {
        Map<Long, Integer> wanted = new HashMap<>();
        Map<Integer, String> names = new HashMap<>();
        try {
            List<Long> base = Kallsyms.of(host).addresses(Set.of(CALL_BASE)).getOrDefault(CALL_BASE, List.of(0L));
            if (base.getFirst() == 0) {
                return names;
            }
            for (Instruction slot : instructions) {
                if (slot.isHelperCall() || slot.isKernelFunctionCall()) {
                    wanted.put(base.getFirst() + slot.imm(), slot.imm());
                }
            }
            if (wanted.isEmpty()) {
                return names;
            }
            Kallsyms.of(host).forEach((address, type, line, from, to) -> {
                Integer call = wanted.get(address);
                if (call != null && (type == 't' || type == 'T' || type == 'w' || type == 'W')) {
                    int end = from;
                    while (end < to && line[end] != '\t') {
                        end++;
                    }
                    names.putIfAbsent(call, new String(line, from, end - from, StandardCharsets.ISO_8859_1));
                }
            });
            return names;
        } catch (IOException e) {
            return Map.of(); // the calls are shown by their distance
        }
    }

    /** The instructions after verification; a 64-bit load takes two slots. */
    public List<Instruction> instructions() {
        return instructions;
    }

    /** A copy of the machine code; empty without a JIT compiler. */
    public byte[] machineCode() {
        return machineCode.clone();
    }

    public List<Function> functions() {
        return functions;
    }

    /** The lines of the source, in the order of the slots; empty without BTF. */
    public List<SourceLine> lines() {
        return lines;
    }

    /**
     * The instructions as text, one string for each; a 64-bit load of two slots is one. Calls have the name of the
     * function, where the kernel shows addresses: {@code 3: (85) call bpf_get_prandom_u32}.
     */
    public List<String> disassemble() {
        List<String> text = new ArrayList<>(Instructions.disassemble(instructions));
        int slot = 0;
        for (int i = 0; i < text.size(); i++) {
            Instruction instruction = instructions.get(slot);
            if (instruction.isHelperCall() || instruction.isKernelFunctionCall()) {
                String callee = callees.get(instruction.imm());
                text.set(i, start(text.get(i)) + "call " + (callee == null ? "+" + instruction.imm() : callee));
            } else if (instruction.isLoadImm64()
                    && (instruction.src() == Opcodes.PSEUDO_MAP_FD || instruction.src() == Opcodes.PSEUDO_MAP_VALUE)) {
                text.set(i, text.get(i).replace("map[fd:", "map[id:"));
            }
            slot += instruction.isLoadImm64() ? 2 : 1;
        }
        return List.copyOf(text);
    }

    /** The slot's index and opcode before the text of an instruction. */
    private static String start(String line) {
        return line.substring(0, line.indexOf(") ") + 2);
    }
}
