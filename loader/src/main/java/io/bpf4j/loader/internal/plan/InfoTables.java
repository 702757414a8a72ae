package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.BtfExt;
import io.bpf4j.loader.internal.sys.ProgCommand.InfoTable;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The function and line information of a program: the object's records for the functions in the program, with their new
 * places. All or nothing, because the kernel rejects a table with gaps. <i>Confined.</i>
 *
 * <p>Tested by {@code BpfLoaderTest}.
 */
final class InfoTables {
    private final ByteOrder order;
    private final RecordsByPlace<BtfExt.FuncInfo> functions;
    private final RecordsByPlace<BtfExt.LineInfo> lines;

    InfoTables(ObjectSpec spec) {
        this.order = spec.order();
        this.functions = new RecordsByPlace<>(spec, BtfExt::functions, BtfExt.FuncInfo::offset);
        this.lines = new RecordsByPlace<>(spec, BtfExt::lines, BtfExt.LineInfo::offset);
    }

    /** {@code struct bpf_func_info}: u32 instruction, u32 type id; the kernel requires one for every function. */
    InfoTable functions(Map<FunctionSpec, Integer> places) {
        ByteBuffer records = ByteBuffer.allocate(places.size() * 8).order(order);
        for (Map.Entry<FunctionSpec, Integer> place : places.entrySet()) {
            FunctionSpec function = place.getKey();
            List<BtfExt.FuncInfo> info = functions.of(function);
            if (info.isEmpty() || functions.slot(function, info.getFirst()) != 0) {
                return InfoTable.NONE;
            }
            records.putInt(place.getValue()).putInt(info.getFirst().type());
        }
        return new InfoTable(records.array(), 8);
    }

    /** {@code struct bpf_line_info}: u32 instruction, u32 file, u32 line's text, u32 line and column. */
    InfoTable lines(Map<FunctionSpec, Integer> places) {
        List<int[]> all = new ArrayList<>();
        for (Map.Entry<FunctionSpec, Integer> place : places.entrySet()) {
            FunctionSpec function = place.getKey();
            List<BtfExt.LineInfo> own = lines.of(function);
            // The kernel requires a line for the first instruction of every function, and one at most for each
            // (check_btf_line of kernel/bpf/verifier.c).
            if (own.isEmpty() || own.size() > function.size() || lines.slot(function, own.getFirst()) != 0) {
                return InfoTable.NONE;
            }
            for (BtfExt.LineInfo line : own) {
                int slot = place.getValue() + lines.slot(function, line);
                all.add(new int[] {slot, line.file(), line.text(), line.position()});
            }
        }
        ByteBuffer records = ByteBuffer.allocate(all.size() * 16).order(order);
        for (int[] line : all) {
            for (int word : line) {
                records.putInt(word);
            }
        }
        return new InfoTable(records.array(), 16);
    }
}
