package io.bpf4j.trace.stack;

import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.linux.Kallsyms;
import java.io.IOException;
import java.util.Arrays;

/**
 * The functions of the kernel and its modules by address, from {@code kallsyms}. Each line has address, type and name,
 * and for a module's function a tab and the module's name. Loaded BPF programs are listed as functions of a module
 * {@code bpf}.
 *
 * <p>By default all addresses read as 0 without CAP_SYSLOG; if sysctl kernel.kptr_restrict is 2, they always do.
 *
 * <p><i>Confined.</i>
 *
 * <p>Tested by {@code SymbolizerTest}.
 */
final class KernelFunctions {
    private static final long MAX_NAME_BYTES = 1L << 28;

    private final Kallsyms symbols;
    private final Names names;
    private final Rereads rereads = new Rereads();
    private AddressTable functions = new AddressTable.Builder(0).build();
    private boolean read;
    private String problem = "";

    KernelFunctions(Host host, Names names) {
        this.symbols = Kallsyms.of(host);
        this.names = names;
    }

    /** Why there are no names; empty if there are some. */
    String problem() {
        return problem;
    }

    /**
     * The frame of an address.
     *
     * @param lookup the address to look up first: for a return address, the byte before it
     */
    Frame frame(long address, long lookup) {
        int found = find(address, lookup);
        if (found < 0 && address != 0 && (!read || rereads.isDue())) {
            boolean first = !read;
            refresh();
            found = find(address, lookup);
            if (!first) {
                rereads.record(found >= 0);
            }
        }
        if (found < 0) {
            return Frame.unknown(address);
        }
        String name = functions.name(found);
        // "ext4_sync_file\t[ext4]"
        int tab = name.indexOf('\t');
        String symbol = tab < 0 ? name : name.substring(0, tab);
        String module = tab < 0 ? "" : name.substring(tab + 1).replace("[", "").replace("]", "");
        return new Frame(
                address, names.of(symbol), symbol, address - functions.start(found), module, Frame.Source.KERNEL);
    }

    private int find(long address, long lookup) {
        int found = functions.find(lookup);
        return found >= 0 ? found : functions.find(address);
    }

    private void refresh() {
        AddressTable.Builder builder = new AddressTable.Builder(MAX_NAME_BYTES);
        read = true;
        try {
            symbols.forEach((address, type, line, from, to) -> add(builder, address, type, line, from, to));
        } catch (IOException e) {
            problem = "the kernel's symbols can't be read: " + e.getMessage();
            return;
        }
        functions = builder.build();
        problem = functions.count() > 0
                ? ""
                : "the kernel hides the addresses of its symbols: CAP_SYSLOG is missing, or sysctl kernel.kptr_restrict"
                        + " is 2";
    }

    private static void add(AddressTable.Builder builder, long address, byte type, byte[] line, int from, int to) {
        // Functions have type t or T, weak ones w or W. Of two names for one address, the exported one is kept.
        if (address != 0 && "tTwW".indexOf(type) >= 0) {
            builder.add(address, 0, Arrays.copyOfRange(line, from, to), type == 'T' ? 2 : type == 't' ? 1 : 0);
        }
    }
}
