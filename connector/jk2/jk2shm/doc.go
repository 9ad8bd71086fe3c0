// Package jk2shm is mod_jk2's shared memory (jk2.shm): a file that any process
// can read, in which each child of the server keeps one record for each of its
// endpoints. A record says what the endpoint has done and is doing.
//
// The memory is laid out as that of mod_jk2 2.0.4, in the byte order of the
// machine: a header, then slots of 8192 bytes, one for each child, of which
// each holds up to 63 records of 128 bytes. See layout.go for the fields.
//
// The master makes the memory with [Format]; children and others use
// [AttachAny]. Whatever the memory holds, nothing outside of it is read or
// written: where things are is settled when it is attached, and never looked up
// in it again.
//
// # Differences from mod_jk2
//
//   - Child n has slot n. mod_jk2 gives out slots in the order children ask,
//     without a lock between them, and takes epStat.10 for epStat.1.
//   - An endpoint for which there is no record is not counted here; mod_jk2
//     writes record 64 into the slot of the next child.
//   - The field connected, which mod_jk2 never writes, counts the changes to a
//     record: it is odd while one is being made. So a reader knows when it saw
//     half of one.
//   - A new child begins with empty records; there, some fields keep what the
//     child before it had written.
package jk2shm
