package conf

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// over is what counts where t is said below base.
func (t FileTypes) over(base FileTypes) FileTypes {
	merge := func(far, near map[string]string) map[string]string {
		if len(far) == 0 {
			return near
		}
		out := maps.Clone(far)
		maps.Copy(out, near)
		return out
	}
	or := func(near, far string) string {
		if near == "" {
			return far
		}
		return near
	}
	return FileTypes{
		Types: merge(base.Types, t.Types), Charsets: merge(base.Charsets, t.Charsets), Codings: merge(base.Codings, t.Codings),
		Force: or(t.Force, base.Force), Default: or(t.Default, base.Default), DefaultCharset: or(t.DefaultCharset, base.DefaultCharset),
	}
}

// addFileTypes adds what may be said of the content of files.
func addFileTypes(t table, where func(given) *FileRules) {
	// add is a directive that says something of extensions.
	add := func(name, what string, check func(string) (string, error), of func(*FileTypes) *map[string]string) {
		t.add(directive{name: name, many: true, set: func(p *parser, g given) error {
			args, err := words(g.Value)
			if err != nil {
				return err
			}
			if len(args) < 2 {
				return errors.New("needs " + what + " and extensions; what contains blanks must be quoted")
			}
			value, err := check(args[0])
			if err != nil {
				return err
			}
			p.aboutFiles(g)
			list := of(&where(g).Types)
			if *list == nil {
				*list = map[string]string{}
			}
			for _, ext := range args[1:] {
				if ext, err = extension(ext); err != nil {
					return err
				}
				(*list)[ext] = value
			}
			return nil
		}})
	}
	add("AddType", "a type", mediaType, func(t *FileTypes) *map[string]string { return &t.Types })
	add("AddCharset", "a character set", token, func(t *FileTypes) *map[string]string { return &t.Charsets })
	add("AddEncoding", "a coding", token, func(t *FileTypes) *map[string]string { return &t.Codings })

	one := func(name string, check func(string) (string, error), of func(*FileTypes) *string) {
		t.add(directive{name: name, set: func(p *parser, g given) error {
			value, err := unquote(g.Value)
			if err != nil {
				return err
			}
			p.aboutFiles(g)
			*of(&where(g).Types), err = check(value)
			return err
		}})
	}
	typeOrNone := func(s string) (string, error) {
		if strings.EqualFold(s, "none") {
			return "none", nil
		}
		return mediaType(s)
	}
	one("ForceType", typeOrNone, func(t *FileTypes) *string { return &t.Force })
	one("DefaultType", typeOrNone, func(t *FileTypes) *string { return &t.Default })
	one("AddDefaultCharset", func(s string) (string, error) {
		switch {
		case strings.EqualFold(s, "off"):
			return NoCharset, nil
		case strings.EqualFold(s, "on"):
			return "iso-8859-1", nil // as in Apache
		}
		return token(s)
	}, func(t *FileTypes) *string { return &t.DefaultCharset })

	t.add(directive{name: "PrecompressedFiles", set: func(p *parser, g given) error {
		args, err := words(strings.ToLower(g.Value))
		if err != nil {
			return err
		}
		if len(args) == 1 && args[0] == "on" {
			args = packings
		}
		if len(args) != 1 || args[0] != NotPrecompressed {
			for i, a := range args {
				if !slices.Contains(packings, a) || slices.Contains(args[:i], a) {
					return fmt.Errorf("%q is not expected: On, Off, or some of %s in the order of preference", a, strings.Join(packings, " "))
				}
			}
		}
		p.aboutFiles(g)
		where(g).Precompressed = args
		return nil
	}})
}

// packings are the codings that files may be in beforehand.
var packings = []string{"br", "zstd", "gzip"}

// addTypesConfig adds the directive that names a file of types.
func addTypesConfig(t table) {
	t.add(directive{name: "TypesConfig", set: func(p *parser, g given) error {
		name, err := unquote(g.Value)
		if err != nil {
			return err
		}
		if name = p.path(name); name == "/dev/null" {
			p.types = nil
			return nil
		}
		data, err := readFile(name)
		if err != nil {
			return err
		}
		p.types = parseTypes(data)
		return nil
	}})
}

// parseTypes reads a mime.types: a type and its extensions on each line. What is
// no type is passed over, as systems' files are not ours to correct.
func parseTypes(data []byte) map[string]string {
	out := map[string]string{}
	for line := range bytes.Lines(data) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		fields := strings.Fields(string(line))
		if len(fields) < 2 {
			continue
		}
		mime, err := mediaType(fields[0])
		if err != nil {
			continue
		}
		for _, ext := range fields[1:] {
			if ext, err = extension(ext); err == nil {
				out[ext] = mime
			}
		}
	}
	return out
}

// mediaType checks a type, which may have parameters.
func mediaType(s string) (string, error) {
	main, _, _ := strings.Cut(s, ";")
	kind, sub, ok := strings.Cut(strings.TrimRight(main, " "), "/")
	_, err1 := token(kind)
	_, err2 := token(sub)
	if !ok || err1 != nil || err2 != nil || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", fmt.Errorf("%q is no type: expected one such as text/html", s)
	}
	return s, nil
}

func token(s string) (string, error) {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	}) {
		return "", fmt.Errorf("%q is no name of one", s)
	}
	return s, nil
}

// extension is an extension in lower case and without its dot.
func extension(s string) (string, error) {
	ext := strings.ToLower(strings.TrimPrefix(s, "."))
	if ext == "" || strings.ContainsAny(ext, "./") {
		return "", fmt.Errorf("%q is no extension", s)
	}
	return ext, nil
}
