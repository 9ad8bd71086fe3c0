// Package shm gets bytes from the kernel that several processes see.
//
// A [Segment] is a mapping of fixed size. The master makes one with [Create]
// (nameless: nothing in the file system to attack) or, when ScoreBoardFile
// asks for a name, with [CreateFile]; a child is given the descriptor and
// calls [Attach]; a program that only looks calls [Open] with the name.
//
// A master that takes over from another one is given the descriptors of the
// other's segments, which it reads with [AttachInherited]. Its own file at the
// same path it makes with [MakeBeside] under another name; [Segment.Publish]
// puts it in the place of the other's, so that a reader finds one of them at any
// time, and a successor that fails before has changed nothing.
//
// The memory is not Go's: it may hold neither pointers nor strings nor slices,
// and whatever is read from it may have been written by another process a
// moment ago. Its first byte lies on a page boundary, so a word at an offset
// that is a multiple of 8 may be used with sync/atomic.
//
// A mapping of an object that is shorter than the mapping kills the process
// that touches the missing part (SIGBUS). Therefore the size is set once, by
// the creator, before anything is mapped; anonymous objects are sealed against
// another size where the kernel can do that (Linux, FreeBSD 13 and later);
// files are filled with zeros at once, so that a full disk is an error of
// CreateFile and not a death later; and Attach, AttachInherited and Open look
// at the size of the object before they map it. What can still happen, that a
// child cuts a file it was given, [Segment.Guard] keeps from a successor.
package shm
