// The Go side of the interop tests: locks with the real go-zookeeper, and does what it is told.
//
//	peer HOSTS TTL_MS                            commands on standard input, one answer per command
//	peer HOSTS TTL_MS HISTORY NAME...            contends for the names until it is killed
//
// A command is `THREAD VERB NAME`, the answer `THREAD RESULT NANOSECONDS` (CLOCK_MONOTONIC). Names lie below /locks. A Lock of
// go-zookeeper can only wait: there is no `try`. The C++ side is ../peer.cpp.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/go-zookeeper/zk"
)

const (
	contendingThreads = 2
	longestStay       = 4 * time.Millisecond
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func nowNs() int64 {
	const clockMonotonic = 1
	var t syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

var saying sync.Mutex

func say(words ...any) {
	saying.Lock()
	defer saying.Unlock()
	fmt.Println(words...)
}

func newLock(c *zk.Conn, name string) *zk.Lock {
	return zk.NewLock(c, "/locks/"+name, zk.WorldACL(zk.PermAll))
}

func outcome(err error, well string) string {
	if err == nil {
		return well
	}
	return "failed:" + strings.ReplaceAll(err.Error(), " ", "_")
}

func obey(c *zk.Conn) {
	told := map[string]chan []string{}
	say("ready", 0)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if told[words[0]] == nil {
			told[words[0]] = make(chan []string, 16)
			go func(commands chan []string) {
				locks := map[string]*zk.Lock{}
				for w := range commands {
					if locks[w[2]] == nil {
						locks[w[2]] = newLock(c, w[2])
					}
					before := nowNs()
					switch w[1] {
					case "lock":
						err := locks[w[2]].Lock()
						say(w[0], outcome(err, "locked"), nowNs())
					case "unlock":
						say(w[0], outcome(locks[w[2]].Unlock(), "unlocked"), before)
					default:
						say(w[0], "unknown", before)
					}
				}
			}(told[words[0]])
		}
		told[words[0]] <- words
	}
}

// One write per line, so that a process that is killed leaves whole lines.
func note(history *os.File, what string, which int, who string) {
	_, err := fmt.Fprintln(history, what, which, who, nowNs())
	must(err)
}

func contend(c *zk.Conn, history *os.File, names []string, index int) {
	who := fmt.Sprintf("go-%d-%d", os.Getpid(), index)
	for {
		which := rand.Intn(len(names))
		lock := newLock(c, names[which])
		must(lock.Lock())
		note(history, "enter", which, who)
		time.Sleep(time.Duration(rand.Int63n(int64(longestStay))))
		note(history, "leave", which, who)
		must(lock.Unlock())
	}
}

func main() {
	words := os.Args[1:]
	ttl, err := strconv.Atoi(words[1])
	must(err)
	zk.DefaultLogger = log.New(io.Discard, "", 0)
	c, events, err := zk.Connect(strings.Split(words[0], ","), time.Duration(ttl)*time.Millisecond)
	must(err)
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	if len(words) == 2 {
		obey(c)
		return
	}
	history, err := os.OpenFile(words[2], os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	must(err)
	for i := 1; i < contendingThreads; i++ {
		go contend(c, history, words[3:], i)
	}
	say("ready", 0)
	contend(c, history, words[3:], 0)
}
