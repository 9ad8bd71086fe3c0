// Package title sets what ps shows of this process. Importing it makes the
// strings of os.Args copies: on Linux the title is written over the memory that
// they have been in.
package title
