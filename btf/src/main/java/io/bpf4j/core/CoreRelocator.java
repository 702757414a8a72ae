package io.bpf4j.core;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfExt;
import io.bpf4j.btf.EssentialName;
import io.bpf4j.core.CoreTarget.Candidate;
import io.bpf4j.insn.Instruction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Fits the instructions of one BPF object to the types of one kernel.
 *
 * <h2>The problem</h2>
 *
 * A program that reads {@code task->mm->start_code} is compiled with the offsets of the header it was compiled with. On
 * another kernel the fields are elsewhere. So clang, for types with {@code preserve_access_index} (all of vmlinux.h),
 * records for each such instruction what it stands for:
 *
 * <pre>
 *   instruction 17: r1 = *(u64 *)(r1 +2336)
 *   relocation:     kind FIELD_BYTE_OFFSET, type [12] struct task_struct, access "0:54"
 * </pre>
 *
 * and the loader works out the number anew before the kernel sees the program.
 *
 * <h2>Terms</h2>
 *
 * The <i>local</i> types are those of the object's {@code .BTF}; the <i>target</i> is the kernel the program shall run
 * on. A <i>candidate</i> is a type of the target with the same kind and the same name but for its flavour ({@link
 * EssentialName}). There may be several: deduplication of a kernel's BTF isn't perfect.
 *
 * <h2>What happens</h2>
 *
 * <ol>
 *   <li>The access string is read along the local types: {@code 0:54} is member {@code mm} ({@link AccessPath}).
 *   <li>In each candidate that path is walked by name ({@link CandidateMatcher}). A kernel that has moved {@code mm}
 *       into an anonymous struct matches; one where {@code mm} is a number doesn't.
 *   <li>For the local path and that of each match the value is worked out ({@link CoreValue}). The local one must be
 *       what stands in the instruction, else code and types don't belong together. Those of the matches must agree,
 *       else the relocation is ambiguous and the object is refused, with both candidates named.
 *   <li>The new value goes into the instruction ({@link InstructionPatcher}): a {@link CoreFixup.Patch}, or {@link
 *       CoreFixup.Keep} if it is the old.
 *   <li>Without a match, questions ("does it exist?") are answered by 0. For anything else the instruction becomes
 *       {@link CoreFixup.Poison}: the program may still be right, if it never gets there.
 * </ol>
 *
 * <h2>Candidates narrow</h2>
 *
 * Of a type's candidates, those that didn't match are dropped for the relocations that follow, if at least one did. So
 * a program that first reads a field that only one of two {@code struct foo} has means that one from there on. It makes
 * the result depend on the order of relocations, which is why a relocator is made per object and has state; we do it
 * since programs that load with libbpf depend on it.
 *
 * <p>Rejected: to take the best of several candidates (a wrong guess reads wrong memory without a word).
 *
 * <p>The algorithm is that of libbpf's {@code relo_core.c}; values come out the same. <i>Confined.</i>
 */
public final class CoreRelocator {
    private final Types local;
    private final CoreTarget target;
    private final Map<Btf, Types> targetTypes = new HashMap<>();
    /** By local root type: its candidates that are still in the race. */
    private final Map<Integer, List<Candidate>> candidates = new HashMap<>();

    private final Effort effort = new Effort();

    /**
     * A relocator for one object.
     *
     * @param local the object's BTF
     * @param target the kernel's types
     */
    public CoreRelocator(Btf local, CoreTarget target) {
        this.local = new Types(local);
        this.target = target;
    }

    /**
     * Decides what becomes of an instruction.
     *
     * @param relocation what the instruction depends on, from the object's {@code .BTF.ext}
     * @param code slots with the instruction
     * @param index of the instruction's first slot in {@code code}; the relocation's own offset isn't looked at
     * @throws CoreException if the relocation is none, doesn't fit its instruction, or is ambiguous
     * @throws io.bpf4j.elf.MalformedDataException if a BTF of either side is malformed where the relocation leads
     */
    public CoreFixup relocate(BtfExt.CoreRelocation relocation, List<Instruction> code, int index) {
        AccessPath path = path(local, relocation);
        List<Instruction> slots = slotsAt(path, code, index);
        CoreValue from =
                path.kind() == CoreRelocationKind.TYPE_ID_TARGET || path.kind() == CoreRelocationKind.TYPE_ID_LOCAL
                        ? new CoreValue(path.root(), false, 0, 0)
                        : CoreValue.at(path);
        if (path.kind() == CoreRelocationKind.TYPE_ID_LOCAL) {
            return new InstructionPatcher(path, from, from, local).patch(slots);
        }
        Answer answer = answer(path);
        if (answer.value() == null) {
            return CoreFixup.Poison.of(slots.size(), answer.reason());
        }
        return new InstructionPatcher(path, from, answer.value(), answer.types()).patch(slots);
    }

