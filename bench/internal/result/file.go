package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Results are the sections of one or more runs on one machine.
type Results struct {
	Machine  []string  `json:"machine"` // facts, a line each
	Sections []Section `json:"sections"`
}

// Read reads a file of results; one that is not there is empty.
func Read(name string) (r Results, err error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return r, fmt.Errorf("result: %s: %w", name, err)
	}
	return r, nil
}

// Write writes a file that [Read] reads.
func (r Results) Write(name string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err == nil {
		err = os.WriteFile(name, append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("result: %w", err)
	}
	return nil
}

// Put replaces the section of the same scenario, or adds one, in the order of
// names.
func (r *Results) Put(s Section, names []string) {
	r.Sections = slices.DeleteFunc(r.Sections, func(o Section) bool { return o.Scenario == s.Scenario })
	r.Sections = append(r.Sections, s)
	slices.SortStableFunc(r.Sections, func(a, b Section) int {
		return slices.Index(names, a.Scenario) - slices.Index(names, b.Scenario)
	})
}

// Section is that of a scenario; nil if it has not run.
func (r *Results) Section(scenario string) *Section {
	for i := range r.Sections {
		if r.Sections[i].Scenario == scenario {
			return &r.Sections[i]
		}
	}
	return nil
}
