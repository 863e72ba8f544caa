// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package send

import "net"

// ended says whether an idle connection is known to have ended, which this
// platform doesn't tell without reading.
func ended(net.Conn) bool { return false }
