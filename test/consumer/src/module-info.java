module org.example.consumer {
    requires io.bpf4j.objects;
    requires io.bpf4j.usdt;

    // Codec.ofRecord reads the class's records by reflection.
    opens org.example.consumer to
            io.bpf4j.loader;
}
