import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** A JVM that collects its garbage once for each line that it reads, and says so; see {@code pod} and {@code service}. */
class Collects {
    public static void main(String[] arguments) throws IOException {
        BufferedReader words = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        while (words.readLine() != null) {
            System.gc();
            System.out.println("collected");
        }
    }
}
