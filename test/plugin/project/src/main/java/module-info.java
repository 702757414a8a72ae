/** Opens nothing: the generated classes need no reflection. */
module org.example.forks {
    requires io.bpf4j.loader;
}
