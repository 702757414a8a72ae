// Makes a library with USDT probes while it runs, in the layout of libstapsdt 0.1.1 (src/shared-lib.c and src/sdtnote.c),
// as programs of Node.js and Python do, which have no compiler at hand:
//   - the first section after the null section is the table of names; there is no PT_NOTE;
//   - the notes are the last part of the file and in no segment, but their section has an address;
//   - the code of a probe is a function of its own, of nops and a return, whose first instruction is the site;
//   - the arguments are those of the function, in registers: "-4@%edi" is written "-4@%rdi";
//   - only the dynamic section can be written to; segments are aligned to 2 MiB.
//
//   main tmp FILE    writes the file, which nobody else may read, and loads it
//   main memfd       the same in memory
//
// It prints "ready" and the path of the library. Then "unload" of its input unloads the library, "load" loads it again, and
// "load elsewhere" at other addresses than before; "replace" makes another library of the same kind and loads it. Each
// other line is a round: load:first(long i, int -i, const char *) and load:second() for i from 0 to 9; then it prints
// "fired".
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGN 0x200000
#define PROBES 2

enum { NULL_SECTION, NAMES, HASH, DYNSYM, DYNSTR, TEXT, EH_FRAME, DYNAMIC, BASE, NOTES, SECTIONS };

static const char code[] = {0x90, 0x90, 0x90, 0x90, (char)0xc3};
static const char *const names[PROBES] = {"first", "second"};
static const char *const arguments[PROBES] = {"8@%rdi -4@%rsi 8@%rdx", ""};

static char file[4096];
static size_t size;
static Elf64_Shdr sections[SECTIONS];
static char section_names[256] = "";
static size_t section_names_size = 1;

static void die(const char *what) {
    perror(what);
    exit(1);
}

// Appends bytes to the file; where they are.
static size_t append(const void *bytes, size_t length, size_t alignment) {
    size = (size + alignment - 1) / alignment * alignment;
    size_t at = size;
    memcpy(file + at, bytes, length);
    size += length;
    return at;
}

static void section(int number, const char *name, int type, int flags, int link, size_t at, size_t length) {
    sections[number] = (Elf64_Shdr){
        .sh_name = section_names_size, .sh_type = type, .sh_flags = flags, .sh_link = link,
        .sh_addr = number == DYNAMIC ? at + ALIGN : at, .sh_offset = at, .sh_size = length, .sh_addralign = 1};
    strcpy(section_names + section_names_size, name);
    section_names_size += strlen(name) + 1;
}

static size_t note(char *to, const char *name, const char *args, size_t site, size_t base) {
    Elf64_Nhdr header = {.n_namesz = 8, .n_type = 3};
    Elf64_Addr addresses[3] = {site, base, 0};
    char *at = to + sizeof header;
    memcpy(at, "stapsdt", 8);
    memcpy(at + 8, addresses, sizeof addresses);
    size_t length = 8 + sizeof addresses;
    length += sprintf(at + length, "load") + 1;
    length += sprintf(at + length, "%s", name) + 1;
    length += sprintf(at + length, "%s", args) + 1;
    header.n_descsz = length - 8;
    memcpy(to, &header, sizeof header);
    return (sizeof header + length + 3) / 4 * 4;
}

