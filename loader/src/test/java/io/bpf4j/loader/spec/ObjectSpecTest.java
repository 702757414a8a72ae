package io.bpf4j.loader.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.UnknownNameException;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import io.bpf4j.test.objects.TestObjects;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the compiled objects say, as {@link ObjectSpec} reads it. */
class ObjectSpecTest {
    static ObjectSpec spec(String name) {
        return ObjectSpec.parse(name, TestObjects.bytes(name));
    }

    static java.util.List<String> names() {
        return java.util.List.copyOf(TestObjects.names());
    }

    @ParameterizedTest
    @MethodSource("names")
    void everyObjectReads(String name) {
        ObjectSpec spec = spec(name);

        assertThat(spec.license()).isEqualTo("Dual BSD/GPL");
        assertThat(spec.btf()).isPresent();
        assertThat(spec.programs()).isNotEmpty();
        assertThat(spec.programs()).allSatisfy(program -> {
            // One is there to be named in code.
            assertThat(program.kind().isPresent()).isEqualTo(!program.name().equals("nameless"));
            assertThat(program.function().instructions()).isNotEmpty();
        });
    }

    @Test
    void mapsThatBtfDefines() {
        ObjectSpec spec = spec("maps.bpf.o");

        MapSpec hash = spec.map("hash");
        assertThat(hash.type()).contains(MapType.HASH);
        assertThat(hash.keySize()).isEqualTo(8);
        assertThat(hash.valueSize()).isEqualTo(16);
        assertThat(hash.maxEntries()).isEqualTo(64);
        assertThat(hash.keyTypeId()).isNotZero();
        MapSpec ring = spec.map("ring");
        assertThat(ring.type()).contains(MapType.RINGBUF);
        assertThat(ring.maxEntries()).isEqualTo(4096);
        assertThat(ring.keySize()).isZero();
        assertThat(spec.map("per_cpu_hash").type()).contains(MapType.PERCPU_HASH);
    }

    @Test
    void globalDataBySectionWithItsVariables() {
        ObjectSpec spec = spec("globals.bpf.o");

        assertThat(spec.maps().stream().filter(MapSpec::isData).map(MapSpec::name))
                .contains(".rodata", ".data", ".bss", ".data.custom", ".rodata.custom");
        GlobalSpec constant = spec.global("constant");
        assertThat(constant.map()).isEqualTo(".rodata");
        assertThat(constant.size()).isEqualTo(8);
        DataSection rodata = spec.findMap(".rodata").flatMap(MapSpec::data).orElseThrow();
        assertThat(rodata.readOnly()).isTrue();
        long value =
                java.nio.ByteBuffer.wrap(rodata.initial()).order(spec.order()).getLong(constant.offset());
        assertThat(value).isEqualTo(0x1122334455667788L);
        assertThat(spec.findMap(".bss").flatMap(MapSpec::data).orElseThrow().initial())
                .containsOnly(0);
        assertThat(spec.map(".data").flags() & MapSpec.F_RDONLY_PROG).isZero();
    }

    @Test
    void aMemberOfAStructIsAVariableToo() {
        ObjectSpec spec = spec("globals.bpf.o");
        GlobalSpec pair = spec.global("pair_out");
        GlobalSpec large = spec.global("pair_out.large");
        assertThat(large.map()).isEqualTo(pair.map());
        assertThat(large.offset()).isEqualTo(pair.offset() + 8);
        assertThat(large.size()).isEqualTo(8);
        assertThat(spec.findGlobal("pair_out.small").orElseThrow().size()).isOne();
        assertThat(spec.globals()).doesNotContain(large);
        assertThat(spec.findGlobal("counter.large")).as("not a struct").isEmpty();
        assertThat(spec.findGlobal("pair_out.large.part")).isEmpty();
        assertThat(spec.findGlobal("no_such.large")).isEmpty();
        assertThatThrownBy(() -> spec.global("pair_out.larg"))
                .isInstanceOf(UnknownNameException.class)
                .hasMessageContaining("pair_out.large");
    }

    @Test
    void kconfigExternsGetAMapOfTheirOwn() {
        ObjectSpec spec = spec("kconfig.bpf.o");

        ExternSpec version = spec.findExtern("LINUX_KERNEL_VERSION").orElseThrow();
        assertThat(version.kind()).isEqualTo(ExternSpec.Kind.KCONFIG);
        assertThat(version.weak()).isFalse();
        assertThat(version.size()).isEqualTo(4);
        ExternSpec hostname = spec.findExtern("CONFIG_DEFAULT_HOSTNAME").orElseThrow();
        assertThat(hostname.weak()).isTrue();
        assertThat(hostname.size()).isEqualTo(16);
        MapSpec map = spec.map(DataSection.KCONFIG);
        assertThat(map.valueSize()).isGreaterThanOrEqualTo(hostname.offset() + 16);
        assertThat(spec.findGlobal("CONFIG_HZ")).isPresent();
    }

