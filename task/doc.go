// Package task keeps tasks: calls that go on after their request was answered.
//
// A [Record] is what there is to know of a task. A [Store] keeps records until
// their time to live is over: [Memory] for as long as the process runs, [Dir] in
// a directory, from which a process that comes after reads them again.
//
// The package knows nothing of messages. Who may see a task, and what runs it,
// is the business of whoever owns the store.
package task
