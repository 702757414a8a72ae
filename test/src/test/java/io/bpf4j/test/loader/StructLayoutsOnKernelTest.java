package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.internal.types.KernelBtf;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.BpfCommand;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.kernel.KernelVersion;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;

/**
 * Every struct of the kernel's that is declared by a {@link StructLayout}, and the commands of bpf(2), compared with the
 * running kernel's own types.
 */
@Requires(Requirement.KERNEL_BTF)
class StructLayoutsOnKernelTest {
    /** The kernel that has all fields but these. Older ones have fewer, of which no list is kept. */
    private static final KernelVersion COMPLETE = KernelVersion.of(6, 18);

    private static final Set<String> NEWER = Set.of(
            "bpf_common_attr.log_buf", // 7.2
            "bpf_common_attr.log_size",
            "bpf_common_attr.log_level",
            "bpf_common_attr.log_true_size",
            "bpf_attr.prog_assoc_struct_ops.map_fd", // 6.19
            "bpf_attr.prog_assoc_struct_ops.prog_fd",
            "bpf_attr.prog_assoc_struct_ops.flags",
            "bpf_attr.link_create.tracing_multi.ids", // 7.2
            "bpf_attr.link_create.tracing_multi.cookies",
            "bpf_attr.link_create.tracing_multi.cnt",
            "bpf_attr.link_create.uprobe_multi.path_fd",
            "bpf_link_info.tracing_multi.attach_type", // 7.3
            "bpf_link_info.tracing_multi.count",
            "bpf_link_info.tracing_multi.obj_id");

    private record Place(long offset, int type) {}

    private final Btf types = KernelBtf.of(Host.running()).types();

    @Test
    void layoutsAreThoseOfTheKernel() throws ReflectiveOperationException {
        List<StructLayout> layouts = layouts();
        assertThat(layouts).hasSizeGreaterThan(20);
        SoftAssertions softly = new SoftAssertions();
        int compared = 0;
        for (StructLayout layout : layouts) {
            OptionalInt base = OptionalInt.empty();
            List<Map.Entry<String, StructLayout.Field>> fields = layout.fields().entrySet().stream()
                    .sorted(Comparator.comparingInt(field -> field.getValue().offset()))
                    .toList();
            for (Map.Entry<String, StructLayout.Field> field : fields) {
                String path = layout.type() + "." + field.getKey();
                Optional<Place> place = find(path);
                if (place.isEmpty()) {
                    if (Host.running().version().compareTo(COMPLETE) >= 0) {
                        softly.assertThat(NEWER)
                                .as("fields that may be missing")
                                .contains(path);
                    }
                    continue;
                }
                StructLayout.Field declared = field.getValue();
                // A layout may be that of the last members of its struct: then its first is where the kernel has it.
                if (base.isEmpty()) {
                    base = OptionalInt.of((int) place.get().offset() - declared.offset());
                }
                softly.assertThat(base.getAsInt() + declared.offset()).as(path).isEqualTo((int)
                        place.get().offset());
                softly.assertThat((long) declared.size())
                        .as("size of %s", path)
                        .isEqualTo(types.size(place.get().type()));
                compared++;
            }
            if (isUnionAfterTheFront(layout.type()) && base.isPresent()) {
                softly.assertThat(base.getAsInt()).as(layout.type()).isIn(0, 16);
            }
        }
        softly.assertAll();
        assertThat(compared).isGreaterThan(20);
    }

    /** Older kernels lack the last commands; newer ones have more. */
    @Test
    void commandsHaveTheNumbersOfTheKernel() {
        Map<String, Long> numbers = ((BtfType.Enumeration)
                        types.type(types.find("bpf_cmd", BtfKind.ENUM).orElseThrow()))
                .values().stream().collect(Collectors.toMap(BtfType.EnumValue::name, BtfType.EnumValue::value));
        numbers.remove("__MAX_BPF_CMD"); // since 6.9
        numbers.remove("BPF_COMMON_ATTRS"); // since 7.2, a flag beside the command
        long end = Collections.max(numbers.values()) + 1;
        for (BpfCommand command : BpfCommand.values()) {
            if (command.number() < end) {
                assertThat(numbers).containsEntry(command.kernelName(), (long) command.number());
            } else {
                assertThat(numbers).doesNotContainKey(command.kernelName());
            }
        }
    }

    private static boolean isUnionAfterTheFront(String type) {
        return type.startsWith("bpf_attr.link_create") || type.startsWith("bpf_link_info.");
    }

    private static List<StructLayout> layouts() throws ReflectiveOperationException {
        List<StructLayout> layouts = new ArrayList<>();
        for (var type : new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("io.bpf4j")) {
            for (JavaField field : type.getFields()) {
                if (field.getRawType().isEquivalentTo(StructLayout.class)
                        && field.getModifiers().contains(com.tngtech.archunit.core.domain.JavaModifier.STATIC)) {
                    Field reflected = field.reflect();
                    reflected.setAccessible(true);
                    layouts.add((StructLayout) reflected.get(null));
                }
            }
        }
        return layouts;
    }

    /**
     * A field by the path from its outermost type; members of anonymous structs and unions are those of what has them.
     */
    private Optional<Place> find(String path) {
        String[] names = path.split("\\.", -1);
        OptionalInt root = types.find(names[0], BtfKind.STRUCT);
        if (root.isEmpty()) {
            root = types.find(names[0], BtfKind.UNION);
        }
        if (root.isEmpty()) {
            return Optional.empty();
        }
        Optional<Place> place = Optional.of(new Place(0, root.getAsInt()));
        for (int i = 1; i < names.length && place.isPresent(); i++) {
            place = member(place.get(), names[i]);
        }
        return place;
    }

    private Optional<Place> member(Place of, String name) {
        List<BtfType.Member> members = switch (types.type(types.resolve(of.type()))) {
            case BtfType.Struct struct -> struct.members();
            case BtfType.Union union -> union.members();
            default -> List.of();
        };
        for (BtfType.Member member : members) {
            Place place = new Place(of.offset() + member.bitOffset() / 8, member.type());
            if (member.name().equals(name)) {
                return Optional.of(place);
            }
            if (member.name().isEmpty()) {
                Optional<Place> within = member(place, name);
                if (within.isPresent()) {
                    return within;
                }
            }
        }
        return Optional.empty();
    }
}
