// Package board is memory in which the processes of one jkd tell each other
// that the configuration of connector/jk2 has changed, and how: the text of
// workers2.properties as the master read it last, and the edits of the status
// page. mod_jk2 has a counter in its shared memory for that (lbVer), and every
// process reads the file for itself; here only the master does, for the
// children may have no right to.
//
// The board of the generation before a reload is read by the next one, for the
// edits; see Inherit in connector/jk2.
//
// Whatever is read from the memory is bounded: a child that writes nonsense can
// make others read a wrong text, which they then refuse, but nothing worse.
package board
