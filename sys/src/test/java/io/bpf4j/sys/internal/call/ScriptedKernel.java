package io.bpf4j.sys.internal.call;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.ScriptedHost;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.ProgramInfo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A kernel for tests without root: says yes to everything, keeps maps in memory, remembers what it was asked and which
 * descriptors are open. Rules make it refuse or answer something else.
 *
 * <pre>{@code
 * ScriptedKernel kernel = new ScriptedKernel();
 * kernel.fail(LinkCommand.Create.class, Errno.EINVAL);              // each time
 * kernel.failNth(3, PerfCommand.Open.class, Errno.EMFILE);          // the third, and only that
 * kernel.answer(ProgCommand.Load.class, load -> kernel.refused(Errno.EACCES, "R0 !read_ok"));
 * ...
 * assertThat(kernel.commands(ProgCommand.Load.class)).hasSize(2);
 * assertThat(kernel.open()).isEmpty();
 * }</pre>
 *
 * <p>Like the real one it insists that descriptors are open and are its own, gives the lowest number that is free, and
 * is thread-safe.
 */
public final class ScriptedKernel implements Kernel {
    /** Numbers start here, so that a test that mixes them up with real ones shows. */
    private static final int FIRST_NUMBER = 1000;

    /** What every file here is, until a test says otherwise. */
    public static final FileIdentity UNKNOWN_FILE = new FileIdentity(0, 0, 0, 0);

    /** Those of root: explanations of errors depend on them. */
    private static final ProcessRights RIGHTS = new ProcessRights((1L << 41) - 1, true, false, 40, 0, 2, 1024);

    /** The accessors of each record class: a fuzz test executes millions of commands. */
    private static final ClassValue<List<Method>> ACCESSORS = new ClassValue<>() {
        @Override
        protected List<Method> computeValue(Class<?> type) {
            return Stream.of(type.getRecordComponents())
                    .map(RecordComponent::getAccessor)
                    .peek(accessor -> accessor.setAccessible(true))
                    .toList();
        }
    };

    private record Rule(Predicate<Command<?>> matches, Function<Command<?>, Object> answer) {}

    private final List<Rule> rules = new ArrayList<>();
    private final List<Command<?>> commands = new ArrayList<>();
    private final SortedMap<Integer, Fd> open = new TreeMap<>();
    private final Map<Integer, ScriptedMap> maps = new HashMap<>();
    /** What descriptors are, where this kernel made them; a program's id is the first number it had. */
    private final Map<Integer, Identity> identities = new HashMap<>();

    private final Map<String, Pinned> pins = new HashMap<>();
    private final List<Event> history = new ArrayList<>();
    private final Map<Long, Deque<String>> mappings = new HashMap<>();
    private final List<Fault> faults = new ArrayList<>();
    private int lowestFree = FIRST_NUMBER;
    private int mostOpen = Integer.MAX_VALUE;
    private int calls;
    private int nextId = 1;

    /** Something that came to be in this kernel, or that is gone again: {@code map "events"}. */
    public record Event(boolean made, String description) {}

    private record Identity(ObjectCommand.Kind kind, int id) {}

    private record Pinned(Identity identity, @Nullable ScriptedMap map) {}

    /** There are as many descriptors as may be. */
    private static final class NoneLeft extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** What this answers in place of a result: an error number. */
    private record Failure(Errno errno) {}

    /**
     * What befalls a call, whatever the rules say.
     *
     * @param calls which: the number of a call counts from 1, and never starts over
     * @param does throws, or returns in place of the result
     */
    private record Fault(BiPredicate<Integer, Command<?>> calls, Function<Command<?>, Object> does) {}

    /** The machine that has this kernel. */
    public Host host() {
        return ScriptedHost.of(this);
    }

    /** From now on, commands of that type fail. Later rules come before earlier ones. */
    public synchronized void fail(Class<?> type, Errno errno) {
        fail(type::isInstance, errno);
    }

    /** From now on, commands that the test accepts fail. */
    public synchronized void fail(Predicate<Command<?>> test, Errno errno) {
        rules.addFirst(new Rule(test, _ -> new Failure(errno)));
    }

    /** The n-th command of that type from now on fails, counted from 1, and no other. */
    public synchronized void failNth(int n, Class<?> type, Errno errno) {
        int[] seen = {0};
        rules.addFirst(new Rule(command -> type.isInstance(command) && ++seen[0] == n, _ -> new Failure(errno)));
    }

