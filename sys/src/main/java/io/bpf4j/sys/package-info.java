/**
 * The machine that bpf4j works on, as one object ({@link io.bpf4j.sys.Host}); the base of the errors of loading and
 * attaching ({@link io.bpf4j.sys.BpfException}), and what a caller must know although it is no failure ({@link
 * io.bpf4j.sys.Diagnostic}).
 *
 * {@snippet lang = "java":
 * Host host = Host.running().withProc(Path.of("/host/proc")).withSys(Path.of("/host/sys")); // in a container
 * try (BpfObject object = BpfLoader.of(ObjectSpec.read(Path.of("gc.bpf.o"))).host(host).load()) {
 *     System.out.println(object.programs());
 * } catch (SyscallException e) {
 *     System.err.println(e.call() + ": " + e.errno() + e.hint().map(hint -> "; " + hint).orElse(""));
 * } catch (BpfException e) {
 *     System.err.println(e.getMessage()); // what failed, on which object, why, and what to do
 * }
 * }
 */
package io.bpf4j.sys;