    /**
     * A relocation as words, without a target: what is asked of what, such as {@code byte offset of struct
     * task_struct.mm}.
     *
     * @throws CoreException if the relocation is none
     */
    public static String describe(Btf local, BtfExt.CoreRelocation relocation) {
        AccessPath path = path(new Types(local), relocation);
        return path.kind().text() + " of " + path;
    }

    private static AccessPath path(Types local, BtfExt.CoreRelocation relocation) {
        CoreRelocationKind kind = CoreRelocationKind.of(relocation.kind())
                .orElseThrow(() -> new CoreException("CO-RE relocation of instruction at byte " + relocation.offset()
                        + " has kind " + Integer.toUnsignedString(relocation.kind())
                        + ", which is not known; the object needs a newer loader"));
        return AccessPath.parse(local, relocation.type(), local.btf().nameAt(relocation.access()), kind);
    }

    private static List<Instruction> slotsAt(AccessPath path, List<Instruction> code, int index) {
        if (index < 0 || index >= code.size()) {
            throw new CoreException("CO-RE " + path.kind().text() + " of " + path + ": instruction " + index
                    + " is outside the " + code.size() + " of the code");
        }
        return code.get(index).isLoadImm64() && index + 1 < code.size()
                ? code.subList(index, index + 2)
                : List.of(code.get(index));
    }

    /**
     * What the target says.
     *
     * @param value null if the instruction has to be poisoned
     * @param types the BTF that it was found in
     */
    private record Answer(@Nullable CoreValue value, Types types, String reason) {}

    private record Match(Candidate candidate, AccessPath path, CoreValue value) {}

    private Answer answer(AccessPath path) {
        String name = local.btf().name(path.root());
        if (name.isEmpty()) {
            throw new CoreException("CO-RE " + path.kind().text() + " of type " + path.root() + " of "
                    + local.btf().source() + ": a type without a name can't be looked up in a target");
        }
        List<Candidate> all = candidates.computeIfAbsent(
                path.root(), root -> target.candidates(name, local.btf().kind(root)));
        effort.spend((long) Effort.CANDIDATE * all.size());
        List<Match> matches = new ArrayList<>();
        String mismatch = "";
        for (Candidate candidate : all) {
            Types types = targetTypes.computeIfAbsent(candidate.btf(), Types::new);
            CandidateMatcher matcher = new CandidateMatcher(path, types, candidate.id(), effort);
            AccessPath matched = matcher.match();
            if (matched == null) {
                mismatch = candidate + " " + matcher.mismatch();
            } else {
                Match match = new Match(candidate, matched, CoreValue.at(matched));
                if (!matches.isEmpty()) {
                    requireSame(path, matches.getFirst(), match);
                }
                matches.add(match);
            }
        }
        if (matches.isEmpty()) {
            Types kernel = targetTypes.computeIfAbsent(target.kernel(), Types::new);
            return new Answer(CoreValue.absent(path.kind()), kernel, missing(path, name, mismatch));
        }
        candidates.put(path.root(), matches.stream().map(Match::candidate).toList());
        Match first = matches.getFirst();
        return new Answer(first.value(), first.path().types(), "");
    }

    private String missing(AccessPath path, String name, String mismatch) {
        String question = path.kind().text() + " of " + path + ": ";
        return question
                + (mismatch.isEmpty()
                        ? target.kernel().source() + " has no "
                                + AccessPath.describe(local, path.root()).replace(name, EssentialName.of(name))
                        : mismatch);
    }

    private static void requireSame(AccessPath path, Match one, Match other) {
        if (one.path().bitOffset() != other.path().bitOffset()
                || one.value().value() != other.value().value()) {
            throw new CoreException("CO-RE " + path.kind().text() + " of " + path + " is ambiguous: "
                    + one.candidate() + " gives " + answer(one) + ", " + other.candidate() + " gives " + answer(other)
                    + "; use a flavour of the type ("
                    + EssentialName.of(path.types().btf().name(path.root()))
                    + "___name) with a member that only one of them has");
        }
    }

    private static String answer(Match match) {
        return match.value().value() + " (bit offset " + match.path().bitOffset() + ")";
    }
}
