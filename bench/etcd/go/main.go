// The peer: concurrency.Mutex of etcd's own Go client, doing what bench_etcd has Tyer do.
//
//	peer ADDRESS one MS            p50 of lock + unlock, one caller, in us
//	peer ADDRESS many CALLERS MS   cycles a second, each caller on a name of its own, one session
//	peer ADDRESS handover N MS     us for each change of owner, N callers on one name, a session each
package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

const patience = 60 * time.Second

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

func number(i int) int {
	if i >= len(os.Args) {
		must(fmt.Errorf("too few arguments"))
	}
	n, err := strconv.Atoi(os.Args[i])
	must(err)
	return n
}

func cycle(m *concurrency.Mutex, held func()) {
	must(m.Lock(context.Background()))
	held()
	must(m.Unlock(context.Background()))
}

func session(c *clientv3.Client) *concurrency.Session {
	s, err := concurrency.NewSession(c)
	must(err)
	return s
}

func one(c *clientv3.Client, run time.Duration) float64 {
	m := concurrency.NewMutex(session(c), "/peer/one")
	var usec []float64
	for begin := time.Now(); time.Since(begin) < run; {
		t := time.Now()
		cycle(m, func() {})
		usec = append(usec, float64(time.Since(t).Nanoseconds())/1e3)
	}
	sort.Float64s(usec)
	return usec[len(usec)/2]
}

func many(c *clientv3.Client, callers int, run time.Duration) float64 {
	s := session(c)
	var cycles atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	for i := range callers {
		m := concurrency.NewMutex(s, fmt.Sprintf("/peer/many/%d", i))
		all.Add(1)
		go func() {
			defer all.Done()
			for time.Since(begin) < run {
				cycle(m, func() {})
				cycles.Add(1)
			}
		}()
	}
	all.Wait()
	return float64(cycles.Load()) / time.Since(begin).Seconds()
}

// Counted from when each has had its turn, and stands in line again.
func handover(c *clientv3.Client, callers int, run time.Duration) float64 {
	mutexes := make([]*concurrency.Mutex, callers)
	for i := range mutexes {
		mutexes[i] = concurrency.NewMutex(session(c), "/peer/hot")
	}
	var turns atomic.Int64
	var over atomic.Bool
	var all sync.WaitGroup
	for _, m := range mutexes {
		all.Add(1)
		go func() {
			defer all.Done()
			for !over.Load() {
				cycle(m, func() { turns.Add(1) })
			}
		}()
	}
	for begin := time.Now(); turns.Load() < int64(callers) && time.Since(begin) < patience; {
		time.Sleep(10 * time.Millisecond)
	}
	before, begin := turns.Load(), time.Now()
	time.Sleep(run)
	usec := float64(time.Since(begin).Microseconds()) / float64(turns.Load()-before)
	over.Store(true)
	all.Wait()
	return usec
}

func main() {
	if len(os.Args) < 4 {
		must(fmt.Errorf("usage: peer ADDRESS one MS | many CALLERS MS | handover CALLERS MS"))
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{os.Args[1]}, DialTimeout: 5 * time.Second})
	must(err)
	run := time.Duration(number(len(os.Args)-1)) * time.Millisecond
	switch os.Args[2] {
	case "one":
		fmt.Println(one(c, run))
	case "many":
		fmt.Println(many(c, number(3), run))
	case "handover":
		fmt.Println(handover(c, number(3), run))
	default:
		must(fmt.Errorf("there is no measure %q", os.Args[2]))
	}
}
