// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// equalToXML compares XML as WireMock has XMLUnit do it: without comments and
// white space around texts, elements in any order of their names, prefixes only
// by what they stand for. What is not in the expected document at all, like a
// namespace, is not compared.
type equalToXML struct {
	expected     *eval.XML
	text         string
	exempt       map[string]bool // comparisons that are left out
	placeholders *xmlPlaceholders
	sameByText   bool // elements of one name are ordered by their texts
	namespaces   namespaceAwareness
}

// namespaceAwareness is how namespaces are compared: by what they are, by what the
// document declares for names without a prefix, or not at all.
type namespaceAwareness string

const (
	strictNamespaces namespaceAwareness = "STRICT"
	legacyNamespaces namespaceAwareness = "LEGACY"
	noNamespaces     namespaceAwareness = "NONE"
)

func (p *equalToXML) String() string { return "equalToXml " + p.text }

func (p *equalToXML) matches(v value) bool {
	actual, ok := v.xml()
	if !ok || actual.Unbound && p.namespaces == strictNamespaces {
		return false
	}
	return p.equal(p.expected.Children[0], actual.Children[0], v.budget)
}

func (p *equalToXML) equal(expected, actual *eval.XML, b *eval.Budget) bool {
	if !b.Spend(1) {
		return false
	}
	if expected.Kind == eval.XMLText {
		return (expected.CData == actual.CData || p.exempt["NODE_TYPE"]) && p.sameText("TEXT_VALUE", expected.Text, actual.Text, b)
	}
	if expected.Kind == eval.XMLInstruction {
		return (expected.Name == actual.Name || p.exempt["PROCESSING_INSTRUCTION_TARGET"]) &&
			(expected.Text == actual.Text || p.exempt["PROCESSING_INSTRUCTION_DATA"])
	}
	return p.sameName(expected, actual) && p.sameAttributes(expected, actual, b) && p.sameChildren(expected, actual, b)
}

func (p *equalToXML) sameText(comparison, expected, actual string, b *eval.Budget) bool {
	expected, actual = strings.TrimSpace(expected), strings.TrimSpace(actual)
	if p.exempt[comparison] || b.Read(len(actual)) && expected == actual {
		return true
	}
	return p.placeholders.accept(expected, actual, b)
}

func (p *equalToXML) sameName(expected, actual *eval.XML) bool {
	if p.nameOf(expected) != p.nameOf(actual) && !p.exempt["ELEMENT_TAG_NAME"] {
		return false
	}
	return p.sameNamespace(expected, actual)
}

func (p *equalToXML) nameOf(n *eval.XML) string {
	if p.namespaces == noNamespaces || p.namespaces == legacyNamespaces && n.Kind == eval.XMLAttribute {
		return n.QualifiedName()
	}
	return n.Name
}

func (p *equalToXML) sameNamespace(expected, actual *eval.XML) bool {
	want := p.namespaceOf(expected)
	return p.exempt["NAMESPACE_URI"] || want == "" || want == p.namespaceOf(actual)
}

func (p *equalToXML) namespaceOf(n *eval.XML) string {
	if p.namespaces == noNamespaces || p.namespaces == legacyNamespaces && n.Prefix != "" {
		return ""
	}
	return n.Namespace
}

const schemaInstance = "http://www.w3.org/2001/XMLSchema-instance"

// hints are the attributes that say where a schema is, with their comparisons.
var hints = map[string]string{"schemaLocation": "SCHEMA_LOCATION", "noNamespaceSchemaLocation": "NO_NAMESPACE_SCHEMA_LOCATION"}

func isHint(a *eval.XML) bool { return a.Namespace == schemaInstance && hints[a.Name] != "" }

// compared returns the attributes of an element but for hints; declarations of
// namespaces are such where namespaces are not looked at.
func (p *equalToXML) compared(n *eval.XML) []*eval.XML {
	attributes := n.Attrs
	if p.namespaces == noNamespaces && len(n.Declares) > 0 {
		attributes = slices.Concat(attributes, n.Declares)
	}
	if slices.ContainsFunc(attributes, isHint) {
		return slices.DeleteFunc(slices.Clone(attributes), isHint)
	}
	return attributes
}

func (p *equalToXML) sameHints(expected, actual *eval.XML) bool {
	for _, a := range expected.Attrs {
		same := func(other *eval.XML) bool { return isHint(other) && other.Name == a.Name && other.Text == a.Text }
		if isHint(a) && !p.exempt[hints[a.Name]] && !slices.ContainsFunc(actual.Attrs, same) {
			return false
		}
	}
	return true
}

func (p *equalToXML) sameAttributes(expected, actual *eval.XML, b *eval.Budget) bool {
	if !p.sameHints(expected, actual) {
		return false
	}
	want, got := p.compared(expected), p.compared(actual)
	if len(want) != len(got) && !p.exempt["ELEMENT_NUM_ATTRIBUTES"] && !p.placeholders.accounts(want, got) {
		return false
	}
	if !b.Spend(len(want) * (1 + len(got)/8)) {
		return false
	}
	for _, a := range want {
		i := slices.IndexFunc(got, func(other *eval.XML) bool {
			return p.nameOf(a) == p.nameOf(other) && p.sameAttributeNamespace(a, other)
		})
		switch {
		case i < 0 && !p.exempt["ATTR_NAME_LOOKUP"] && !p.placeholders.accept(a.Text, "", b):
			return false
		case i >= 0 && !p.sameText("ATTR_VALUE", a.Text, got[i].Text, b):
			return false
		}
	}
	return true
}

