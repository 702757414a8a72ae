/**
 * The kernel's vocabulary as plain values: error numbers, kinds of map and program, attach types, versions, features,
 * and the kernel's information about a map or a program.
 *
 * {@snippet lang = "java":
 * try (BpfMap map = Maps.byId(42)) {
 *     MapInfo info = map.info();
 *     String type = MapType.of(info.typeNumber()).map(MapType::name).orElse("type " + info.typeNumber());
 *     System.out.println(info.name() + ": " + type + ", " + info.maxEntries() + " entries");
 * } catch (SyscallException e) {
 *     switch (e.errno()) {
 *         case ENOENT -> System.err.println("no map has this ID");
 *         case EPERM, EACCES -> System.err.println("not allowed: CAP_SYS_ADMIN is missing");
 *         default -> throw e;
 *     }
 * }
 * }
 *
 * <p>It uses no other package of the module, and does not access the running kernel.
 */
package io.bpf4j.sys.kernel;
