package scoreboard_test

import (
	"fmt"
	"time"

	"jkd/scoreboard"
)

// A child's thread writes, a status page reads. In the server the memory is a
// segment of package shm.
func Example() {
	layout := scoreboard.Layout{ServerLimit: 2, ThreadLimit: 3}
	size, err := scoreboard.Size(layout)
	if err != nil {
		fmt.Println(err)
		return
	}
	board, err := scoreboard.New(make([]byte, size), layout, scoreboard.Global{Generation: 1, StartTime: time.Unix(0, 0)})
	if err != nil {
		fmt.Println(err)
		return
	}

	slot := board.Slot(1, 0)
	slot.SetReady(time.Now().UnixNano())
	slot.StartConnection(time.Now().UnixNano(), []byte("192.0.2.7"))
	slot.StartRequest(time.Now().UnixNano(), []byte("GET"), []byte("/index.jsp"), []byte("HTTP/1.1"), []byte("www.example.org:80"))

	var v scoreboard.View
	board.Snapshot(&v)
	for _, w := range v.Workers {
		fmt.Printf("%c", w.Status.Letter())
	}
	w := v.Worker(1, 0)
	fmt.Printf("\n%s %s\n", w.Client, w.Request)
	// Output:
	// ...W..
	// 192.0.2.7 GET /index.jsp HTTP/1.1
}

func ExampleScoreboard_Counts() {
	layout := scoreboard.Layout{ServerLimit: 1, ThreadLimit: 4}
	size, err := scoreboard.Size(layout)
	if err != nil {
		fmt.Println(err)
		return
	}
	board, err := scoreboard.New(make([]byte, size), layout, scoreboard.Global{})
	if err != nil {
		fmt.Println(err)
		return
	}
	board.Slot(0, 0).SetStatus(scoreboard.Starting)
	board.Slot(0, 1).SetStatus(scoreboard.Ready)
	board.Slot(0, 2).SetStatus(scoreboard.BusyWrite)
	counts := board.Counts(0)
	fmt.Println(counts.Idle(), "idle,", counts[scoreboard.Dead], "dead")
	// Output: 2 idle, 1 dead
}
