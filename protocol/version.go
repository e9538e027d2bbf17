package protocol

// Version is a revision of the protocol. The zero value is no version: the
// peer has not said which one it speaks.
type Version uint8

// The revisions that are served. The first four have a handshake, the last
// carries version and capabilities in every request.
const (
	Unknown   Version = iota
	V20241105         // 2024-11-05
	V20250326         // 2025-03-26
	V20250618         // 2025-06-18
	V20251125         // 2025-11-25
	V20260728         // 2026-07-28
	versionEnd
)

// The newest revision of each era.
const (
	LatestHandshake = V20251125
	LatestStateless = V20260728
)

// Versions returns all revisions, oldest first.
func Versions() []Version {
	return []Version{V20241105, V20250326, V20250618, V20251125, V20260728}
}

// HandshakeVersions returns the names of the revisions that initialize can
// negotiate, oldest first.
func HandshakeVersions() []string {
	return []string{V20241105.String(), V20250326.String(), V20250618.String(), V20251125.String()}
}

// StatelessVersions returns the names of the revisions that a request can claim
// in its metadata, oldest first.
func StatelessVersions() []string { return []string{V20260728.String()} }

// ParseVersion returns the revision called s, or [Unknown].
func ParseVersion(s string) Version {
	switch s {
	case "2024-11-05":
		return V20241105
	case "2025-03-26":
		return V20250326
	case "2025-06-18":
		return V20250618
	case "2025-11-25":
		return V20251125
	case "2026-07-28":
		return V20260728
	}
	return Unknown
}

// String returns the name of the revision, its date.
func (v Version) String() string {
	switch v {
	case V20241105:
		return "2024-11-05"
	case V20250326:
		return "2025-03-26"
	case V20250618:
		return "2025-06-18"
	case V20251125:
		return "2025-11-25"
	case V20260728:
		return "2026-07-28"
	}
	return "unknown"
}

// HasHandshake reports whether the revision starts with initialize.
func (v Version) HasHandshake() bool { return V20241105 <= v && v <= V20251125 }

// Stateless reports whether every request stands for itself.
func (v Version) Stateless() bool { return v >= V20260728 && v < versionEnd }

// AllowsBatch reports whether a frame may hold an array of messages.
func (v Version) AllowsBatch() bool { return v == V20250326 }

// Resumable reports whether a lost event stream can be resumed.
func (v Version) Resumable() bool { return V20250326 <= v && v <= V20251125 }

// PrimesStreams reports whether an event stream starts with an empty event that
// carries an id.
func (v Version) PrimesStreams() bool { return v == V20251125 }

// OmitsUnknownID reports whether an error for a request without a readable id
// leaves the id out; before, it is null. It is null as well while the version
// is unknown.
func (v Version) OmitsUnknownID() bool { return v >= V20251125 }

// HasToolAnnotations reports whether tools carry behaviour hints.
func (v Version) HasToolAnnotations() bool { return v >= V20250326 }

// HasAudio reports whether content may be audio.
func (v Version) HasAudio() bool { return v >= V20250326 }

// HasProgressMessage reports whether progress carries a text.
func (v Version) HasProgressMessage() bool { return v >= V20250326 }

// DeclaresCompletions reports whether completion is a declared capability.
func (v Version) DeclaresCompletions() bool { return v >= V20250326 }

// HasTitle reports whether named things have a title, and with it _meta on
// definitions and content.
func (v Version) HasTitle() bool { return v >= V20250618 }

// HasStructuredContent reports whether tools have output schemas and results
// structured content.
func (v Version) HasStructuredContent() bool { return v >= V20250618 }

// AnyStructuredContent reports whether structured content may be any value; in
// older revisions it is an object.
func (v Version) AnyStructuredContent() bool { return v >= V20260728 }

// HasResourceLink reports whether content may link to a resource.
func (v Version) HasResourceLink() bool { return v >= V20250618 }

// HasElicitation reports whether a server may ask the user for input.
func (v Version) HasElicitation() bool { return v >= V20250618 }

// HasURLElicitation reports whether elicitation has modes, of which one is to
// open a URL.
func (v Version) HasURLElicitation() bool { return v >= V20251125 }

// HasIcons reports whether definitions have icons, and the implementation a
// description and a web site.
func (v Version) HasIcons() bool { return v >= V20251125 }

// HasLastModified reports whether annotations carry a modification time.
func (v Version) HasLastModified() bool { return v >= V20250618 }

// ResourceNotFound returns the error code for a resource that does not exist.
func (v Version) ResourceNotFound() int {
	if v.Stateless() {
		return CodeInvalidParams
	}
	return CodeResourceNotFound
}
