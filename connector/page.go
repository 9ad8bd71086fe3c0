package connector

import "strconv"

// Page is an answer that a connector makes itself, in one piece.
type Page struct {
	Status      int
	ContentType string
	Fields      []PageField // neither Content-Type nor Content-Length
	Body        []byte
}

// PageField is a header field of a Page.
type PageField struct{ Name, Value string }

// Write sends p by w; head tells that the request is a HEAD, which gets no body.
// Its errors are those of w.
func (p *Page) Write(w ResponseWriter, head bool) error {
	fields := make([]Field, 0, len(p.Fields)+2)
	add := func(name, value string) {
		fields = append(fields, Field{Name: []byte(name), Value: []byte(value)})
	}
	add("Content-Type", p.ContentType)
	add("Content-Length", strconv.Itoa(len(p.Body)))
	for _, f := range p.Fields {
		add(f.Name, f.Value)
	}
	if err := w.Start(p.Status, fields); err != nil {
		return err
	}
	if !head {
		if err := w.Append(p.Body); err != nil {
			return err
		}
	}
	return w.Finish()
}
