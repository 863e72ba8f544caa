// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

var xmlHelpers = map[string]helper{
	"xPath":     {least: 2, most: 2, compile: compileXPathBelow("")},
	"soapXPath": {least: 2, most: 2, compile: compileXPathBelow("/Envelope/Body/")},
	"formatXml": {least: 0, most: 1, named: []string{"format"}, block: true, compile: compileFormatXML},
}

// compileXPathBelow compiles the nodes that an XPath leads to from some place.
func compileXPathBelow(place string) func(c *call) (evaluator, error) {
	return func(c *call) (evaluator, error) {
		path, err := compiled(c, "path", c.args[1], func(text string) (*eval.XPath, error) { return eval.CompileXPath(place+text, nil) })
		if err != nil {
			return nil, err
		}
		return func(s *scope) any {
			value := c.args[0].value(s)
			if value == nil {
				return nil
			}
			text := toText(value, s.budget)
			document, err := eval.ParseXML(text, s.budget)
			if err != nil {
				return problem("%s is not valid XML", text)
			}
			p, err := path(s)
			if err != nil {
				return problem("%s is not a valid XPath expression", c.text(s, 1))
			}
			found, err := p.Find(document, s.budget)
			if err != nil || len(found) == 0 {
				return nil
			}
			return nodes(found)
		}, nil
	}
}

// innerXML returns what a node has of a name.
func innerXML(n *eval.XML, key string) any {
	switch key {
	case "name":
		return n.QualifiedName()
	case "text":
		return content{n}
	case "attributes":
		return attributes{n}
	}
	return nil
}

// content is the text in a node, which is put together where it is written.
type content struct{ node *eval.XML }

// attributes are those of a node.
type attributes struct{ node *eval.XML }

// get returns an attribute by its name, with its prefix.
func (a attributes) get(name string) any {
	for _, list := range [][]*eval.XML{a.node.Attrs, a.node.Declares} {
		for _, attribute := range list {
			if attribute.QualifiedName() == name {
				return attribute.Text
			}
		}
	}
	return nil
}

// object returns all of them.
func (a attributes) object() *eval.Object {
	all := new(eval.Object)
	for _, list := range [][]*eval.XML{a.node.Declares, a.node.Attrs} {
		for _, attribute := range list {
			all.Set(attribute.QualifiedName(), attribute.Text)
		}
	}
	return all
}

func compileFormatXML(c *call) (evaluator, error) {
	return func(s *scope) any {
		text := c.source(s)
		isPretty, ok := c.layout(s)
		switch {
		case text == "":
			return problem("formatXml should take a block of XML to format or a single parameter of type String")
		case !ok:
			return problem("formatXml: format [%s] should be one of [pretty, compact]", toText(c.named["format"].value(s), s.budget))
		}
		document, err := eval.ParseXML(text, s.budget)
		if err != nil {
			return problem("Input is not valid XML")
		}
		if !isPretty {
			document.RemoveBlanks()
		}
		return string(eval.AppendXML(nil, document, isPretty, s.budget))
	}, nil
}
