// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import "strings"

// AppendXML appends a node as Java's transformer writes it: a text or an
// attribute by its value, an element with its content. If it is indented, each
// element without text beside it has a line of its own, two spaces further in
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
	mixed := !w.indented || hasText(children)
	for _, c := range children {
		switch c.Kind {
		case XMLText:
			w.text(c)
			continue
		case XMLInstruction:
			w.write("<?", c.Name, " ", c.Text, "?>")
			continue
		}
		if !mixed {
			w.line(depth + 1)
		}
		w.element(c, depth+1)
	}
	if !mixed {
		w.line(depth)
	}
	w.write("</", n.QualifiedName(), ">")
}

func (w *xmlWriter) text(n *XML) {
	if n.CData {
		w.write("<![CDATA[", n.Text, "]]>")
	} else {
		w.write(inText.Replace(n.Text))
	}
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

func hasText(children []*XML) bool {
	for _, c := range children {
		if c.Kind == XMLText {
			return true
		}
	}
	return false
}

var (
	inText      = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")
	inAttribute = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\n", "&#10;", "\r", "&#13;", "\t", "&#9;")
)
