package io.bpf4j.loader.spec;

import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.sys.internal.call.Struct;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * The value that an edit gives a variable. It is encoded after all edits, because an edit may change the variable's
 * size. <i>Immutable.</i>
 *
 * <p>Tested by {@code BpfLoaderTest} and {@code LoadedDefinitionsTest}.
 */
@FunctionalInterface
interface InitialValue {
    /**
     * The bytes of the variable.
     *
     * @throws InvalidObjectException if the value does not fit
     */
    byte[] encode(ObjectSpec object, GlobalSpec variable);

    /** An integer, an enumerator, or a boolean as 0 or 1. */
    static InitialValue of(long value) {
        return (object, variable) -> {
            int size = variable.size();
            if (!Struct.isInteger(size)) {
                throw misfit(object, variable, "and can't be set from a number");
            }
            if (!Struct.fits(value, size)) {
                throw misfit(object, variable, "too few for " + value);
            }
            ByteBuffer bytes = ByteBuffer.allocate(size).order(object.order());
            Struct.put(bytes, 0, size, value);
            return bytes.array();
        };
    }

    /** All bytes of a variable, or fewer for an array, whose other bytes are 0. */
    static InitialValue of(byte[] value) {
        byte[] copy = value.clone();
        return (object, variable) -> {
            byte[] bytes = new byte[variable.size()];
            if (copy.length > bytes.length || (copy.length < bytes.length && !isArray(object, variable))) {
                throw misfit(object, variable, "but the value has " + copy.length);
            }
            System.arraycopy(copy, 0, bytes, 0, copy.length);
            return bytes;
        };
    }

    /** A value that a codec encodes; the codec is compared with the variable's type. */
    static <T> InitialValue of(Codec<T> codec, T value) {
        return (object, variable) -> {
            if (codec.size() != variable.size()) {
                throw misfit(object, variable, "but the codec has " + codec.size());
            }
            object.declaredType(variable.typeId(), variable.size())
                    .flatMap(codec::difference)
                    .ifPresent(difference -> {
                        throw misfit(object, variable, "but the codec does not match its type: " + difference);
                    });
            byte[] bytes = new byte[variable.size()];
            codec.encode(value, MemorySegment.ofArray(bytes), 0);
            return bytes;
        };
    }

    private static boolean isArray(ObjectSpec object, GlobalSpec variable) {
        return object.btf()
                .filter(types -> types.type(types.resolve(variable.typeId())) instanceof BtfType.Array)
                .isPresent();
    }

    private static InvalidObjectException misfit(ObjectSpec object, GlobalSpec variable, String problem) {
        return new InvalidObjectException(object.source() + ": global variable \"" + variable.name() + "\" has "
                + variable.size() + " bytes, " + problem);
    }
}