    /** Calls that the test accepts fail, before any rule is looked at. The number of a call counts from 1. */
    public synchronized void failCalls(BiPredicate<Integer, Command<?>> test, Errno errno) {
        faults.add(new Fault(test, command -> explained(command, errno)));
    }

    /** That call throws an error, such as a lack of memory. A close takes effect nevertheless. */
    public synchronized void throwAt(int number, Error error) {
        faults.add(new Fault((call, _) -> call == number, command -> {
            if (command instanceof FileCommand.Close || command instanceof FileCommand.Unmap) {
                usual(command);
            }
            throw error;
        }));
    }

    /** From now on, no more descriptors than these are open at the same time: EMFILE. */
    public synchronized void limitDescriptors(int most) {
        mostOpen = most;
    }

    /** From now on, a wait of a reader ends at once, as if another thread had woken it by its eventfd. */
    public synchronized void wakeReaders() {
        answer(FileCommand.EpollWait.class, wait -> {
            EpollEvent.encode(wait.events(), EpollEvent.READABLE, -1);
            return 1;
        });
    }

    /** From now on, commands of that type get this answer. */
    public synchronized <R, C extends Command<R>> void answer(Class<C> type, Function<C, R> answer) {
        rules.addFirst(new Rule(type::isInstance, command -> answer.apply(type.cast(command))));
    }

    /** All that was asked, in order. */
    public synchronized List<Command<?>> commands() {
        return List.copyOf(commands);
    }

    /** What was asked of that type, in order. */
    public synchronized <C> List<C> commands(Class<C> type) {
        return commands.stream().filter(type::isInstance).map(type::cast).toList();
    }

    /** Forgets what was asked. */
    public synchronized void clearCommands() {
        commands.clear();
    }

    /** What is open, by number: {@code map "events"}. */
    public synchronized Collection<String> open() {
        return open.values().stream().map(Fd::description).toList();
    }

    /** The paths that something is pinned at. */
    public synchronized Collection<String> pinned() {
        return List.copyOf(pins.keySet());
    }

    /** What came and went: descriptors, mappings, pins. */
    public synchronized List<Event> history() {
        return List.copyOf(history);
    }

    private void made(String description) {
        history.add(new Event(true, description));
    }

    private void gone(String description) {
        history.add(new Event(false, description));
    }

    /** Mappings that nobody has closed. */
    public synchronized int mappings() {
        return mappings.values().stream().mapToInt(Collection::size).sum();
    }

    /** The memory of a map, which a mapping shows, for a test to write what a program would. */
    public synchronized MemorySegment memory(Fd map, long offset, long size) {
        return map(map).memory(offset, size);
    }

    /** A new descriptor, for an answer. */
    public synchronized Fd newFd(String description) {
        int number = lowestFree;
        while (open.containsKey(number)) {
            number++;
        }
        lowestFree = number + 1;
        if (open.size() >= mostOpen) {
            throw new NoneLeft();
        }
        Fd fd = Fd.of(this, number, description);
        open.put(number, fd);
        made(description);
        return fd;
    }

    /** A verdict of the verifier, for an answer. */
    public static LoadResult refused(Errno errno, String log) {
        return new LoadResult.Refused(errno.number(), log, 0);
    }

    @Override
    @SuppressWarnings("unchecked") // each record's type argument is what its case gives
    public synchronized <R> R execute(Command<R> command) {
        commands.add(command);
        calls++;
        for (Fd fd : fds(command)) {
            if (open.get(fd.number()) != fd) {
                throw new IllegalStateException(command.call() + ": " + fd + " is not open in this kernel");
            }
        }
        int number = calls;
        for (Fault fault : List.copyOf(faults)) {
            if (fault.calls.test(number, command)) {
                return (R) fault.does.apply(command);
            }
        }
        try {
            for (Rule rule : List.copyOf(rules)) {
                if (rule.matches.test(command)) {
                    Object answer = rule.answer.apply(command);
                    return (R) (answer instanceof Failure failure ? failed(command, failure.errno.number()) : answer);
                }
            }
            return (R) usual(command);
        } catch (NoneLeft e) {
            return (R) explained(command, Errno.EMFILE);
        }
    }

    /** As the real kernel's exceptions, with the usual reason of the error. */
    private Object explained(Command<?> command, Errno errno) {
        try {
            return failed(command, errno.number());
        } catch (SyscallException e) {
            throw FailureHints.explained(command, errno.number(), RIGHTS);
        }
    }

