package io.bpf4j.cli.export;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import io.bpf4j.cli.failure.AccessFile;
import io.bpf4j.cli.failure.CommandException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

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

    /** Kinds of keys, each with a signature that a key can make. */
    private static final List<List<String>> KINDS =
            List.of(List.of("RSA", "SHA256withRSA"), List.of("EC", "SHA256withECDSA"), List.of("EdDSA", "EdDSA"));

    private static final char[] NO_PASSWORD = new char[0];

    private final Source source;
    private final SSLContext context;
    private volatile Loaded loaded;

    /** For handshakes that have begun with it. */
    private volatile Loaded before;

    /**
     * Where the keys are.
     *
     * @param certificate of the server, and after it those of the authorities between it and the root
     * @param key of the first certificate, without a password
     * @param readers certificates of the authorities that sign those of readers; empty if readers need none
     */
    public record Source(Path certificate, Path key, Optional<Path> readers) {}

    /** What was read at one time. */
    private record Loaded(
            int number,
            X509ExtendedKeyManager keys,
            @Nullable X509ExtendedTrustManager readers) {}

    private ServerTls(Source source, Loaded loaded) throws GeneralSecurityException {
        this.source = source;
        this.loaded = loaded;
        this.before = loaded;
        this.context = SSLContext.getInstance("TLS");
        context.init(new KeyManager[] {new Keys()}, new TrustManager[] {new Readers()}, null);
    }

    /**
     * Reads the files.
     *
     * @throws CommandException if one is not what it should be, or another user can change it, or read the key
     */
    public static ServerTls of(Source source) throws IOException {
        try {
            return new ServerTls(source, load(source, 0));
        } catch (GeneralSecurityException e) {
            throw unusable(source.certificate(), e);
        }
    }

    /**
     * Reads the files again.
     *
     * @throws CommandException as {@link #of}; the former ones are still used then
     */
    public void reload() throws IOException {
        Loaded next = load(source, loaded.number() + 1);
        before = loaded;
        loaded = next;
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
                parameters.setNeedClientAuth(knowsReaders());
                connection.setSSLParameters(parameters);
            }
        };
    }

    private static Loaded load(Source source, int number) throws IOException {
        List<X509Certificate> chain = certificates(source.certificate(), AccessFile.own(source.certificate(), MAX_PEM));
        PrivateKey key = key(source.key(), AccessFile.secret(source.key(), MAX_PEM));
        try {
            if (!fit(key, chain.getFirst())) {
                throw new CommandException(
                        source.key() + ": is not the key of the first certificate of " + source.certificate());
            }
            X509ExtendedTrustManager readers = source.readers().isEmpty()
                    ? null
                    : trust(certificates(
                            source.readers().get(),
                            AccessFile.own(source.readers().get(), MAX_PEM)));
            return new Loaded(number, keys(key, chain), readers);
        } catch (GeneralSecurityException e) {
            throw unusable(source.certificate(), e);
        }
    }

    private static CommandException unusable(Path file, GeneralSecurityException e) {
        return new CommandException(file + ": can't be used for TLS: " + e.getMessage(), e);
    }

    private static List<X509Certificate> certificates(Path file, byte[] pem) {
        try {
            Collection<? extends Certificate> all =
                    CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(pem));
            if (!all.isEmpty()) {
                return all.stream().map(X509Certificate.class::cast).toList();
            }
        } catch (CertificateException e) {
            throw new CommandException(file + ": has no certificates in PEM: " + e.getMessage(), e);
        }
        throw new CommandException(file + ": has no certificate in PEM");
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
                return KeyFactory.getInstance(kind.getFirst()).generatePrivate(new PKCS8EncodedKeySpec(encoded));
            } catch (InvalidKeySpecException e) {
                // A key of another kind, or none.
            } catch (GeneralSecurityException e) {
                throw unusable(file, e);
            }
        }
        throw new CommandException(file + ": the private key is none of RSA, EC and EdDSA");
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

    private static X509ExtendedKeyManager keys(PrivateKey key, List<X509Certificate> chain)
            throws GeneralSecurityException, IOException {
        KeyStore store = empty();
        store.setKeyEntry("server", key, NO_PASSWORD, chain.toArray(Certificate[]::new));
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, NO_PASSWORD);
        return (X509ExtendedKeyManager) factory.getKeyManagers()[0];
    }

    private static X509ExtendedTrustManager trust(List<X509Certificate> authorities)
            throws GeneralSecurityException, IOException {
        KeyStore store = empty();
        for (int i = 0; i < authorities.size(); i++) {
            store.setCertificateEntry(Integer.toString(i), authorities.get(i));
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return (X509ExtendedTrustManager) factory.getTrustManagers()[0];
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    /**
     * The key and the certificate that are loaded. A handshake asks for a name first, and then for what has the name, so
     * a name has the number of what was loaded.
     */
    private final class Keys extends X509ExtendedKeyManager {
        @Override
        public @Nullable String chooseEngineServerAlias(String type, Principal @Nullable [] issuers, SSLEngine engine) {
            Loaded now = loaded;
            String alias = now.keys().chooseEngineServerAlias(type, issuers, engine);
            return alias == null ? null : now.number() + ":" + alias;
        }

        @Override
        public X509Certificate @Nullable [] getCertificateChain(String alias) {
            Loaded of = of(alias);
            return of == null ? null : of.keys().getCertificateChain(alias.substring(alias.indexOf(':') + 1));
        }

        @Override
        public @Nullable PrivateKey getPrivateKey(String alias) {
            Loaded of = of(alias);
            return of == null ? null : of.keys().getPrivateKey(alias.substring(alias.indexOf(':') + 1));
        }

        private @Nullable Loaded of(String alias) {
            return Stream.of(loaded, before)
                    .filter(each -> alias.startsWith(each.number() + ":"))
                    .findFirst()
                    .orElse(null);
        }

        @Override
        public String @Nullable [] getServerAliases(String type, Principal @Nullable [] issuers) {
            return null; // the JDK asks for a name by the connection
        }

        @Override
        public @Nullable String chooseServerAlias(String type, Principal @Nullable [] issuers, Socket socket) {
            return null; // likewise: the JDK's server has no such sockets
        }

        @Override
        public String @Nullable [] getClientAliases(String type, Principal @Nullable [] issuers) {
            return null;
        }

        @Override
        public @Nullable String chooseClientAlias(String[] type, Principal @Nullable [] issuers, Socket socket) {
            return null;
        }
    }

    /** Judges the certificates of readers by the authorities that are loaded. */
    private final class Readers extends X509ExtendedTrustManager {
        private X509ExtendedTrustManager judge() throws CertificateException {
            X509ExtendedTrustManager readers = loaded.readers();
            if (readers == null) {
                throw new CertificateException("no certificate of a reader is asked for");
            }
            return readers;
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            judge().checkClientTrusted(chain, type, engine);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            judge().checkClientTrusted(chain, type, socket);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
            judge().checkClientTrusted(chain, type);
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            X509ExtendedTrustManager readers = loaded.readers();
            return readers == null ? new X509Certificate[0] : readers.getAcceptedIssuers();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            checkServerTrusted(chain, type);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            checkServerTrusted(chain, type);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
            throw new CertificateException("this is a server, and connects to none");
        }
    }
}
