// The Java side of the interop tests: locks with the real Redisson, and does what it is told.
//
//   java Peer ADDRESS WATCHDOG_MS                            commands on standard input, one answer per command
//   java Peer ADDRESS WATCHDOG_MS HISTORY NAME...            contends for the names until it is killed
//
// ADDRESS is Tyer's: redis://HOST:PORT, redis+sentinel://HOST:PORT,…/MASTER or redis+cluster://HOST:PORT,…
//
// A command is `THREAD VERB NAME [NUMBER]`, the answer `THREAD RESULT NANOSECONDS`: locks of Redisson belong to threads, so
// each THREAD is one. Nanoseconds are CLOCK_MONOTONIC, which System.nanoTime() reads on Linux. The C++ side is peer.cpp.
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.SentinelServersConfig;

public final class Peer {
    private static final int CONTENDING_THREADS = 2;
    private static final int LONGEST_STAY_US = 4000;

    private final RedissonClient redisson;

    private Peer(String address, long watchdogMs) {
        Config config = new Config();
        config.setLockWatchdogTimeout(watchdogMs);
        config.setThreads(2);
        config.setNettyThreads(2);
        String[] parts = address.split("://|/");
        String[] servers = parts[1].split(",");
        for (int i = 0; i < servers.length; i++) {
            servers[i] = "redis://" + servers[i];
        }
        if (parts[0].equals("redis+sentinel")) {
            small(sentinel(config, parts[2], servers));
        } else if (parts[0].equals("redis+cluster")) {
            small(cluster(config, servers));
        } else {
            config.useSingleServer()
                    .setAddress(address)
                    .setConnectionMinimumIdleSize(1)
                    .setConnectionPoolSize(4)
                    .setSubscriptionConnectionMinimumIdleSize(1)
                    .setSubscriptionConnectionPoolSize(2);
        }
        redisson = Redisson.create(config);
    }

    private static SentinelServersConfig sentinel(Config config, String master, String[] sentinels) {
        return config.useSentinelServers().setMasterName(master).addSentinelAddress(sentinels);
    }

    private static ClusterServersConfig cluster(Config config, String[] nodes) {
        return config.useClusterServers().addNodeAddress(nodes);
    }

    private static <T extends BaseMasterSlaveServersConfig<T>> void small(T servers) {
        servers.setMasterConnectionMinimumIdleSize(1)
                .setMasterConnectionPoolSize(4)
                .setSlaveConnectionMinimumIdleSize(1)
                .setSlaveConnectionPoolSize(4)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(2);
    }

    public static void main(String[] words) throws Exception {
        Peer peer = new Peer(words[0], Long.parseLong(words[1]));
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

    // Releasing takes the time before the call, everything else after it.
    private String obey(String[] words) throws InterruptedException {
        RLock lock = redisson.getLock(words[2]);
        long number = words.length > 3 ? Long.parseLong(words[3]) : -1;
        long before = System.nanoTime();
        switch (words[1]) {
            case "lock":
                lock.lock(number, TimeUnit.MILLISECONDS);
                return "locked " + System.nanoTime();
            case "try":
                return (lock.tryLock(Math.max(number, 0), TimeUnit.MILLISECONDS) ? "locked " : "busy ") + System.nanoTime();
            case "unlock":
                lock.unlock();
                return "unlocked " + before;
            case "force":
                return (lock.forceUnlock() ? "unlocked " : "free ") + before;
            case "look":
                return (lock.isLocked() ? "held " : "free ") + System.nanoTime();
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
                RLock lock = redisson.getLock(names[which]);
                lock.lock();
                note(history, "enter " + which + " " + me + " " + System.nanoTime());
                TimeUnit.MICROSECONDS.sleep(random.nextInt(LONGEST_STAY_US));
                note(history, "leave " + which + " " + me + " " + System.nanoTime());
                lock.unlock();
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
