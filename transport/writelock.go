package transport

// writeLock is a lock that may be held while something is written to a client,
// for as long as the client takes. It is a channel and no [sync.Mutex] because
// waiting for it is an ordinary state, not a moment.
type writeLock chan struct{}

func newWriteLock() writeLock { return make(writeLock, 1) }

// Lock takes the lock.
func (l writeLock) Lock() { l <- struct{}{} }

// TryLock takes the lock if nobody has it.
func (l writeLock) TryLock() bool {
	select {
	case l <- struct{}{}:
		return true
	default:
		return false
	}
}

// Unlock gives the lock back.
func (l writeLock) Unlock() { <-l }
