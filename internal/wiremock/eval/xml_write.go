// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import "strings"

// AppendXML appends a node as Java's transformer writes it: a text or an
// attribute by its value, an element with its content. If it is indented, each
// element, and a text beside one, has a line of its own, two spaces further in
// than the one around it. It stops where the budget ends.
func AppendXML(buffer []byte, n *XML, indented bool, b *Budget) []byte {
	switch n.Kind {
	case XMLText, XMLAttribute:
		if !b.Spend(len(n.Text)) {
			return buffer
		}
		return append(buffer, n.Text...)
	case XMLDocument:
		for _, c := range n.Children {
			buffer = AppendXML(buffer, c, indented, b)
		}
		return buffer
	case XMLElement, XMLInstruction:
	}
	w := xmlWriter{buffer: buffer, indented: indented, budget: b}
	w.element(n, 0)
	if indented {
		w.buffer = append(w.buffer, '\n')
	}
	return w.buffer
}

type xmlWriter struct {
	buffer   []byte
	indented bool
	budget   *Budget
}

func (w *xmlWriter) write(texts ...string) {
	for _, text := range texts {
		if w.budget.Spend(len(text)) {
			w.buffer = append(w.buffer, text...)
		}
	}
}

func (w *xmlWriter) element(n *XML, depth int) {
	if !w.budget.Spend(1) {
		return
	}
	w.write("<", n.QualifiedName())
	for _, a := range n.Declares {
		w.write(" ", a.QualifiedName(), `="`, inAttribute.Replace(a.Text), `"`)
	}
	for _, a := range n.Attrs {
		w.write(" ", a.QualifiedName(), `="`, inAttribute.Replace(a.Text), `"`)
	}
	children := n.Children
	if w.indented {
		children = withoutBlanks(children)
	}
	if len(children) == 0 {
		w.write("/>")
		return
	}
	w.write(">")
	mixed := !w.indented || !hasElements(children)
	for _, c := range children {
		if !mixed {
			w.line(depth + 1)
		}
		if c.Kind == XMLText {
			w.text(c, !mixed)
			continue
		}
		if c.Kind == XMLInstruction {
			w.write("<?", c.Name, " ", c.Text, "?>")
			continue
		}
		w.element(c, depth+1)
	}
	if !mixed {
		w.line(depth)
	}
	w.write("</", n.QualifiedName(), ">")
}

// text writes a text; on a line of its own without white space around it.
func (w *xmlWriter) text(n *XML, isLine bool) {
	text := n.Text
	if isLine {
		text = strings.TrimSpace(text)
	}
	if n.CData {
		w.write("<![CDATA[", text, "]]>")
	} else {
		w.write(inText.Replace(text))
	}
}

// RemoveBlanks takes out the texts that are nothing but white space.
func (n *XML) RemoveBlanks() {
	kept := n.Children[:0]
	for _, c := range n.Children {
		if c.Kind != XMLText || strings.TrimSpace(c.Text) != "" {
			c.place = len(kept)
			kept = append(kept, c)
			c.RemoveBlanks()
		}
	}
	n.Children = kept
}

func (w *xmlWriter) line(depth int) { w.write("\n", strings.Repeat("  ", depth)) }

// withoutBlanks leaves out texts of white space beside elements.
func withoutBlanks(children []*XML) (kept []*XML) {
	for _, c := range children {
		if c.Kind != XMLText || strings.TrimSpace(c.Text) != "" || len(children) == 1 {
			kept = append(kept, c)
		}
	}
	return kept
}

func hasElements(children []*XML) bool {
	for _, c := range children {
		if c.Kind == XMLElement {
			return true
		}
	}
	return false
}

var (
	inText      = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")
	inAttribute = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\n", "&#10;", "\r", "&#13;", "\t", "&#9;")
)
