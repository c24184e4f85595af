// The Java side of docs/engines/redisson.md: only compiled, since it is the code that a Java service has already.
//
//   java Beside MASTER SENTINEL...
import java.util.Arrays;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public final class Beside {
    public static void main(String[] words) {
        String master = words[0];
        String[] sentinels = Arrays.copyOfRange(words, 1, words.length);
        // [java]
        Config config = new Config();
        config.useSentinelServers().setMasterName(master).addSentinelAddress(sentinels);  // redis://10.0.0.5:26379 and more
        RedissonClient redisson = Redisson.create(config);

        RLock lock = redisson.getLock("order/42");
        lock.lock();
        try {
            System.out.println("mine");
        } finally {
            lock.unlock();
        }
        // [java]
        redisson.shutdown();
    }
}