    @Test
    void subprogramsAreFunctionsAndNoPrograms() {
        ObjectSpec spec = spec("calls.bpf.o");

        assertThat(spec.functions()).hasSizeGreaterThan(spec.programs().size());
        assertThat(spec.functions().stream()
                        .flatMap(f -> f.references().stream())
                        .filter(CodeReference.ToFunction.class::isInstance))
                .isNotEmpty();
        assertThat(spec.programs().stream().map(p -> p.function().sectionName()))
                .doesNotContain(".text");
    }

    @Test
    void programsByTheirSection() {
        ObjectSpec spec = spec("links.bpf.o");

        assertThat(spec.programs().stream().map(ProgramSpec::type))
                .contains(ProgramType.KPROBE, ProgramType.TRACEPOINT, ProgramType.RAW_TRACEPOINT);
    }

    @Test
    void whatIsNoBpfObjectSaysSo(@TempDir Path folder) throws IOException {
        Path text = folder.resolve("text.o");
        Files.writeString(text, "this is no object");
        Path empty = Files.createFile(folder.resolve("empty.o"));

        assertThatThrownBy(() -> ObjectSpec.read(text))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining(text.toString())
                .hasMessageContaining("not an ELF");
        assertThatThrownBy(() -> ObjectSpec.read(empty)).isInstanceOf(MalformedDataException.class);
        assertThatThrownBy(() -> ObjectSpec.read(folder))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("directory");
        assertThatThrownBy(() -> ObjectSpec.read(folder.resolve("missing"))).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void anExecutableIsRefusedWithAdvice() throws IOException {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        byte[] bytes = Files.readAllBytes(java);

        assertThatThrownBy(() -> ObjectSpec.parse("java", bytes))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("-target bpf");
    }

    @Test
    void aMapEditIsACopy() {
        MapSpec map = MapSpec.of("m", MapType.HASH, 4, 8, 16);

        assertThat(map.withMaxEntries(32).maxEntries()).isEqualTo(32);
        assertThat(map.maxEntries()).isEqualTo(16);
        assertThat(map.withSizes(8, 8).keySize()).isEqualTo(8);
        assertThat(map.withFlags(MapSpec.F_NO_PREALLOC).flags()).isEqualTo(1);
    }

    @Test
    void mapsAndProgramsInMapsFromTheStart() {
        ObjectSpec spec = spec("forms.bpf.o");

        MapSpec outer = spec.map("outer");
        assertThat(outer.slots())
                .containsExactly(new MapSpec.Slot(1, "first_inner"), new MapSpec.Slot(3, "second_inner"));
        MapSpec inner = outer.inner().orElseThrow();
        assertThat(inner.type()).contains(MapType.ARRAY);
        assertThat(inner.valueSize()).isEqualTo(8);
        assertThat(outer.valueSize()).isEqualTo(4);
        assertThat(spec.map("tails").slots()).containsExactly(new MapSpec.Slot(2, "tail"));
        MapSpec stacks = spec.map("stacks");
        assertThat(stacks.valueSize()).isEqualTo(1016);
        assertThat(stacks.valueTypeId()).isZero();
    }

    @Test
    void twoProgramsInASectionOneThatIsOptionalAndACallback() {
        ObjectSpec spec = spec("forms.bpf.o");

        assertThat(spec.programs().stream()
                        .filter(p -> p.sectionName().equals("socket"))
                        .map(ProgramSpec::name))
                .containsExactly("tail", "forms", "callback");
        assertThat(spec.program("callback").autoload()).isFalse();
        assertThat(spec.program("tail").autoload()).isTrue();
        assertThat(spec.program("callback").function().references())
                .hasSize(1)
                .allSatisfy(r -> assertThat(r).isInstanceOf(CodeReference.ToFunction.class));
    }

    @Test
    void kernelSymbolsByKind() {
        ObjectSpec spec = spec("forms.bpf.o");

        assertThat(spec.findExtern("bpf4j_no_such_symbol").orElseThrow().kind()).isEqualTo(ExternSpec.Kind.KSYM);
        assertThat(spec.findExtern("bpf4j_no_such_variable").orElseThrow().kind())
                .isEqualTo(ExternSpec.Kind.KSYM_TYPED);
        assertThat(spec.findExtern("bpf4j_no_such_function").orElseThrow().kind())
                .isEqualTo(ExternSpec.Kind.KFUNC);
        assertThat(spec.externs()).allMatch(ExternSpec::weak);
    }
}
