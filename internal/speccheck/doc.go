// Package speccheck judges what a server sends by the specification's own JSON
// schemas. It is test support: the documents are not part of this repository,
// they are expected in the folder shared beside it.
//
// A [Spec] validates one message against one definition. A [Checker] follows a
// conversation: it is told every line that goes to the server and every line
// that comes back, knows from that which definition each of them has to match,
// and checks the rules that a schema cannot express: who may be answered, what
// progress may say and when, which messages belong to a subscription.
package speccheck
