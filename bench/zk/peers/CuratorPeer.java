// InterProcessMutex of Curator, doing what bench_zk has Tyer do: java CuratorPeer ADDRESS …, see common/peer.hpp.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

public final class CuratorPeer {
    private static final int SESSION_MS = 22_500;  // as Tyer's for a ttl of 10 s
    private static final int CLIENTS_MAX = 8;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long WARM_UP_NS = TimeUnit.SECONDS.toNanos(2);  // a JVM compiles what it has run for a while

    // What is left of the run before stands there for as long as its sessions.
    private static final String HERE = "/curator-peer-" + ProcessHandle.current().pid();

    private static CuratorFramework connect(String address) throws InterruptedException {
        CuratorFramework c = CuratorFrameworkFactory.newClient(address, SESSION_MS, SESSION_MS, new RetryOneTime(100));
        c.start();
        c.blockUntilConnected();
        return c;
    }

    private static double one(String address, long runNs) throws Exception {
        InterProcessMutex m = new InterProcessMutex(connect(address), HERE + "/one");
        List<Double> usec = new ArrayList<>();
        long begin = System.nanoTime() + WARM_UP_NS;
        for (long t = System.nanoTime(); t - begin < runNs; t = System.nanoTime()) {
            m.acquire();
            m.release();
            if (t >= begin) {
                usec.add((System.nanoTime() - t) / 1e3);
            }
        }
        Collections.sort(usec);
        return usec.get(usec.size() / 2);
    }

    // A thread for each caller, since these locks belong to threads.
    private static void cycle(InterProcessMutex m, AtomicLong turns) {
        new Thread(() -> {
            try {
                for (;;) {
                    m.acquire();
                    turns.incrementAndGet();
                    m.release();
                }
            } catch (Exception e) {
                e.printStackTrace();
                Runtime.getRuntime().halt(1);
            }
        }).start();
    }

    private static double perSecond(AtomicLong turns, long runNs) throws InterruptedException {
        long before = turns.get();
        long begin = System.nanoTime();
        TimeUnit.NANOSECONDS.sleep(runNs);
        return (turns.get() - before) * 1e9 / (System.nanoTime() - begin);
    }

    private static double many(String address, int callers, long runNs) throws Exception {
        CuratorFramework c = connect(address);
        AtomicLong turns = new AtomicLong();
        for (int i = 0; i < callers; i++) {
            cycle(new InterProcessMutex(c, HERE + "/many/" + i), turns);
        }
        TimeUnit.NANOSECONDS.sleep(WARM_UP_NS);
        return perSecond(turns, runNs);
    }

    // Counted from when there were turns for all, and all stand in line again.
    private static double handover(String address, int callers, long runNs) throws Exception {
        List<CuratorFramework> clients = new ArrayList<>();
        for (int i = 0; i < Math.min(callers, CLIENTS_MAX); i++) {
            clients.add(connect(address));
        }
        AtomicLong turns = new AtomicLong();
        for (int i = 0; i < callers; i++) {
            cycle(new InterProcessMutex(clients.get(i % clients.size()), HERE + "/hot"), turns);
        }
        for (long begin = System.nanoTime(), spent = 0; spent < WARM_UP_NS || (turns.get() < callers && spent < PATIENCE_NS);) {
            TimeUnit.MILLISECONDS.sleep(10);
            spent = System.nanoTime() - begin;
        }
        return 1e6 / perSecond(turns, runNs);
    }

    public static void main(String[] words) throws Exception {
        long runNs = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(words[words.length - 1]));
        double figure;
        switch (words[1]) {
            case "one":
                figure = one(words[0], runNs);
                break;
            case "many":
                figure = many(words[0], Integer.parseInt(words[2]), runNs);
                break;
            case "handover":
                figure = handover(words[0], Integer.parseInt(words[2]), runNs);
                break;
            default:
                throw new IllegalArgumentException(words[1]);
        }
        System.out.println(figure);
        System.out.flush();
        Runtime.getRuntime().halt(0);  // its sessions end with it: nobody waits for their nodes
    }
}
