// The Java side of the interop tests: locks with the real Curator, and does what it is told.
//
//   java Peer HOSTS TTL_MS                            commands on standard input, one answer per command
//   java Peer HOSTS TTL_MS HISTORY NAME...            contends for the names until it is killed
//
// A command is `THREAD VERB NAME [NUMBER]`, the answer `THREAD RESULT NANOSECONDS`: locks of Curator belong to threads, so each
// THREAD is one. `read` and `write` are of an InterProcessReadWriteLock, the others of an InterProcessMutex. Names lie below
// /locks. Nanoseconds are CLOCK_MONOTONIC, which System.nanoTime() reads on Linux. The C++ side is ../peer.cpp.
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.RetryForever;

public final class Peer {
    private static final int CONTENDING_THREADS = 2;
    private static final int LONGEST_STAY_US = 4000;

    private final CuratorFramework curator;
    private final Map<String, InterProcessMutex> locks = new ConcurrentHashMap<>();

    private Peer(String hosts, int sessionMs) throws InterruptedException {
        curator = CuratorFrameworkFactory.newClient(hosts, sessionMs, sessionMs, new RetryForever(100));
        curator.start();
        curator.blockUntilConnected();
    }

    public static void main(String[] words) throws Exception {
        Peer peer = new Peer(words[0], Integer.parseInt(words[1]));
        if (words.length == 2) {
            peer.obey();
        } else {
            peer.contend(words[2], java.util.Arrays.copyOfRange(words, 3, words.length));
        }
        System.exit(0);
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private void obey() throws IOException {
        Map<String, ExecutorService> threads = new HashMap<>();
        say("ready 0");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            threads.computeIfAbsent(words[0], t -> Executors.newSingleThreadExecutor()).execute(() -> {
                String result;
                try {
                    result = obey(words);
                } catch (Exception e) {
                    result = "failed:" + e.getClass().getSimpleName() + " " + System.nanoTime();
                }
                say(words[0] + " " + result);
            });
        }
    }

    private InterProcessMutex lockOf(String kind, String name) {
        return locks.computeIfAbsent(kind + " " + name, k -> {
            switch (kind) {
                case "read":
                    return new InterProcessReadWriteLock(curator, "/locks/" + name).readLock();
                case "write":
                    return new InterProcessReadWriteLock(curator, "/locks/" + name).writeLock();
                default:
                    return new InterProcessMutex(curator, "/locks/" + name);
            }
        });
    }

    // A verb may begin with read- or write-. Releasing takes the time before the call, everything else after it.
    private String obey(String[] words) throws Exception {
        String[] parts = words[1].split("-");
        InterProcessMutex lock = lockOf(parts.length > 1 ? parts[0] : "mutex", words[2]);
        long number = words.length > 3 ? Long.parseLong(words[3]) : 0;
        long before = System.nanoTime();
        switch (parts[parts.length - 1]) {
            case "lock":
                lock.acquire();
                return "locked " + System.nanoTime();
            case "try":
                return (lock.acquire(number, TimeUnit.MILLISECONDS) ? "locked " : "busy ") + System.nanoTime();
            case "unlock":
                lock.release();
                return "unlocked " + before;
            default:
                return "unknown 0";
        }
    }

    private void contend(String history, String[] names) throws Exception {
        try (FileOutputStream out = new FileOutputStream(history, true)) {
            Thread[] threads = new Thread[CONTENDING_THREADS];
            for (int i = 0; i < threads.length; i++) {
                String me = "java-" + ProcessHandle.current().pid() + "-" + i;
                threads[i] = new Thread(() -> contend(me, out, names));
                threads[i].start();
            }
            say("ready 0");
            for (Thread t : threads) {
                t.join();
            }
        }
    }

    // One write per line, so that a process that is killed leaves whole lines.
    private void contend(String me, FileOutputStream history, String[] names) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        try {
            for (;;) {
                int which = random.nextInt(names.length);
                InterProcessMutex lock = new InterProcessMutex(curator, "/locks/" + names[which]);
                lock.acquire();
                note(history, "enter " + which + " " + me + " " + System.nanoTime());
                TimeUnit.MICROSECONDS.sleep(random.nextInt(LONGEST_STAY_US));
                note(history, "leave " + which + " " + me + " " + System.nanoTime());
                lock.release();
            }
        } catch (Exception e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private static void note(FileOutputStream history, String line) throws IOException {
        history.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    }
}
