package io.bpf4j.loader.spec;

import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.UnknownNameException;
import io.bpf4j.sys.internal.call.Struct;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A struct_ops variable of an object, whose programs the kernel calls: a variable in {@code SEC(".struct_ops")} or
 * {@code SEC(".struct_ops.link")}, such as a {@code struct tcp_congestion_ops}. Once loaded it is a map of that name.
 * <i>Immutable</i>; the {@code with…} methods return an edited copy, for changes before the load.
 *
 * <p>Tested by {@code StructOpsReaderTest} and {@code StructOpsImageTest}.
 */
public sealed interface StructOpsSpec permits StructOpsSpecData {
    /**
     * A member of the struct, in the object's layout.
     *
     * @param offset in bytes
     * @param size in bytes; 0 for a bit-field, which can't be set
     * @param function whether it is a pointer to a function
     */
    record Member(String name, int offset, int size, boolean function) {}

    /** The variable's name. */
    String name();

    /** The section's name as in {@code SEC("…")}, without a leading {@code ?}. */
    String sectionName();

    /** False if the section name starts with {@code ?}: created only on request. */
    boolean autocreate();

    /** Whether {@code attachAll()} attaches it. */
    boolean autoattach();

    /** Name of the struct in the object; a suffix after {@code ___} is ignored when matching the kernel's struct. */
    String type();

    /** The id of the struct in the object's BTF. */
    int typeId();

    /** Byte order of {@code content}. */
    ByteOrder order();

    /** The initial value of the struct in the object, in the object's layout; 0 in function members. */
    byte[] content();

    /** The named members, in the order of the struct. */
    List<Member> members();

    /** Programs by the name of the member that calls them. */
    Map<String, String> functions();

    /**
     * Programs that an edit removed from {@link #functions}: they are loaded only if another variable refers to them.
     */
    Set<String> removedPrograms();

    /** Whether it is attached by a link, which can be updated and pinned. */
    default boolean isLinked() {
        return sectionName().equals(StructOpsSpecData.LINKED);
    }

    /** Created or left out, regardless of its section. */
    default StructOpsSpec withAutocreate(boolean create) {
        return with("autocreate", create);
    }

    /** Attached by {@code BpfObject.attachAll}, or left to be attached in code. */
    default StructOpsSpec withAutoattach(boolean attach) {
        return with("autoattach", attach);
    }

    /**
     * With a program of the object for a function member.
     *
     * @throws UnknownNameException if the member does not exist
     * @throws InvalidObjectException if it is not a function
     */
    default StructOpsSpec withFunction(String member, String program) {
        requireFunction(member);
        Map<String, String> changed = new LinkedHashMap<>(functions());
        String before = changed.put(member, Objects.requireNonNull(program));
        return withFunctions(changed, before);
    }

    /**
     * Without a program for a function member. The kernel refuses the struct if the member is required.
     *
     * @throws UnknownNameException if the member does not exist
     * @throws InvalidObjectException if it is not a function
     */
    default StructOpsSpec withoutFunction(String member) {
        requireFunction(member);
        Map<String, String> changed = new LinkedHashMap<>(functions());
        String before = changed.remove(member);
        return withFunctions(changed, before);
    }

    private StructOpsSpec withFunctions(Map<String, String> changed, @Nullable String before) {
        Set<String> all = new HashSet<>(removedPrograms());
        if (before != null) {
            all.add(before);
        }
        return with("functions", changed).with("removedPrograms", all);
    }

    /**
     * With a value for an integer member.
     *
     * @throws UnknownNameException if the member does not exist
     * @throws InvalidObjectException if it is not an integer of 1, 2, 4 or 8 bytes, or the value does not fit
     */
    default StructOpsSpec withValue(String member, long value) {
        Member found = data(member);
        if (!Struct.isInteger(found.size())) {
            throw invalid(member, "has " + found.size() + " bytes and can't be set from a number");
        }
        if (!Struct.fits(value, found.size())) {
            throw invalid(member, "has " + found.size() + " bytes, too few for " + value);
        }
        byte[] changed = content();
        Struct.put(ByteBuffer.wrap(changed).order(order()), found.offset(), found.size(), value);
        return with("content", changed);
    }

    /**
     * With text for a character array member, such as the name of a congestion control.
     *
     * @param text in UTF-8, shorter than the array, because a NUL follows
     * @throws UnknownNameException if the member does not exist
     * @throws InvalidObjectException if it is too small
     */
    default StructOpsSpec withText(String member, String text) {
        Member found = data(member);
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        if (encoded.length >= found.size()) {
            throw invalid(member, "has " + found.size() + " bytes, too few for \"" + text + "\" and a NUL");
        }
        byte[] changed = content();
        Arrays.fill(changed, found.offset(), found.offset() + found.size(), (byte) 0);
        System.arraycopy(encoded, 0, changed, found.offset(), encoded.length);
        return with("content", changed);
    }

    private Member data(String member) {
        Member found = member(member);
        if (found.function()) {
            throw invalid(member, "is a function: set it with withFunction");
        }
        return found;
    }

    private void requireFunction(String member) {
        if (!member(member).function()) {
            throw invalid(member, "is not a function: set it with withValue or withText");
        }
    }

    private Member member(String member) {
        return members().stream()
                .filter(m -> m.name().equals(member))
                .findFirst()
                .orElseThrow(() -> new UnknownNameException(
                        "member",
                        member,
                        "struct " + type(),
                        members().stream().map(Member::name).toList()));
    }

    private InvalidObjectException invalid(String member, String problem) {
        return new InvalidObjectException("struct_ops variable \"" + name() + "\": \"" + member + "\" " + problem);
    }

    private StructOpsSpec with(String component, Object value) {
        return RecordCopy.with(this, StructOpsSpecData.class, component, value);
    }
}
