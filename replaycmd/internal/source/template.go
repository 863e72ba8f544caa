// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"text/template"
	"text/template/parse"
)

// Template are bodies that a text/template makes: {{.n}} counts the requests from
// 1, and each column of a table is a field by its name in the first line, with the
// rows in turn.
type Template struct {
	template *template.Template
	columns  []string
	rows     [][]string
	values   map[string]any
	random   *rand.Rand
	count    int64
	steps    int // that the body took, of maxTemplateSteps
	out      bytes.Buffer
}

const (
	// maxTemplateBody is the most bytes of a body that a template makes.
	maxTemplateBody = 16 << 20

	// maxTable is the most bytes of a table.
	maxTable = 64 << 20
)

// NewTemplate returns bodies that a template makes with the rows of a table, which
// may be nil. The same seed makes the same bodies.
func NewTemplate(text string, table io.Reader, seed uint64) (*Template, error) {
	t := &Template{values: make(map[string]any), random: rand.New(rand.NewPCG(seed, 0))} //nolint:gosec // no secret
	functions := template.FuncMap{"random": t.between, "pick": t.pick, "json": asJSON, stepFunction: t.step}
	for name, make := range map[string]func(...any) string{
		"print": fmt.Sprint, "println": fmt.Sprintln, "html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper,
	} {
		functions[name] = func(values ...any) (string, error) { return ofBody(make(values...)) }
	}
	functions["printf"] = func(format string, values ...any) (string, error) { return ofBody(fmt.Sprintf(format, values...)) }
	parsed, err := template.New("body").Option("missingkey=error").Funcs(functions).Parse(text)
	if err != nil {
		return nil, err
	}
	if t.template, err = withSteps(parsed); err != nil {
		return nil, err
	}
	if table != nil {
		if err := t.read(table); err != nil {
			return nil, &TableError{err}
		}
	}
	if _, err := t.Next(); err != nil { // or every request would fail
		return nil, err
	}
	t.count, t.random = 0, rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // no secret
	return t, nil
}

// TableError is why the table of a Template cannot be used.
type TableError struct{ Err error }

func (e *TableError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *TableError) Unwrap() error { return e.Err }

// read reads the table. Spreadsheets begin it with a mark of its encoding.
func (t *Template) read(table io.Reader) error {
	limited := &io.LimitedReader{R: table, N: maxTable + 1}
	text := bufio.NewReader(limited)
	if mark, err := text.Peek(3); err == nil && string(mark) == "\ufeff" {
		text.Discard(3) //nolint:errcheck // they were there
	}
	rows, err := csv.NewReader(text).ReadAll()
	switch {
	case limited.N <= 0:
		return fmt.Errorf("the table is longer than %d MiB", maxTable>>20)
	case err != nil:
		return err
	case len(rows) < 2:
		return errors.New("the table has no rows: expected a line with the names of its columns, and rows")
	}
	t.columns, t.rows = rows[0], rows[1:]
	if slices.Contains(t.columns, "n") {
		return errors.New("a column is called n, which counts the requests: expected another name")
	}
	for i, name := range t.columns {
		if slices.Contains(t.columns[:i], name) {
			return fmt.Errorf("two columns are called '%s': expected another name for one", name)
		}
	}
	return nil
}

// Next returns the body of the next request.
func (t *Template) Next() ([]byte, error) {
	t.count++
	t.values["n"] = t.count
	if len(t.rows) > 0 {
		row := t.rows[(t.count-1)%int64(len(t.rows))]
		for i, name := range t.columns {
			t.values[name] = row[i]
		}
	}
	t.out.Reset()
	t.steps = 0
	if err := t.template.Execute(&bounded{&t.out}, t.values); err != nil {
		return nil, err
	}
	return t.out.Bytes(), nil
}

// Same returns false: each body may be another one.
func (*Template) Same() bool { return false }

// String returns that there is a template, and how many rows it has.
func (t *Template) String() string {
	if len(t.rows) == 0 {
		return "bodies of a template"
	}
	return fmt.Sprintf("bodies of a template with %d rows", len(t.rows))
}

// between returns a number from low to high.
func (t *Template) between(low, high int64) (int64, error) {
	if low > high || high-low < 0 || high-low+1 <= 0 {
		return 0, fmt.Errorf("%d to %d is no range", low, high)
	}
	return low + t.random.Int64N(high-low+1), nil
}

// pick returns one of its arguments.
func (t *Template) pick(choices ...any) (any, error) {
	if len(choices) == 0 {
		return nil, errors.New("nothing to pick from")
	}
	return choices[t.random.IntN(len(choices))], nil
}

// asJSON returns a value as JSON has it, a text with its quotes.
func asJSON(value any) (string, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	return ofBody(string(data))
}

var errLongBody = fmt.Errorf("the body is longer than %d MiB", maxTemplateBody>>20)

// ofBody refuses a text that is too long to be part of a body: variables keep
// what is written nowhere.
func ofBody(text string) (string, error) {
	if len(text) > maxTemplateBody {
		return "", errLongBody
	}
	return text, nil
}

// bounded is a buffer that takes no more than a body may have.
type bounded struct{ *bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxTemplateBody {
		return 0, errLongBody
	}
	return b.Buffer.Write(p)
}

// maxTemplateSteps is how many turns of loops and calls of templates one body may
// take: a loop that writes nothing would never end by the length of the body.
const maxTemplateSteps = 200_000

// stepFunction is the name of Template.step in templates.
const stepFunction = "_step"

// step counts a turn of a loop, or a call of a template.
func (t *Template) step() (string, error) {
	if t.steps++; t.steps > maxTemplateSteps {
		return "", fmt.Errorf("the body takes more than %d turns of loops", maxTemplateSteps)
	}
	return "", nil
}

// withSteps counts each turn of a loop of a template, and each call of one that
// it defines.
func withSteps(t *template.Template) (*template.Template, error) {
	for _, defined := range t.Templates() {
		if defined.Tree == nil || defined.Root == nil {
			continue
		}
		trees, err := parse.Parse("step", "{{"+stepFunction+"}}", "", "", map[string]any{stepFunction: true})
		if err != nil {
			return nil, err
		}
		step := trees["step"].Root.Nodes[0]
		countIn(defined.Root, step)
		begin(defined.Root, step)
	}
	return t, nil
}

// begin puts a step at the beginning of a list.
func begin(list *parse.ListNode, step parse.Node) {
	list.Nodes = append([]parse.Node{step}, list.Nodes...)
}

// countIn puts a step at the beginning of each turn of the loops in a list.
func countIn(list *parse.ListNode, step parse.Node) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.RangeNode:
			countIn(n.List, step)
			countIn(n.ElseList, step)
			begin(n.List, step)
		case *parse.IfNode:
			countIn(n.List, step)
			countIn(n.ElseList, step)
		case *parse.WithNode:
			countIn(n.List, step)
			countIn(n.ElseList, step)
		}
	}
}
