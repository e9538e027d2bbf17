// Command conformance runs the official MCP conformance suite against a server
// and judges what it finds more strictly than the suite itself does.
//
//	conformance -server BINARY -node NODE -suite INDEX_JS -out DIR [-baseline FILE] [-repeat N]
//
// run.sh installs the pinned suite and calls it; make conformance is the way to
// use it. The server is started once, over HTTP on a port that it chooses, and
// answers all runs at that one URL: the whole suite, which speaks the version to
// each scenario that it was made for, and the requirement sets of 2025-11-25 and
// 2026-07-28.
//
// A scenario passes if all its checks succeed. It fails on a check that failed,
// warned or was skipped, and if there is no result of it. A skipped check counts
// because the suite skips what a server does not declare, and has at least one
// check that succeeds even then.
//
// The baseline names the scenarios that are known to fail. It must be exact: a
// scenario that fails without being in it is an error, and so is one that is in
// it and passes. The last line on standard output is "N passed, N failed".
package main
