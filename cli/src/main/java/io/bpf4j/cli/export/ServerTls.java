package io.bpf4j.cli.export;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import io.bpf4j.cli.failure.AccessFile;
import io.bpf4j.cli.failure.CommandException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.KeyStoreException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.interfaces.RSAKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/**
 * The encryption of a server: the certificate by which readers know it, and the authorities that have signed those of
 * readers, if readers need one. Files in PEM (RFC 7468), which can be read again while the server runs: a connection that
 * is made later has the new ones. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code ServerAccessTest}.
 */
public final class ServerTls {
    /** Bytes of a file with keys or certificates; that of all authorities of a Debian has 220,000. */
    private static final int MAX_PEM = 1 << 20;

    private static final String PKCS8 = "PRIVATE KEY";
    private static final Pattern BLOCK =
            Pattern.compile("-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----(.*?)-----END \\1-----", Pattern.DOTALL);

    private static final String BEGIN_CERTIFICATE = "-----BEGIN CERTIFICATE-----";
    private static final Pattern CERTIFICATE = Pattern.compile(BEGIN_CERTIFICATE + "[^-]*-----END CERTIFICATE-----");

    /** Kinds of keys, each with a signature that a key can make. */
    private static final List<List<String>> KINDS =
            List.of(List.of("RSA", "SHA256withRSA"), List.of("EC", "SHA256withECDSA"), List.of("EdDSA", "EdDSA"));

    private static final char[] NO_PASSWORD = new char[0];

    /** Older versions have renegotiation, which a reader may ask for as often as they like. */
    private static final String[] PROTOCOLS = {"TLSv1.3"};

    /** Bits of an RSA key; the JDK takes no shorter one for TLS. */
    private static final int LEAST_RSA = 2048;

    private final Source source;
    private final ServerContext context;
    private volatile List<String> expired;

    /**
     * Where the keys are.
     *
     * @param certificate of the server, and after it those of the authorities between it and the root
     * @param key of the first certificate, without a password
     * @param readers certificates of the authorities that sign those of readers; empty if readers need none
     */
    public record Source(Path certificate, Path key, Optional<Path> readers) {}

    /**
     * What was read at one time.
     *
     * @param expired what no reader accepts any more, in words
     */
    private record Loaded(SSLContext context, List<String> expired) {}

    private ServerTls(Source source, Loaded loaded) {
        this.source = source;
        this.context = ServerContext.of(loaded.context());
        this.expired = loaded.expired();
    }

    /**
     * Reads the files.
     *
     * @throws CommandException if one is not what it should be, or another user can change it, or read the key
     */
    public static ServerTls of(Source source) throws IOException {
        return new ServerTls(source, load(source));
    }

    /**
     * Reads the files again. Connections that were made before end with their next request.
     *
     * @throws CommandException as {@link #of}; the former ones are still used then
     */
    public void reload() throws IOException {
        Loaded next = load(source);
        context.replace(next.context());
        expired = next.expired();
    }

    /** Which certificates have expired. */
    List<String> expired() {
        return expired;
    }

    /** Whether readers need a certificate. */
    boolean knowsReaders() {
        return source.readers().isPresent();
    }

    HttpsConfigurator configurator() {
        return new HttpsConfigurator(context) {
            @Override
            public void configure(HttpsParameters connection) {
                SSLParameters parameters = context.getDefaultSSLParameters();
                parameters.setProtocols(PROTOCOLS);
                parameters.setNeedClientAuth(knowsReaders());
                connection.setSSLParameters(parameters);
            }
        };
    }

    private static Loaded load(Source source) throws IOException {
        List<X509Certificate> chain = certificates(source.certificate());
        PrivateKey key = key(source.key(), AccessFile.secret(source.key(), MAX_PEM));
        List<X509Certificate> authorities =
                source.readers().isPresent() ? certificates(source.readers().get()) : List.of();
        try {
            if (!fit(key, chain.getFirst())) {
                throw new CommandException(
                        source.key() + ": is not the key of the first certificate of " + source.certificate());
            }
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(
                    keys(source.certificate(), key, chain), authorities.isEmpty() ? null : trust(authorities), null);
            List<String> expired = new ArrayList<>();
            addExpired(source.certificate(), chain, expired);
            source.readers().ifPresent(file -> addExpired(file, authorities, expired));
            return new Loaded(context, List.copyOf(expired));
        } catch (GeneralSecurityException e) {
            throw unusable(source.certificate(), e);
        }
    }