static void make(void) {
    Elf64_Sym symbols[1 + PROBES] = {0};
    char strings[64] = "";
    char text[PROBES * sizeof code];
    char notes[512] = "";
    // One bucket, whose chain has all symbols.
    Elf32_Word hash[3 + 1 + PROBES] = {1, 1 + PROBES, 1};
    size_t string_size = 1, note_size = 0;

    size = sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Phdr);
    for (int i = 0; i < PROBES; i++) {
        memcpy(text + i * sizeof code, code, sizeof code);
        symbols[1 + i] = (Elf64_Sym){
            .st_name = string_size, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), .st_shndx = TEXT};
        strcpy(strings + string_size, names[i]);
        string_size += strlen(names[i]) + 1;
        hash[3 + 1 + i] = i + 1 < PROBES ? i + 2 : 0;
    }
    size_t hash_at = append(hash, sizeof hash, 8);
    size_t symbols_at = append(symbols, sizeof symbols, 8);
    size_t strings_at = append(strings, string_size, 1);
    size_t text_at = append(text, sizeof text, 16);
    size_t base_at = append("", 1, 1);
    size_t code_end = size = (size + 7) / 8 * 8;
    for (int i = 0; i < PROBES; i++) {
        symbols[1 + i].st_value = text_at + i * sizeof code;
        note_size += note(notes + note_size, names[i], arguments[i], symbols[1 + i].st_value, base_at);
    }
    memcpy(file + symbols_at, symbols, sizeof symbols);
    Elf64_Dyn dynamic[11] = {
        {DT_HASH, {hash_at}}, {DT_STRTAB, {strings_at}}, {DT_SYMTAB, {symbols_at}}, {DT_STRSZ, {string_size}}};
    size_t dynamic_at = append(dynamic, sizeof dynamic, 8);
    size_t notes_at = append(notes, note_size, 4);

    section(NAMES, ".shstrtab", SHT_STRTAB, 0, 0, 0, 0);
    section(HASH, ".hash", SHT_HASH, SHF_ALLOC, DYNSYM, hash_at, sizeof hash);
    section(DYNSYM, ".dynsym", SHT_DYNSYM, SHF_ALLOC, DYNSTR, symbols_at, sizeof symbols);
    sections[DYNSYM].sh_info = 1;
    sections[DYNSYM].sh_entsize = sizeof(Elf64_Sym);
    section(DYNSTR, ".dynstr", SHT_STRTAB, SHF_ALLOC, 0, strings_at, string_size);
    section(TEXT, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, text_at, sizeof text);
    section(EH_FRAME, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0, code_end, 0);
    section(DYNAMIC, ".dynamic", SHT_DYNAMIC, SHF_WRITE | SHF_ALLOC, DYNSTR, dynamic_at, sizeof dynamic);
    section(BASE, ".stapsdt.base", SHT_PROGBITS, SHF_ALLOC, 0, base_at, 1);
    section(NOTES, ".note.stapsdt", SHT_NOTE, 0, 0, notes_at, note_size);
    sections[NAMES].sh_offset = append(section_names, section_names_size, 1);
    sections[NAMES].sh_size = section_names_size;

    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT}, .e_type = ET_DYN,
        .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_entry = text_at, .e_phoff = sizeof header,
        .e_ehsize = sizeof header, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 4,
        .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECTIONS, .e_shstrndx = NAMES};
    header.e_shoff = append(sections, sizeof sections, 8);
    Elf64_Phdr segments[4] = {
        {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = code_end, .p_memsz = code_end, .p_align = ALIGN},
        {.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = dynamic_at, .p_vaddr = dynamic_at + ALIGN,
         .p_filesz = sizeof dynamic, .p_memsz = sizeof dynamic, .p_align = ALIGN},
        {.p_type = PT_DYNAMIC, .p_flags = PF_R | PF_W, .p_offset = dynamic_at, .p_vaddr = dynamic_at + ALIGN,
         .p_filesz = sizeof dynamic, .p_memsz = sizeof dynamic, .p_align = 8},
        {.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16}};
    memcpy(file, &header, sizeof header);
    memcpy(file + sizeof header, segments, sizeof segments);
}

static const char *file_path;
static void *library;
static char *site;
static void (*first)(long, int, const char *);
static void (*second)(void);

static void load(void) {
    library = dlopen(file_path, RTLD_LAZY);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    first = (void (*)(long, int, const char *))dlsym(library, "first");
    second = (void (*)(void))dlsym(library, "second");
    if (!first || !second) exit(1);
    site = (char *)((unsigned long)first & -4096L);
}

// Writes the library into a new file, in memory if it has no name, and loads it.
static void create(const char *name) {
    static char path[64];
    static int fd = -1;
    if (fd >= 0) close(fd);
    if (name) unlink(name);
    fd = name ? open(name, O_RDWR | O_CREAT | O_EXCL, 0600) : memfd_create("load", 0);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", getpid(), fd);
    file_path = name ? name : path;
    if (fd < 0 || write(fd, file, size) != (ssize_t)size) die(file_path);
    load();
}

int main(int count, char **args) {
    char line[16];
    const char *name = count == 3 && !strcmp(args[1], "tmp") ? args[2] : NULL;

    if (!name && (count != 2 || strcmp(args[1], "memfd"))) return 2;
    make();
    create(name);
    printf("ready %s\n", file_path);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (!strcmp(line, "unload\n")) {
            dlclose(library);
            library = NULL;
            puts("unloaded");
        } else if (!strncmp(line, "load", 4)) {
            // With an argument the addresses that the library had are taken: it gets others.
            if (strchr(line, ' ') && mmap(site, ALIGN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != site) die("mmap");
            load();
            printf("loaded at %p\n", site);
        } else if (!strcmp(line, "replace\n")) {
            create(name);
            printf("loaded at %p\n", site);
        } else {
            for (int i = 0; i < 10; i++) {
                first(i * 1000000007L, -i, i % 2 ? "odd" : "even");
                second();
            }
            puts("fired");
        }
        fflush(stdout);
    }
    return 0;
}
