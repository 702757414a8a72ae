/*
 * The program that benchmarks attach to: SITES sites of the probe bench:site with 20 argument strings among them, or
 * STRINGS. It ends as soon as it is run, or with -DRUNNING as soon as its standard input does, and then it writes a byte
 * first; what is measured is attaching, not firing. Built by the Makefile beside it:
 *
 *     gcc -c -DSITES=1000 sites.S && ld -o sites-1000 sites.o
 *
 * With -DPROBES=500 the sites belong to that many probes, bench:p0 and so on, in turn.
 *
 * The notes are written out here in place of <sys/sdt.h>, so that 10,000 of them assemble in a moment. The form is that
 * of SystemTap's wiki, page UserSpaceProbeImplementation: an ELF note of owner "stapsdt" and type 3 whose description is
 * the address of the nop, the link-time address of .stapsdt.base, the address of the semaphore (0: none), then provider,
 * name and arguments, each ended by NUL.
 */
#ifndef STRINGS
#define STRINGS 20
#endif

        .section .stapsdt.base, "aG", "progbits", .stapsdt.base, comdat
        .weak   _.stapsdt.base
        .hidden _.stapsdt.base
_.stapsdt.base:
        .space  1

        .altmacro
        .macro  site offset probe
        /* 64 bytes apart: the density of a large program, and not all of them in one page. */
        .balign 64, 0xcc
990:    nop
        .pushsection .note.stapsdt, "", "note"
        .balign 4
        .4byte  992f - 991f, 994f - 993f, 3
991:    .asciz  "stapsdt"
992:    .balign 4
993:    .8byte  990b, _.stapsdt.base, 0
        .asciz  "bench"
#ifdef PROBES
        .asciz  "p\probe"
#else
        .asciz  "site"
#endif
        .asciz  "-4@-\offset\()(%rbp) 8@%rax"
994:    .balign 4
        .popsection
        .endm

        .text
        .global _start
_start:
#ifdef RUNNING
        mov     $1, %eax                /* write(1, _start, 1) */
        mov     $1, %edi
        lea     _start(%rip), %rsi
        mov     $1, %edx
        syscall
        xor     %eax, %eax              /* read(0, the stack, 1) */
        xor     %edi, %edi
        lea     -64(%rsp), %rsi
        syscall
#endif
        mov     $231, %eax              /* exit_group(0) */
        xor     %edi, %edi
        syscall

        .set    number, 0
        .rept   SITES
#ifdef PROBES
        site    %(8 + 4 * (number % STRINGS)), %(number % PROBES)
#else
        site    %(8 + 4 * (number % STRINGS)), 0
#endif
        .set    number, number + 1
        .endr

        .section .note.GNU-stack, "", "progbits"
