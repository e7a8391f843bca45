// Command belsim computes the error of regression by binary-encoded labels: of
// a label that is encoded in bits, predicted by binary classifiers, and decoded.
package main

import "os"

func main() { os.Exit(belsim(os.Args[1:], os.Stdout, os.Stderr)) }
