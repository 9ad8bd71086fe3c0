// Command ajpback runs the demonstration container by itself, for benchmarks:
//
//	ajpback -listen 127.0.0.1:8009
package main

import (
	"os"

	"jkd/cmd/jkd/internal/demo"
)

func main() { os.Exit(demo.Main(os.Args[1:])) }
