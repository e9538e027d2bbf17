// Package transporttest checks implementations of [jsonrpc.Stream].
//
// [Run] opens streams and puts each of these rules to the test:
//
//  1. Frames arrive as they were sent, in order, and are not changed afterwards.
//  2. A frame that is too long gives a [*jsonrpc.FrameError], and the frames
//     around it arrive.
//  3. When the peer has ended its side, every Read gives [io.EOF], and writing
//     still works.
//  4. While Buffered reports true, Read does not wait.
//  5. A Read that begins when its context has ended fails, and loses no frame.
//  6. A Write of several frames arrives as these frames.
//  7. Write neither changes what it is given nor keeps it.
//  8. One goroutine may read while another writes.
//  9. Close makes a Read under way return, and later ones fail.
//  10. Close makes a Write under way return, and later ones fail.
//
// A transport's own rules, such as what separates frames on the wire, are for its
// own tests. Run the kit with the race detector: rules 1, 7 and 8 need it.
package transporttest
