package jkshm_test

import (
	"fmt"

	"jkd/connector/jk/balance"
	"jkd/connector/jk/jkshm"
	"jkd/shm"
)

// The master makes the segment; children number 0 and 1 use it. Here all three
// are one process.
func Example() {
	layout := jkshm.Layout{
		Servers:   2,
		Workers:   []jkshm.WorkerLayout{{Name: "node1"}, {Name: "node2"}},
		Balancers: []jkshm.BalancerLayout{{Name: "lb", Members: []int{0, 1}}},
	}
	size, err := jkshm.Size(layout)
	if err != nil {
		fmt.Println(err)
		return
	}
	memory, err := shm.Create("jkd connector", size)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer memory.Close()

	master, err := jkshm.Format(memory.Bytes(), layout)
	if err != nil {
		fmt.Println(err)
		return
	}
	member := master.Balancer(0).Member(0)
	if err := member.Configure(jkshm.MemberSettings{LBFactor: 1, Route: "node1"}); err != nil {
		fmt.Println(err)
		return
	}

	// Child 0 has a request in hand and one of the two connections that node1
	// accepts.
	child, err := jkshm.Attach(memory.Bytes(), layout)
	if err != nil {
		fmt.Println(err)
		return
	}
	node := child.Balancer(0).Member(0).Worker()
	node.Enter(0)
	fmt.Println("may connect:", node.TryOpen(0, 2))

	// An administrator's request reached child 1, who disables the member. Child
	// 0 sees it with one load at its next request.
	seen := child.Edits()
	err = member.Update(1, func(s *jkshm.MemberSettings) error {
		s.Activation = balance.Disabled
		return nil
	})
	fmt.Println("edit:", err, "- something new:", child.Edits() != seen)
	var now jkshm.MemberSettings
	child.Balancer(0).Member(0).Load(&now)
	fmt.Println(now.Route, now.Activation)

	// Child 0 is killed. The master has waited for it.
	fmt.Println("busy", node.Busy(), "connected", node.Connected())
	master.Reclaim(0)
	fmt.Println("busy", node.Busy(), "connected", node.Connected())

	// Output:
	// may connect: true
	// edit: <nil> - something new: true
	// node1 DIS
	// busy 1 connected 1
	// busy 0 connected 0
}
