//go:build unix

package shm_test

import (
	"fmt"

	"jkd/shm"
)

// The master makes the segment; a child that inherits its descriptor attaches.
func ExampleCreate() {
	s, err := shm.Create("scoreboard", 4096)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	s.Bytes()[0] = 'S'
	fmt.Println(s.Size(), string(s.Bytes()[:1]))
	// Output: 4096 S
}

// The error names the object and the cause.
func ExampleOpen() {
	_, err := shm.Open("/nonexistent/board")
	fmt.Println(err)
	// Output: shm: open /nonexistent/board: no such file or directory
}