    private static void addExpired(Path file, List<X509Certificate> certificates, List<String> expired) {
        Instant now = Instant.now();
        certificates.stream()
                .map(certificate -> certificate.getNotAfter().toInstant())
                .filter(end -> end.isBefore(now))
                .findFirst()
                .ifPresent(end -> expired.add(file + ": a certificate expired on " + end));
    }

    private static CommandException unusable(Path file, GeneralSecurityException e) {
        return new CommandException(file + ": can't be used for TLS: " + e.getMessage(), e);
    }

    private static List<X509Certificate> certificates(Path file) throws IOException {
        String pem = new String(AccessFile.own(file, MAX_PEM), StandardCharsets.ISO_8859_1);
        List<X509Certificate> all = new ArrayList<>();
        Matcher block = CERTIFICATE.matcher(pem);
        while (block.find()) {
            try {
                all.add((X509Certificate) CertificateFactory.getInstance("X.509")
                        .generateCertificate(
                                new ByteArrayInputStream(block.group().getBytes(StandardCharsets.ISO_8859_1))));
            } catch (CertificateException e) {
                throw new CommandException(
                        file + ": certificate " + (all.size() + 1) + " can't be read: " + e.getMessage(), e);
            }
        }
        if (all.isEmpty()) {
            throw new CommandException(file + ": has no certificate in PEM");
        }
        if (all.size() < pem.split(BEGIN_CERTIFICATE, -1).length - 1) {
            throw new CommandException(file + ": certificate " + (all.size() + 1) + " has no end");
        }
        return all;
    }

    /** The first private key. Its text is in no message. */
    private static PrivateKey key(Path file, byte[] pem) {
        Matcher block = BLOCK.matcher(new String(pem, StandardCharsets.ISO_8859_1));
        if (!block.find()) {
            throw new CommandException(file + ": has no private key in PEM");
        }
        if (!block.group(1).equals(PKCS8)) {
            throw new CommandException(file + ": the key has the form '" + block.group(1)
                    + "'; bpf4j reads PKCS #8 without a password: openssl pkcs8 -topk8 -nodes -in " + file);
        }
        byte[] encoded;
        try {
            encoded = Base64.getMimeDecoder().decode(block.group(2));
        } catch (IllegalArgumentException e) {
            throw new CommandException(file + ": the private key is not in base 64", e);
        }
        for (List<String> kind : KINDS) {
            try {
                PrivateKey key =
                        KeyFactory.getInstance(kind.getFirst()).generatePrivate(new PKCS8EncodedKeySpec(encoded));
                if (key instanceof RSAKey rsa && rsa.getModulus().bitLength() < LEAST_RSA) {
                    throw new CommandException(file + ": an RSA key of "
                            + rsa.getModulus().bitLength() + " bits is too short for TLS; it needs " + LEAST_RSA);
                }
                return key;
            } catch (InvalidKeySpecException e) {
                // A key of another kind, or none.
            } catch (GeneralSecurityException e) {
                throw unusable(file, e);
            }
        }
        throw new CommandException(
                file + ": the private key is not an RSA, EC or EdDSA key; RSASSA-PSS keys can't be used");
    }

    /** Whether a certificate belongs to a key. */
    private static boolean fit(PrivateKey key, X509Certificate certificate) throws GeneralSecurityException {
        if (!key.getAlgorithm().equals(certificate.getPublicKey().getAlgorithm())) {
            return false;
        }
        String algorithm = KINDS.stream()
                .filter(kind -> kind.getFirst().equals(key.getAlgorithm()))
                .findFirst()
                .orElseThrow()
                .getLast();
        byte[] text = {1};
        Signature signature = Signature.getInstance(algorithm);
        signature.initSign(key);
        signature.update(text);
        byte[] signed = signature.sign();
        signature.initVerify(certificate.getPublicKey());
        signature.update(text);
        return signature.verify(signed);
    }

    private static KeyManager[] keys(Path file, PrivateKey key, List<X509Certificate> chain)
            throws GeneralSecurityException, IOException {
        KeyStore store = empty();
        try {
            store.setKeyEntry("server", key, NO_PASSWORD, chain.toArray(Certificate[]::new));
        } catch (KeyStoreException e) {
            throw new CommandException(
                    file + ": each certificate must be followed by that of the authority which has signed it", e);
        }
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, NO_PASSWORD);
        return factory.getKeyManagers();
    }

    private static TrustManager[] trust(List<X509Certificate> authorities)
            throws GeneralSecurityException, IOException {
        KeyStore store = empty();
        for (int i = 0; i < authorities.size(); i++) {
            store.setCertificateEntry(Integer.toString(i), authorities.get(i));
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }
}
