// The Go side of the interop tests: locks with the real clientv3/concurrency, and does what it is told.
//
//	peer ENDPOINTS TTL_S                            commands on standard input, one answer per command
//	peer ENDPOINTS TTL_S HISTORY NAME...            contends for the names until it is killed
//	peer ENDPOINTS stay HISTORY WHICH WHO       inside `etcdctl lock`: notes that it came and left
//
// A command is `THREAD VERB NAME [NUMBER]`, the answer `THREAD RESULT NANOSECONDS` (CLOCK_MONOTONIC). Each THREAD has a
// session of its own: to a Mutex, two of one session are the same one. The C++ side is peer.cpp.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

const (
	contendingThreads = 2
	longestStay       = 4 * time.Millisecond
	tokensPerRevision = 128 * 256 // so that a create revision times this is Tyer's token
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

// One who locks: a thread, so to speak.
type thread struct {
	session *concurrency.Session
	locks   map[string]*concurrency.Mutex
}

func begin(client *clientv3.Client, ttl int) *thread {
	session, err := concurrency.NewSession(client, concurrency.WithTTL(ttl))
	must(err)
	return &thread{session, map[string]*concurrency.Mutex{}}
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "locked"
	case errors.Is(err, concurrency.ErrLocked), errors.Is(err, context.DeadlineExceeded):
		return "busy"
	}
	return "failed:" + strings.ReplaceAll(err.Error(), " ", "_")
}

// Releasing takes the time before the call, everything else after it.
func (t *thread) obey(verb, name string, number int) (string, int64) {
	before := nowNs()
	lock := t.locks[name]
	if lock == nil {
		lock = concurrency.NewMutex(t.session, name)
		t.locks[name] = lock
	}
	ctx := context.Background()
	switch verb {
	case "lock":
		return outcome(lock.Lock(ctx)), nowNs()
	case "try":
		if number == 0 {
			return outcome(lock.TryLock(ctx)), nowNs()
		}
		limited, cancel := context.WithTimeout(ctx, time.Duration(number)*time.Millisecond)
		defer cancel()
		return outcome(lock.Lock(limited)), nowNs()
	case "unlock":
		if err := lock.Unlock(ctx); err != nil {
			return outcome(err), nowNs()
		}
		return "unlocked", before
	}
	return "unknown", nowNs()
}

func obey(client *clientv3.Client, ttl int) {
	told := map[string]chan []string{}
	say("ready", 0)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if told[words[0]] == nil {
			told[words[0]] = make(chan []string, 16)
			go func(commands chan []string) {
				t := begin(client, ttl)
				for c := range commands {
					number := 0
					if len(c) > 3 {
						number, _ = strconv.Atoi(c[3])
					}
					result, ns := t.obey(c[1], c[2], number)
					say(c[0], result, ns)
				}
			}(told[words[0]])
		}
		told[words[0]] <- words
	}
}

// One write per line, so that a process that is killed leaves whole lines.
func note(history *os.File, what string, which int, who string, ns int64, more ...any) {
	_, err := history.WriteString(strings.TrimSpace(fmt.Sprintln(append([]any{what, which, who, ns}, more...)...)) + "\n")
	must(err)
}

func openHistory(path string) *os.File {
	history, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	must(err)
	return history
}

// The token Tyer would have given to this hold; nothing if the key is gone.
func token(client *clientv3.Client, key string) (int64, bool) {
	answer, err := client.Get(context.Background(), key)
	must(err)
	if len(answer.Kvs) == 0 {
		return 0, false
	}
	return answer.Kvs[0].CreateRevision * tokensPerRevision, true
}

func stay(history *os.File, which int, who string, token int64) {
	note(history, "enter", which, who, nowNs(), token)
	time.Sleep(time.Duration(rand.Int63n(int64(longestStay))))
	note(history, "leave", which, who, nowNs())
}

func contend(client *clientv3.Client, ttl int, history *os.File, names []string, index int) {
	t := begin(client, ttl)
	who := fmt.Sprintf("go-%d-%d", os.Getpid(), index)
	for {
		which := rand.Intn(len(names))
		lock := concurrency.NewMutex(t.session, names[which])
		must(lock.Lock(context.Background()))
		if order, held := token(client, lock.Key()); held {
			stay(history, which, who, order)
		}
		must(lock.Unlock(context.Background()))
	}
}

func main() {
	words := os.Args[1:]
	client, err := clientv3.New(clientv3.Config{Endpoints: strings.Split(words[0], ","), DialTimeout: 10 * time.Second})
	must(err)
	if words[1] == "stay" {
		which, _ := strconv.Atoi(words[3])
		if order, held := token(client, os.Getenv("ETCD_LOCK_KEY")); held {
			stay(openHistory(words[2]), which, words[4], order)
		}
		return
	}
	ttl, err := strconv.Atoi(words[1])
	must(err)
	if len(words) == 2 {
		obey(client, ttl)
		return
	}
	history := openHistory(words[2])
	for i := 1; i < contendingThreads; i++ {
		go contend(client, ttl, history, words[3:], i)
	}
	say("ready", 0)
	contend(client, ttl, history, words[3:], 0)
}
