// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
)

// XML is a node of a document of XML: the document itself, an element, an
// attribute, a text or a processing instruction.
type XML struct {
	Kind      XMLKind
	CData     bool // of a text: it stands in <![CDATA[...]]>
	Unbound   bool // of a document: a prefix in it stands for nothing
	Prefix    string
	Name      string // the local name
	Namespace string
	Text      string // of an attribute or a text
	Attrs     []*XML // without declarations of namespaces
	Declares  []*XML // declarations of namespaces
	Children  []*XML
	Parent    *XML
	place     int // among the children, or the attributes, of the parent
}

// XMLKind is what a node is.
type XMLKind int

// The kinds of nodes. Comments are left out.
const (
	XMLDocument XMLKind = iota
	XMLElement
	XMLAttribute
	XMLText
	XMLInstruction
)

// LargestXML is the size in bytes up to which a text counts as XML.
const LargestXML = 4 << 20

// mostAttributes bounds those of an element.
const mostAttributes = 1000

// perNode is what a node of a document costs: it takes many times the memory of
// the few bytes that it may be written in.
const perNode = 16

var errXML = errors.New("it is not well-formed XML")

// ParseXML returns a document. Entities that the document itself defines are not
// known, nothing is loaded from elsewhere; a document that is larger than
// LargestXML, nested deeper than 1000 levels or has an element with more than 1000
// attributes is none.
func ParseXML(text string, b *Budget) (*XML, error) {
	if len(text) > LargestXML {
		return nil, errors.New("it is larger than XML may be")
	}
	if !b.Spend(len(text)) {
		return nil, errXML
	}
	p := xmlParser{budget: b, decoder: xml.NewDecoder(strings.NewReader(text))}
	p.decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // texts are UTF-8 here
	document := &XML{Kind: XMLDocument}
	p.open = document
	for {
		begin := p.decoder.InputOffset()
		token, err := p.decoder.RawToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		p.cdata = strings.HasPrefix(text[begin:], "<![CDATA[")
		if err := p.token(token); err != nil {
			return nil, err
		}
	}
	if p.open != document || len(document.Children) != 1 {
		return nil, errXML
	}
	document.Unbound = p.unbound
	return document, nil
}

type xmlParser struct {
	decoder *xml.Decoder
	budget  *Budget
	open    *XML // the element that is read
	depth   int
	scopes  []map[string]string
	cdata   bool
	unbound bool
}

func (p *xmlParser) token(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		return p.start(t)
	case xml.EndElement:
		if p.open.Kind != XMLElement || p.open.Name != t.Name.Local || p.open.Prefix != t.Name.Space {
			return errXML
		}
		p.open = p.open.Parent
		p.depth--
		p.scopes = p.scopes[:len(p.scopes)-1]
	case xml.CharData:
		return p.text(string(t))
	case xml.ProcInst:
		if p.open.Kind == XMLElement && p.budget.Spend(perNode) {
			p.add(&XML{Kind: XMLInstruction, Name: t.Target, Text: string(t.Inst)})
		}
	}
	return nil
}

func (p *xmlParser) start(t xml.StartElement) error {
	n := len(t.Attr)
	if p.depth++; p.depth > deepest || n > mostAttributes || !p.budget.Spend(perNode*(1+n)+n*n/readFree) {
		return errXML
	}
	element := &XML{Kind: XMLElement, Prefix: t.Name.Space, Name: t.Name.Local}
	var scope map[string]string
	for _, a := range t.Attr {
		attribute := &XML{Kind: XMLAttribute, Prefix: a.Name.Space, Name: a.Name.Local, Text: a.Value, Parent: element}
		if a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns" {
			if scope == nil {
				scope = make(map[string]string)
			}
			prefix := a.Name.Local
			if a.Name.Space == "" {
				prefix = ""
			}
			scope[prefix] = a.Value
			element.Declares = append(element.Declares, attribute)
			continue
		}
		if has(element.Attrs, attribute) {
			return errXML
		}
		attribute.place = len(element.Attrs)
		element.Attrs = append(element.Attrs, attribute)
	}
	p.scopes = append(p.scopes, scope)
	element.Namespace = p.namespace(element.Prefix)
	for _, a := range element.Attrs {
		if a.Prefix != "" {
			a.Namespace = p.namespace(a.Prefix)
		}
	}
	if p.open.Kind == XMLDocument && len(p.open.Children) > 0 {
		return errXML
	}
	p.add(element)
	p.open = element
	return nil
}

// has reports whether there is an attribute of the same name.
func has(attributes []*XML, a *XML) bool {
	for _, other := range attributes {
		if other.Name == a.Name && other.Prefix == a.Prefix {
			return true
		}
	}
	return false
}

// namespace returns what a prefix stands for; nothing if it was not declared.
func (p *xmlParser) namespace(prefix string) string {
	if prefix == "xml" {
		return "http://www.w3.org/XML/1998/namespace"
	}
	p.budget.Spend(len(p.scopes) / readFree)
	for _, scope := range slices.Backward(p.scopes) {
		if uri, ok := scope[prefix]; ok {
			return uri
		}
	}
	p.unbound = p.unbound || prefix != ""
	return ""
}

func (p *xmlParser) text(text string) error {
	if p.open.Kind == XMLDocument {
		if strings.TrimSpace(text) != "" {
			return errXML
		}
		return nil
	}
	if n := len(p.open.Children); n > 0 && p.open.Children[n-1].Kind == XMLText && p.open.Children[n-1].CData == p.cdata {
		last := p.open.Children[n-1]
		if !p.budget.Spend(len(last.Text)) {
			return errXML
		}
		last.Text += text
		return nil
	}
	if !p.budget.Spend(perNode) {
		return errXML
	}
	p.add(&XML{Kind: XMLText, Text: text, CData: p.cdata})
	return nil
}

func (p *xmlParser) add(n *XML) {
	n.Parent, n.place = p.open, len(p.open.Children)
	p.open.Children = append(p.open.Children, n)
}

// Content returns the text in a node, that of its elements included.
func (n *XML) Content(b *Budget) string {
	if n.Kind == XMLText || n.Kind == XMLAttribute {
		b.Read(len(n.Text))
		return n.Text
	}
	if len(n.Children) == 1 && n.Children[0].Kind == XMLText {
		b.Read(len(n.Children[0].Text))
		return n.Children[0].Text
	}
	return string(n.appendContent(nil, b))
}

func (n *XML) appendContent(buffer []byte, b *Budget) []byte {
	for _, c := range n.Children {
		if !b.Spend(1 + len(c.Text)) {
			return buffer
		}
		if c.Kind == XMLInstruction {
			continue
		}
		buffer = c.appendContent(append(buffer, c.Text...), b)
	}
	return buffer
}

// QualifiedName returns a name with its prefix.
func (n *XML) QualifiedName() string {
	if n.Prefix == "" {
		return n.Name
	}
	return n.Prefix + ":" + n.Name
}
