package io.bpf4j.loader.spec;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfType;
import java.util.Optional;

/**
 * A symbol that the loader must resolve. <i>Immutable.</i>
 *
 * <p>Tested by {@code ObjectSpecTest}.
 *
 * @param kind where the loader looks it up
 * @param name its name in the C source
 * @param weak whether it may be missing: a variable then reads 0, an address is 0
 * @param typeId BTF type in the object: the variable's type, or the function itself
 * @param offset the offset of a kconfig extern in the {@code .kconfig} map, in bytes; 0 for others
 * @param size the size of a kconfig extern in bytes; 0 for others
 */
public record ExternSpec(Kind kind, String name, boolean weak, int typeId, int offset, int size) {
    /** Where the loader finds an extern. */
    public enum Kind {
        /** A value of the kernel's configuration, or a value that the loader supplies, such as the kernel version. */
        KCONFIG,
        /** The address of a kernel symbol without type. */
        KSYM,
        /** A kernel variable with its BTF type. */
        KSYM_TYPED,
        /** A kernel function that programs may call. */
        KFUNC
    }

    /**
     * The types of {@code __kconfig} externs. The type decides which option values an extern accepts: a {@code bool}
     * does not accept a number, and a number does not accept {@code y}.
     *
     * <pre>
     *   BOOL      bool of 1 byte                     y, n
     *   CHAR      any other integer of 1 byte        y, n, m as characters; numbers
     *   INTEGER   integer of 2, 4 or 8 bytes         numbers
     *   TRISTATE  enum libbpf_tristate               n, y, m as 0, 1, 2
     *   TEXT      array of CHAR                      text in double quotes
     * </pre>
     *
     * Source: find_kcfg_type and set_kcfg_value_… in libbpf.c, because objects are written for libbpf.
     */
    public enum KconfigType {
        BOOL,
        CHAR,
        INTEGER,
        TRISTATE,
        TEXT;

        /** Only the enum's name distinguishes it from others; bpf_helpers.h declares it. */
        private static final String TRISTATE_NAME = "libbpf_tristate";

        /**
         * The kconfig type of a BTF type.
         *
         * @param id of the variable's type
         * @return empty if no extern can be of that type
         */
        public static Optional<KconfigType> of(Btf types, int id) {
            return switch (types.type(types.resolve(id))) {
                case BtfType.Int integer
                when integer.isBool() -> integer.size() == 1 ? Optional.of(BOOL) : Optional.empty();
                case BtfType.Int integer ->
                    switch (integer.size()) {
                        case 1 -> Optional.of(CHAR);
                        case 2, 4, 8 -> Optional.of(INTEGER);
                        default -> Optional.empty();
                    };
                case BtfType.Enum32 e when e.size() == 4 && e.name().equals(TRISTATE_NAME) -> Optional.of(TRISTATE);
                case BtfType.Enum64 e when e.name().equals(TRISTATE_NAME) -> Optional.of(TRISTATE);
                case BtfType.Array array
                when array.count() > 0
                        && types.type(types.resolve(array.elementType())) instanceof BtfType.Int element
                        && element.size() == 1
                        && !element.isBool() -> Optional.of(TEXT);
                default -> Optional.empty();
            };
        }

        /** The alignment in bytes of a variable of this size. */
        int alignment(int size) {
            return switch (this) {
                case BOOL, CHAR, TEXT -> 1;
                case INTEGER, TRISTATE -> size;
            };
        }
    }
}
