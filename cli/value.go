package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudg.dev/cloudg/protocol"
)

// The functions below read the value of an option. Their errors say what would
// be right, without the value: it may be a secret in the wrong place.

// count reads a number within bounds.
func count(v string, lowest, highest int) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < lowest || n > highest {
		return 0, fmt.Errorf("want a whole number from %d to %d", lowest, highest)
	}
	return n, nil
}

// maxLimit bounds sizes, so that they fit an int everywhere.
const maxLimit = 1 << 30

// size reads a number of bytes within bounds.
func size(v string, lowest, highest int) (int, error) {
	n, ok := parseSize(v)
	if !ok || n < lowest || n > highest {
		return 0, fmt.Errorf("want a number of bytes from %d to %d, such as 65536, 64KiB or 1MiB", lowest, highest)
	}
	return n, nil
}

// limitSize reads a number of bytes of which 0 means no limit, which is -1.
func limitSize(v string) (int, error) {
	n, err := size(v, 0, maxLimit)
	if err == nil && n == 0 {
		n = -1
	}
	return n, err
}

func parseSize(v string) (int, bool) {
	shift := 0
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if digits, ok := strings.CutSuffix(v, unit); ok {
			v, shift = digits, 10*(i+1)
		}
	}
	n, err := strconv.ParseUint(v, 10, 31)
	if err != nil || n > maxLimit>>shift {
		return 0, false
	}
	return int(n) << shift, true
}

// longest bounds durations.
const longest = 24 * time.Hour

// span reads a duration that is not 0.
func span(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 || d > longest {
		return 0, errors.New("want a duration of more than 0, up to 24h, such as 500ms, 30s, 5m or 1h30m")
	}
	return d, nil
}

// limitDuration reads a duration of which 0 means none, which is negative.
func limitDuration(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 || d > longest {
		return 0, errors.New("want a duration up to 24h, such as 500ms, 30s, 5m or 1h30m, or 0")
	}
	if d == 0 {
		d = -1
	}
	return d, nil
}

// level is a severity, as our own log and as the protocol know it.
type level struct {
	own slog.Level
	mcp protocol.LogLevel
}

func parseLevel(v string) (level, error) {
	switch v {
	case "debug":
		return level{slog.LevelDebug, protocol.LogDebug}, nil
	case "info":
		return level{slog.LevelInfo, protocol.LogInfo}, nil
	case "warn":
		return level{slog.LevelWarn, protocol.LogWarning}, nil
	case "error":
		return level{slog.LevelError, protocol.LogError}, nil
	}
	return level{}, errors.New("want debug, info, warn or error")
}

// choice reports whether the value is the second of two words.
func choice(v, first, second string) (bool, error) {
	if v != first && v != second {
		return false, fmt.Errorf("want %s or %s", first, second)
	}
	return v == second, nil
}

func parseVersion(v string) (protocol.Version, error) {
	version := protocol.ParseVersion(v)
	if version == protocol.Unknown {
		return version, fmt.Errorf("want one of %s", strings.Join(versionNames(), ", "))
	}
	return version, nil
}

func versionNames() []string {
	return append(protocol.HandshakeVersions(), protocol.StatelessVersions()...)
}

// nameChars are the characters of names of tools and prompts.
const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

// checkPrefix accepts what may start a name and leaves room for the name.
func checkPrefix(v string) error {
	if len(v) > 64 || strings.Trim(v, nameChars) != "" {
		return errors.New("want up to 64 letters, digits, '_', '-' or '.'")
	}
	return nil
}

// addGlob adds a pattern of tool names.
func addGlob(list *[]string, v string) error {
	if strings.Trim(v, nameChars+"*?") != "" {
		return errors.New("want a name of tools, in which '*' stands for any text and '?' for any character")
	}
	return add(list, v)
}

// add adds a value once.
func add(list *[]string, v string) error {
	if !slices.Contains(*list, v) {
		*list = append(*list, v)
	}
	return nil
}

// addGiven adds NAME=VALUE.
func addGiven(given map[string]string, v string) error {
	name, value, ok := strings.Cut(v, "=")
	if !ok || name == "" {
		return errors.New("want NAME=VALUE")
	}
	if _, twice := given[name]; twice {
		return fmt.Errorf("the value of %q is given twice", name)
	}
	given[name] = value
	return nil
}
