package conf

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jkd/conf/apache"
)

// findIncluded is apache.Options.Find.
func findIncluded(pattern string) (out []string, err error) {
	found := []string{pattern}
	if strings.ContainsAny(pattern, "*?[") {
		if found, err = filepath.Glob(pattern); err != nil {
			return nil, err
		}
		// As in a shell, '*' does not find hidden files.
		hidden := func(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") }
		found = slices.DeleteFunc(found, func(path string) bool { return hidden(path) && !hidden(pattern) })
	}
	for _, path := range found {
		if out, err = appendFiles(out, path, 0); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// appendFiles adds a file, or all files of a directory and of those in it.
func appendFiles(out []string, path string, depth int) ([]string, error) {
	const deepest = 8
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case len(out) > apache.MaxFiles:
		return nil, fmt.Errorf("more than %d files", apache.MaxFiles)
	case !info.IsDir():
		return append(out, path), nil
	case depth > deepest:
		return nil, fmt.Errorf("directories are nested more than %d deep", deepest)
	}
	list, err := os.ReadDir(path)
	for _, e := range list {
		if out, err = appendFiles(out, filepath.Join(path, e.Name()), depth+1); err != nil {
			return nil, err
		}
	}
	return out, err
}
