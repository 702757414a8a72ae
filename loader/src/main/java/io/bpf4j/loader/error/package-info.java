/**
 * Exceptions of the loader: one unchecked type for each failure that a caller may handle differently.
 *
 * {@snippet lang = "java":
 * try (BpfObject object = BpfLoader.of(ObjectSpec.read(Path.of("connects.bpf.o"))).load();
 *         LinkGroup links = object.attachAll()) {
 *     System.out.println(links.size() + " programs attached");
 * } catch (VerifierException e) {
 *     System.err.println(e.program() + ": " + e.place());
 *     Files.writeString(Path.of("verifier.log"), e.log());
 * } catch (UnsupportedFeatureException e) {
 *     System.err.println("needs Linux " + e.feature().since());
 * } catch (BpfException e) { // any other
 *     System.err.println(e.getMessage());
 * }
 * }
 *
 * <p>{@link io.bpf4j.sys.BpfException} is the base class. Every message says what failed, for which object,
 * why, and, if known, what to do. The exceptions are <i>immutable</i>.
 */
package io.bpf4j.loader.error;
