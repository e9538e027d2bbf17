package protocol

// LogLevel is the severity of a log message, least severe first. The zero value
// is no level.
type LogLevel uint8

// The severities of RFC 5424 as the protocol names them.
const (
	LogNone LogLevel = iota
	LogDebug
	LogInfo
	LogNotice
	LogWarning
	LogError
	LogCritical
	LogAlert
	LogEmergency
)

// LogLevels returns the names of all levels, least severe first.
func LogLevels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// ParseLogLevel returns the level called s, or [LogNone].
func ParseLogLevel(s string) LogLevel {
	for i, name := range LogLevels() {
		if s == name {
			return LogLevel(i + 1)
		}
	}
	return LogNone
}

// String returns the name of the level.
func (l LogLevel) String() string {
	if l == LogNone || l > LogEmergency {
		return "none"
	}
	return LogLevels()[l-1]
}
