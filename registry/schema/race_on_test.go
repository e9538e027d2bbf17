//go:build race

package schema_test

// raceEnabled says that the race detector is on, which makes everything slower
// and lets pools forget what they hold.
const raceEnabled = true