    /** Each of them is a component of the record, or part of one. */
    private static List<Fd> fds(@Nullable Object of) {
        return switch (of) {
            case Fd fd -> List.of(fd);
            case LinkCommand.Details details -> details.fds();
            case List<?> list ->
                list.stream().flatMap(element -> fds(element).stream()).toList();
            case Record record ->
                ACCESSORS.get(record.getClass()).stream()
                        .flatMap(accessor -> fds(component(record, accessor)).stream())
                        .toList();
            case null, default -> List.of();
        };
    }

    private static @Nullable Object component(Record of, Method accessor) {
        try {
            return accessor.invoke(of);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Commands whose result carries the error number give it; the others throw. Linux releases the number of a
     * descriptor also if close(2) fails, as the manual says.
     */
    private Object failed(Command<?> command, int errno) {
        return switch (command) {
            case FileCommand.Close close -> {
                usual(close);
                throw new SyscallException(close.call(), errno, null);
            }
            case TokenCommand.With<?> with -> failed(with.command(), errno);
            case ProgCommand.Load _, ProgCommand.LoadBtf _ -> new LoadResult.Refused(errno, "", 0);
            case MapCommand.Element _, FileCommand.RaiseMemlock _ -> errno;
            // A kernel that refuses early leaves the count as it was asked for.
            case MapCommand.Batch batch -> new MapCommand.BatchResult(errno, batch.count());
            case FileCommand.Read _, FileCommand.Write _ -> (long) -errno;
            case ProcessCommand.Continue _, ProcessCommand.Listen _, ProcessCommand.Detach _ -> errno;
            default -> throw new SyscallException(command.call(), errno, null);
        };
    }

    private Object usual(Command<?> command) {
        return switch (command) {
            case MapCommand<?> map -> usual(map);
            case ProgCommand<?> program -> usual(program);
            case ObjectCommand<?> object -> usual(object);
            case LinkCommand<?> link -> usual(link);
            case TokenCommand<?> token ->
                switch (token) {
                    case TokenCommand.Create create ->
                        newFd("BPF token of " + create.bpffs().description());
                    case TokenCommand.With<?> with -> execute(with.command());
                };
            case PerfCommand<?> perf ->
                switch (perf) {
                    case PerfCommand.Open event -> newFd(event.description());
                    case PerfCommand.SetProgram _, PerfCommand.Enable _, PerfCommand.Pause _ -> 0;
                };
            case FileCommand<?> file -> usual(file);
            case PeerCommand<?> peer -> throw new UnsupportedOperationException(peer.call());
            case NetlinkCommand<?> netlink ->
                switch (netlink) {
                    case NetlinkCommand.Open _ -> newFd("netlink socket");
                    case NetlinkCommand.Exchange _ -> List.of();
                };
            case SocketCommand<?> socket ->
                switch (socket) {
                    case SocketCommand.SetProgram _ -> 0;
                    case SocketCommand.Describe _ ->
                        new SocketCommand.Describe.Ends(0, 0, false, Optional.empty(), Optional.empty());
                };
            case ProcessCommand<?> process ->
                switch (process) {
                    case ProcessCommand.Wait _ -> WaitStatus.NO_TRACEES;
                    case ProcessCommand.SignalOrigin _ -> new ProcessCommand.SignalOrigin.Origin(0, 0);
                    case ProcessCommand.EventMessage event -> event.tid();
                    default -> 0;
                };
        };
    }

    private Object usual(MapCommand<?> command) {
        return switch (command) {
            case MapCommand.Create create -> {
                if (ScriptedMap.isTooLarge(create)) {
                    throw new SyscallException(create.call(), Errno.E2BIG.number(), null);
                }
                Fd fd = newFd("map \"" + create.name() + "\"");
                maps.put(fd.number(), new ScriptedMap(create, nextId++));
                yield fd;
            }
            case MapCommand.WhyRefused _ -> "";
            case MapCommand.Element element -> map(element.map()).element(element);
            case MapCommand.Batch batch -> map(batch.map()).batch(batch);
            case MapCommand.Freeze freeze -> map(freeze.map()).freeze();
        };
    }

    private Object usual(ProgCommand<?> command) {
        return switch (command) {
            case ProgCommand.Load load -> new LoadResult.Loaded(newFd("program \"" + load.name() + "\""), "");
            case ProgCommand.LoadBtf btf -> new LoadResult.Loaded(newFd("BTF of " + btf.name()), "");
            case ProgCommand.BindMap _, ProgCommand.AssociateStructOps _ -> 0;
            case ProgCommand.TestRun _ -> new ProgCommand.TestRunResult(0, 0, new byte[0], new byte[0]);
            case ProgCommand.ReadStream _ -> new byte[0];
            case ProgCommand.EnableStats _ -> newFd("BPF statistics");
        };
    }

    private Object usual(ObjectCommand<?> command) {
        return switch (command) {
            case ObjectCommand.Pin pin -> {
                int number = pin.object().number();
                if (pins.putIfAbsent(pin.path().toString(), new Pinned(identity(pin.object()), maps.get(number)))
                        != null) {
                    throw new SyscallException(pin.call(), Errno.EEXIST.number(), null);
                }
                made("pin " + pin.path());
                yield 0;
            }
            case ObjectCommand.Get get -> {
                @Nullable Pinned pinned = pins.get(get.path().toString());
                if (pinned == null) {
                    throw new SyscallException(get.call(), Errno.ENOENT.number(), null);
                }
                Fd fd = newFd("pin " + get.path());
                identities.put(fd.number(), pinned.identity());
                if (pinned.map() != null) {
                    maps.put(fd.number(), pinned.map());
                }
                yield fd;
            }
            case ObjectCommand.KindOf of -> Optional.of(identity(of.object()).kind());
            case ObjectCommand.NextId _ -> OptionalInt.empty();
            case ObjectCommand.FdById byId -> byId(byId);
            case ObjectCommand.InfoOfMap of -> map(of.object()).info();
            case ObjectCommand.InfoOfProgram of -> program(identity(of.object()).id(), 0);
            case ObjectCommand.InfoOfLink of ->
                new RawLinkInfo(0, identity(of.object()).id(), 0, new byte[48], "");
            case ObjectCommand.SitesOfLink of ->
                of.fields().pointers().stream().map(_ -> new long[of.count()]).toList();
            case ObjectCommand.CodeOfProgram _ ->
                new RawCode(new byte[0], new byte[0], new long[0], new int[0], new int[0], new int[0], new long[0]);
            case ObjectCommand.InfoOfBtf of -> new BtfInfo(of.object().number(), "", false, new byte[0]);
        };
    }

    private Object usual(LinkCommand<?> command) {
        return switch (command) {
            case LinkCommand.Create create -> newLink("link of " + create.description());
            case LinkCommand.OpenRawTracepoint open -> newLink("link to tracepoint " + open.tracepoint());
            case LinkCommand.CreateIter _ -> newFd("iterator");
            case LinkCommand.Query _ -> new LinkCommand.Query.Attached(0, 0, 1, new int[0], new int[0], new int[0]);
            case LinkCommand.TaskFdQuery query ->
                throw new SyscallException(query.call(), Errno.ENOTSUPP.number(), null);
            case LinkCommand.Update _, LinkCommand.Detach _, LinkCommand.Attach _, LinkCommand.DetachProgram _ -> 0;
        };
    }

    /** Maps that are open are found by their ids. */
    private Fd byId(ObjectCommand.FdById byId) {
        for (ScriptedMap map : List.copyOf(maps.values())) {
            if (byId.kind() == ObjectCommand.Kind.MAP && map.info().id() == byId.id()) {
                Fd fd = newFd("map " + byId.id());
                maps.put(fd.number(), map);
                return fd;
            }
        }
        throw new SyscallException(byId.call(), Errno.ENOENT.number(), null);
    }

    private Fd newLink(String description) {
        Fd fd = newFd(description);
        identities.put(fd.number(), new Identity(ObjectCommand.Kind.LINK, fd.number()));
        return fd;
    }

    /** A descriptor that a test made by {@link #newFd} counts as a program. */
    private Identity identity(Fd fd) {
        ScriptedMap map = maps.get(fd.number());
        return map != null
                ? new Identity(ObjectCommand.Kind.MAP, map.info().id())
                : identities.getOrDefault(fd.number(), new Identity(ObjectCommand.Kind.PROGRAM, fd.number()));
    }

    private Object usual(FileCommand<?> command) {
        return switch (command) {
            case FileCommand.Close close -> {
                lowestFree = Math.min(lowestFree, close.number());
                Fd fd = open.remove(close.number());
                if (fd == null) {
                    throw new IllegalStateException("descriptor " + close.number() + " was closed twice");
                }
                gone(fd.description());
                // What is pinned lives on under its name.
                maps.remove(close.number());
                identities.remove(close.number());
                yield 0;
            }
            case FileCommand.Open open -> newFd(open.path().toString());
            case FileCommand.Pipe pipe ->
                new FileCommand.Pipe.Ends(newFd("pipe of " + pipe.name()), newFd("pipe to " + pipe.name()));
            case FileCommand.OpenRegular open -> newFd(open.name());
            case FileCommand.StopIgnoring _ -> 0;
            case FileCommand.Unlink unlink -> {
                if (pins.remove(unlink.path().toString()) == null) {
                    throw new SyscallException(unlink.call(), Errno.ENOENT.number(), null);
                }
                gone("pin " + unlink.path());
                yield 0;
            }
            case FileCommand.Identify _ -> UNKNOWN_FILE;
            case FileCommand.TypeOfFileSystem _ -> FileCommand.TypeOfFileSystem.BPF_FS_MAGIC;
            case FileCommand.OpenProcess open -> newFd("process " + open.pid());
            case FileCommand.TakeDescriptor take -> newFd("descriptor " + take.number());
            case FileCommand.Duplicate duplicate -> {
                Fd original = open.get(duplicate.number());
                Fd copy = newFd(duplicate.description());
                ScriptedMap map = maps.get(duplicate.number());
                if (map != null) {
                    maps.put(copy.number(), map);
                } else if (original != null) {
                    identities.put(copy.number(), identity(original));
                }
                yield copy;
            }
            case FileCommand.Inherit _ -> 0;
            case FileCommand.FlagsOf _ -> OpenFlags.RDWR;
            case FileCommand.NameOf name ->
                switch (identity(name.fd()).kind()) {
                    case MAP -> "anon_inode:bpf-map";
                    case PROGRAM -> "anon_inode:bpf-prog";
                    case BTF -> "anon_inode:btf";
                    case LINK -> "anon_inode:bpf_link";
                };
            case FileCommand.DeviceIndex device -> device.name().equals("lo") ? 1 : 7;
            case FileCommand.MakeDirectory _, FileCommand.RemoveDirectory _ -> 0;
            case FileCommand.Read _ -> 0L;
            case FileCommand.Write write -> write.from().byteSize();
            case FileCommand.Map map -> {
                ScriptedMap backing = maps.get(map.fd().number());
                MemorySegment memory = backing == null
                        ? Arena.ofAuto().allocate(map.size(), 8)
                        : backing.memory(map.offset(), map.size());
                String description = "mapping of " + map.fd().description();
                mappings.computeIfAbsent(memory.address(), _ -> new ArrayDeque<>())
                        .push(description);
                made(description);
                var unmap = new FileCommand.Unmap(memory.address(), memory.byteSize(), description);
                yield Mapping.ofMemory(description, memory, () -> execute(unmap));
            }
            case FileCommand.Unmap unmap -> {
                Deque<String> there = mappings.get(unmap.address());
                if (there == null || there.isEmpty()) {
                    throw new IllegalStateException("memory was unmapped twice");
                }
                gone(there.pop());
                yield 0;
            }
            case FileCommand.Eventfd eventfd -> newFd("eventfd of " + eventfd.name());
            case FileCommand.EpollCreate epoll -> newFd("epoll of " + epoll.name());
            case FileCommand.EpollAdd _, FileCommand.EpollWait _, FileCommand.RaiseMemlock _ -> 0;
            case FileCommand.DetachedMount mount -> newFd("detached " + mount.fileSystem());
        };
    }

    private ScriptedMap map(Fd fd) {
        ScriptedMap map = maps.get(fd.number());
        if (map == null) {
            throw new IllegalStateException(fd + " is not a map");
        }
        return map;
    }

    /** The elements of a map, for a test to look at or to fill; keys and values in hexadecimal. */
    public synchronized Map<String, String> elements(Fd fd) {
        return map(fd).elements();
    }

    static byte[] bytes(MemorySegment segment, long size) {
        return segment.asSlice(0, size).toArray(JAVA_BYTE);
    }

    /** What a kernel says of a program, of which no test asks more. */
    public static ProgramInfo program(int id, int btfId) {
        return new ProgramInfo(
                id, "", 0, "0000000000000000", 0, 0, 0, List.of(), btfId, 0, true, Duration.ZERO, Duration.ZERO, 0, 0);
    }
}
