module github.com/caddy-rehearsal/rehearsal/internal/recording/adobe

go 1.26.0

// The versions that adobe/blackhole pins.
require (
	github.com/google/flatbuffers v2.0.6+incompatible
	github.com/pierrec/lz4/v4 v4.1.14
)
