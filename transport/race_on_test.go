//go:build race

package transport_test

// The race detector makes everything several times slower.
const racing = true
