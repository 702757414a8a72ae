import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs a program twice in one JVM at the same time, each time by a class loader of its own, so with two copies of bpf4j's
 * classes: as two plugins, or two applications in one server.
 */
class TwoLoaders {
    public static void main(String[] arguments) throws Exception {
        String[] rest = List.of(arguments).subList(2, arguments.length).toArray(String[]::new);
        List<URL> classPath = new ArrayList<>();
        for (String element : arguments[0].split(":")) {
            classPath.add(Path.of(element).toUri().toURL());
        }
        Callable<Object> program = () -> {
            // Not closed: threads of bpf4j may load a class when the program has ended.
            ClassLoader loader = new URLClassLoader(classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
            Method main = loader.loadClass(arguments[1]).getMethod("main", String[].class);
            return main.invoke(null, (Object) rest);
        };
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            for (Future<Object> run : threads.invokeAll(List.of(program, program))) {
                run.get();
            }
        }
    }
}
