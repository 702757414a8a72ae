package io.bpf4j.core;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfExt;
import io.bpf4j.core.CoreTarget.Candidate;
import io.bpf4j.insn.Instruction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Adjusts the instructions of one BPF object to the types of one kernel.
 *
 * <h2>The problem</h2>
 *
 * A program that reads {@code task->mm->start_code} is compiled with the field offsets of one kernel header. On another
 * kernel the offsets differ. So for types with {@code preserve_access_index} (all of vmlinux.h), clang records the
 * meaning of each such instruction:
 *
 * <pre>
 *   instruction 17: r1 = *(u64 *)(r1 +2336)
 *   relocation:     kind FIELD_BYTE_OFFSET, type [12] struct task_struct, access "0:54"
 * </pre>
 *
 * and the loader recomputes the number before it loads the program.
 *
 * <h2>Terms</h2>
 *
 * The <i>local</i> types are those of the object's {@code .BTF}; the <i>target</i> is the kernel that the program will
 * run on. A <i>candidate</i> is a type of the target with the same kind and the same name, ignoring flavours ({@link
 * Btf#essentialName}). Several candidates may exist, because the deduplication of a kernel's BTF isn't perfect.
 *
 * <h2>Steps</h2>
 *
 * <ol>
 *   <li>The access string is resolved with the local types: {@code 0:54} is member {@code mm} ({@link AccessPath}).
 *   <li>In each candidate the path is followed by name ({@link CandidateMatcher}). A kernel that moved {@code mm} into
 *       an anonymous struct matches; a kernel where {@code mm} is a number doesn't.
 *   <li>The value is computed for the local path and for each match ({@link CoreValue}). The local value must equal the
 *       value in the instruction, else the code and the types are not from the same compilation. The values of all
 *       matches must be equal, else the relocation is ambiguous and the object is rejected; the error names both
 *       candidates.
 *   <li>The new value is written to the instruction ({@link InstructionPatcher}): a {@link CoreFixup.Patch}, or {@link
 *       CoreFixup.Keep} if the value is unchanged.
 *   <li>Without a match, the value of an existence check, a type id or a type size is 0. For other kinds the
 *       instruction becomes {@link CoreFixup.Poison}: the program is still valid if it never reaches the instruction.
 * </ol>
 *
 * <h2>Candidates are narrowed</h2>
 *
 * If at least one candidate of a type matches, the others are dropped for all later relocations. For example, after a
 * program reads a field that only one of two {@code struct foo} has, only that struct remains a candidate. So the
 * result depends on the order of relocations, and each object needs its own relocator with state. Programs that load
 * with libbpf depend on this behaviour.
 *
 * <p>Rejected: choosing the best of several candidates (a wrong guess silently reads wrong memory).
 *
 * <p>The algorithm is that of libbpf's {@code relo_core.c}; values are the same. <i>Confined.</i>
 */
public final class CoreRelocator {
    private final Types local;
    private final CoreTarget target;
    private final Map<Btf, Types> targetTypes = new HashMap<>();
    /** By local root type: its remaining candidates. */
    private final Map<Integer, List<Candidate>> candidates = new HashMap<>();

    private final RelocationBudget budget = new RelocationBudget();

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
     * Computes the fixup of an instruction.
     *
     * @param relocation the relocation of the instruction, from the object's {@code .BTF.ext}
     * @param code slots that include the instruction
     * @param index index of the instruction's first slot in {@code code}; the relocation's own offset is ignored
     * @throws CoreException if the relocation is invalid, doesn't fit its instruction, or is ambiguous
     * @throws io.bpf4j.elf.MalformedDataException if the BTF of either side is malformed at a type that the relocation
     *     needs
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
        TargetValue targetValue = targetValue(path);
        if (targetValue.value() == null) {
            return CoreFixup.Poison.of(slots.size(), targetValue.reason());
        }
        return new InstructionPatcher(path, from, targetValue.value(), targetValue.types()).patch(slots);
    }

    /**
     * A description of a relocation, without a target, such as {@code byte offset of struct task_struct.mm}.
     *
     * @throws CoreException if the relocation is invalid
     */
    public static String describe(Btf local, BtfExt.CoreRelocation relocation) {
        AccessPath path = path(new Types(local), relocation);
        return path.kind().text() + " of " + path;
    }

    /**
     * Whether an object's declaration of a variable or function has a type that is compatible with the target's.
     *
     * @param localId the declared type; of a function its prototype
     * @throws CoreException if the types nest too deeply
     */
    public static boolean areCompatible(Btf local, int localId, Btf target, int targetId) {
        return new TypeCompatibility(new Types(local), new Types(target), new RelocationBudget())
                .declared(localId, targetId);
    }

    private static AccessPath path(Types local, BtfExt.CoreRelocation relocation) {
        CoreRelocationKind kind = CoreRelocationKind.of(relocation.kind())
                .orElseThrow(() -> new CoreException(
                        "CO-RE relocation of instruction at byte " + relocation.offset() + " has unknown kind "
                                + Integer.toUnsignedString(relocation.kind()) + "; the object needs a newer loader"));
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
     * The value of a relocation in the target.
     *
     * @param value null if the instruction must be poisoned
     * @param types the BTF that contains the match
     */
    private record TargetValue(@Nullable CoreValue value, Types types, String reason) {}

    private record Match(Candidate candidate, AccessPath path, CoreValue value) {}

    private TargetValue targetValue(AccessPath path) {
        List<String> mismatch = new ArrayList<>();
        List<Match> matches = match(path, mismatch);
        if (matches.isEmpty()) {
            Types kernel = targetTypes.computeIfAbsent(target.kernel(), Types::new);
            String reason = missing(path, mismatch.isEmpty() ? "" : mismatch.getLast());
            budget.spend(reason.length());
            return new TargetValue(CoreValue.absent(path.kind()), kernel, reason);
        }
        Match first = matches.getFirst();
        return new TargetValue(first.value(), first.path().types(), "");
    }

    /**
     * The paths in the target that match a relocation; none if the target lacks its subject, or the relocation needs no
     * target.
     */
    List<AccessPath> matches(BtfExt.CoreRelocation relocation) {
        AccessPath path = path(local, relocation);
        return path.kind() == CoreRelocationKind.TYPE_ID_LOCAL
                ? List.of()
                : match(path, new ArrayList<>()).stream().map(Match::path).toList();
    }

    /** @param mismatch gets the reason of the last candidate that doesn't match */
    private List<Match> match(AccessPath path, List<String> mismatch) {
        String name = local.btf().name(path.root());
        if (name.isEmpty()) {
            throw new CoreException("CO-RE " + path.kind().text() + " of type " + path.root() + " of "
                    + local.btf().source() + ": a type without a name can't be looked up in a target");
        }
        List<Candidate> all = candidates.computeIfAbsent(
                path.root(), root -> target.candidates(name, local.btf().kind(root), budget));
        budget.spend((long) RelocationBudget.CANDIDATE * all.size());
        List<Match> matches = new ArrayList<>();
        for (Candidate candidate : all) {
            Types types = targetTypes.computeIfAbsent(candidate.btf(), Types::new);
            CandidateMatcher matcher = new CandidateMatcher(path, types, candidate.id(), budget);
            AccessPath matched = matcher.match();
            if (matched == null) {
                mismatch.clear();
                mismatch.add(candidate + " " + matcher.mismatch());
            } else {
                Match match = new Match(candidate, matched, CoreValue.at(matched));
                if (!matches.isEmpty()) {
                    requireSame(path, matches.getFirst(), match);
                }
                matches.add(match);
            }
        }
        if (!matches.isEmpty()) {
            candidates.put(path.root(), matches.stream().map(Match::candidate).toList());
        }
        return matches;
    }

    private String missing(AccessPath path, String mismatch) {
        String name = local.btf().name(path.root());
        String relocation = path.kind().text() + " of " + path + ": ";
        return relocation
                + (mismatch.isEmpty()
                        ? target.kernel().source() + " has no "
                                + AccessPath.describe(local, path.root()).replace(name, Btf.essentialName(name))
                        : mismatch);
    }

    private static void requireSame(AccessPath path, Match one, Match other) {
        if (one.path().bitOffset() != other.path().bitOffset()
                || one.value().value() != other.value().value()) {
            throw new CoreException("CO-RE " + path.kind().text() + " of " + path + " is ambiguous: "
                    + one.candidate() + " gives " + text(one) + ", " + other.candidate() + " gives " + text(other)
                    + "; use a flavour of the type ("
                    + Btf.essentialName(path.types().btf().name(path.root()))
                    + "___name) with a member that only one of them has");
        }
    }

    private static String text(Match match) {
        return match.value().value() + " (bit offset " + match.path().bitOffset() + ")";
    }
}