func (p *equalToXML) sameAttributeNamespace(expected, actual *eval.XML) bool {
	return p.namespaces != strictNamespaces || expected.Namespace == actual.Namespace
}

func (p *equalToXML) sameChildren(expected, actual *eval.XML, b *eval.Budget) bool {
	want, got := p.children(expected, b), p.children(actual, b)
	if len(want) == 1 && want[0].Kind == eval.XMLText && p.placeholders.ignores(want[0].Text) {
		return true
	}
	if len(want) != len(got) && !p.exempt["CHILD_NODELIST_LENGTH"] {
		// A placeholder stands for a text that is not there, too.
		return len(want) == 1 && want[0].Kind == eval.XMLText && len(got) == 0 && p.placeholders.accept(want[0].Text, "", b)
	}
	next := 0
	for _, w := range want {
		at := next
		for at < len(got) && got[at].Kind != w.Kind {
			at++
		}
		switch {
		case !b.Spend(1 + at - next):
			return false
		case at < len(got):
			if !p.equal(w, got[at], b) {
				return false
			}
			next = at + 1
		case !p.exempt["CHILD_LOOKUP"]:
			return false
		}
	}
	return true
}

// children returns what is compared of the content of an element, in the order of
// the names: texts come where they stand only if there are no elements.
func (p *equalToXML) children(n *eval.XML, b *eval.Budget) []*eval.XML {
	if !b.Spend(1 + 2*len(n.Children)) {
		return nil
	}
	list := make([]*eval.XML, 0, len(n.Children))
	for _, c := range n.Children {
		if c.Kind != eval.XMLText || strings.TrimSpace(c.Text) != "" {
			list = append(list, c)
		}
	}
	if len(list) < 2 {
		return list
	}
	var contents map[*eval.XML]string
	if p.sameByText {
		contents = make(map[*eval.XML]string, len(list))
		for _, c := range list {
			contents[c] = strings.TrimSpace(c.Content(b))
		}
	}
	slices.SortStableFunc(list, func(x, y *eval.XML) int {
		return cmp.Or(cmp.Compare(p.nameOf(x), p.nameOf(y)), cmp.Compare(contents[x], contents[y]))
	})
	return list
}

// comparisons are the names of what XMLUnit compares.
var comparisons = []string{
	"XML_VERSION", "XML_STANDALONE", "XML_ENCODING", "HAS_DOCTYPE_DECLARATION", "DOCTYPE_NAME", "DOCTYPE_PUBLIC_ID", "DOCTYPE_SYSTEM_ID",
	"SCHEMA_LOCATION", "NO_NAMESPACE_SCHEMA_LOCATION", "NODE_TYPE", "NAMESPACE_PREFIX", "NAMESPACE_URI", "TEXT_VALUE",
	"PROCESSING_INSTRUCTION_TARGET", "PROCESSING_INSTRUCTION_DATA", "ELEMENT_TAG_NAME", "ELEMENT_NUM_ATTRIBUTES", "ATTR_VALUE",
	"ATTR_VALUE_EXPLICITLY_SPECIFIED", "CHILD_NODELIST_LENGTH", "CHILD_NODELIST_SEQUENCE", "CHILD_LOOKUP", "ATTR_NAME_LOOKUP",
}

func parseEqualToXML(f *fields, data json.RawMessage) (pattern, error) {
	p := &equalToXML{exempt: make(map[string]bool), namespaces: strictNamespaces}
	if err := json.Unmarshal(data, &p.text); err != nil {
		return nil, plain(err)
	}
	b := eval.NewBudget(len(p.text))
	var err error
	if p.expected, err = eval.ParseXML(p.text, &b); err != nil {
		return nil, err
	}
	var exempted []string
	if _, err := f.into("exemptedComparisons", &exempted); err != nil {
		return nil, err
	}
	for _, name := range exempted {
		if !slices.Contains(comparisons, name) {
			return nil, f.errorf("exemptedComparisons", "there is no comparison '%s'", name)
		}
		p.exempt[name] = true
	}
	if _, err := f.into("ignoreOrderOfSameNode", &p.sameByText); err != nil {
		return nil, err
	}
	if given, err := f.into("namespaceAwareness", &p.namespaces); err != nil {
		return nil, err
	} else if given && !slices.Contains([]namespaceAwareness{strictNamespaces, legacyNamespaces, noNamespaces}, p.namespaces) {
		return nil, f.errorf("namespaceAwareness", "expected STRICT, LEGACY or NONE, got '%s'", string(p.namespaces))
	}
	return p, p.parsePlaceholders(f)
}

func (p *equalToXML) parsePlaceholders(f *fields) error {
	var enabled bool
	opening, closing := `\$\{`, `}`
	for name, target := range map[string]any{
		"enablePlaceholders": &enabled, "placeholderOpeningDelimiterRegex": &opening, "placeholderClosingDelimiterRegex": &closing,
	} {
		if _, err := f.into(name, target); err != nil {
			return err
		}
	}
	if !enabled {
		return nil
	}
	var err error
	if p.placeholders, err = newXMLPlaceholders(opening, closing); err != nil {
		return fmt.Errorf("placeholders: %w", err)
	}
	return p.placeholders.compile(p.expected)
}
