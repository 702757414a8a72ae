/**
 * The description of a site: its addresses, its code, and the locations of its arguments.
 *
 * {@snippet lang = "java":
 * for (UsdtArg arg : UsdtArg.parse(Machine.X86_64, "-4@-20(%rbp) 8@%rdi 8f@%xmm0")) {
 *     String place = switch (arg.operand()) {
 *         case UsdtArg.Constant constant -> "the number " + constant.value();
 *         case UsdtArg.Register register -> "register " + register.name();
 *         case UsdtArg.Memory memory -> memory.offset() + " bytes from " + memory.base();
 *         case UsdtArg.Unsupported unsupported -> unsupported.raw() + ", which can't be read: " + unsupported.reason();
 *     };
 *     System.out.println(arg.size() + (arg.signed() ? " signed" : "") + " bytes: " + place);
 * }
 * }
 *
 * <p>The grammars of argument strings work on text only, without files or kernels. No parser throws for any input: an
 * argument that can't be read is an {@link io.bpf4j.usdt.site.UsdtArg.Unsupported} with the reason.
 */
package io.bpf4j.usdt.site;
