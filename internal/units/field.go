// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package units

import (
	"fmt"

	"golang.org/x/net/http/httpguts"
)

// CheckField refuses a header field that no HTTP message can carry.
func CheckField(name, value string) error {
	if !httpguts.ValidHeaderFieldName(name) {
		return fmt.Errorf("'%s' is not a header field name", name)
	}
	if !httpguts.ValidHeaderFieldValue(value) {
		return fmt.Errorf("the value of %s has a character that a header field cannot carry", name)
	}
	return nil
}
