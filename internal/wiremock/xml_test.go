// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// FuzzXML holds that XML equals itself, that what is written of it does too, and
// that neither comparing nor searching costs more than the budget.
func FuzzXML(f *testing.F) {
	for _, seed := range []string{
		"<a><b>1</b><c x='2'/>t</a>", "<n:a xmlns:n='urn:x' n:b='1'><![CDATA[<]]></n:a>", "<?xml version='1.0'?><!-- c --><a>&lt;<?p i?></a>",
		"<a><b/><b/><b><c/></b></a>", "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
	} {
		f.Add(seed, "<a><b>${xmlunit.ignore}</b></a>", "//b[@x or text()='1']/..")
	}
	f.Fuzz(func(t *testing.T, text, expected, path string) {
		b := eval.NewBudget(len(text))
		document, err := eval.ParseXML(text, &b)
		if err != nil {
			return
		}
		same := &equalToXML{expected: document, namespaces: strictNamespaces}
		if !document.Unbound && !same.matches(value{text: text, present: true, budget: &b}) && !b.Exceeded() {
			t.Fatalf("%q does not equal itself", text)
		}
		if out := eval.AppendXML(nil, document, true, &b); len(out) > eval.BaseBudget+2*eval.PerByte*len(text) {
			t.Fatalf("%d bytes of %d", len(out), len(text))
		}
		for _, fields := range []string{`{"equalToXml":` + quoted(expected) + `,"enablePlaceholders":true}`, `{"matchesXPath":` + quoted(path) + `}`} {
			if p, err := parsePattern("", []byte(fields)); err == nil {
				new(Request).meets(p, present(text))
			}
		}
	})
}

func quoted(text string) string {
	b := eval.NewBudget(10 * len(text))
	return string(eval.AppendJSON(nil, text, &b))
}
