// Package packed writes values as bytes and reads them again in the same
// program.
//
// It is for the configuration that a master sends to its children. A field has
// no name in the bytes, so both sides must have the same types, as processes of
// one binary have. In return nothing is remembered about types: what
// encoding/json keeps of a jkd configuration's is 0.2 MB, in every child, for a
// text that is read once.
//
// Known are booleans, integers, strings, slices, arrays, maps, pointers and
// structs of these. Fields that are not exported are left out; a struct that
// has no others must be an [encoding.TextMarshaler] and its pointer an
// [encoding.TextUnmarshaler]. A nil slice or map stays nil. Pointers to the
// same value become pointers to equal ones, and a value that contains itself
// can not be written.
//
// The functions are safe for concurrent use.
package packed

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// ErrMalformed is the error of bytes that are not a value of the type.
var ErrMalformed = errors.New("packed: malformed")

// Append appends v to b. It fails for types that the package does not know.
func Append(b []byte, v any) ([]byte, error) {
	return appendValue(b, reflect.ValueOf(v))
}

func appendValue(b []byte, v reflect.Value) ([]byte, error) {
	var err error
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1), nil
		}
		return append(b, 0), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(b, v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(b, v.Uint()), nil
	case reflect.String:
		return append(binary.AppendUvarint(b, uint64(v.Len())), v.String()...), nil
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, 0), nil
		}
		return appendValue(append(b, 1), v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return append(b, 0), nil
		}
		b = binary.AppendUvarint(b, uint64(v.Len())+1)
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return append(b, v.Bytes()...), nil
		}
		fallthrough
	case reflect.Array:
		for i := 0; i < v.Len() && err == nil; i++ {
			b, err = appendValue(b, v.Index(i))
		}
		return b, err
	case reflect.Map:
		return appendMap(b, v)
	case reflect.Struct:
		return appendStruct(b, v)
	}
	return b, fmt.Errorf("packed: %s can not be written", v.Kind())
}

// appendMap writes the entries in the order of their bytes, so that equal maps
// are equal bytes.
func appendMap(b []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(b, 0), nil
	}
	var entries [][]byte
	for it := v.MapRange(); it.Next(); {
		e, err := appendValue(nil, it.Key())
		if err == nil {
			e, err = appendValue(e, it.Value())
		}
		if err != nil {
			return b, err
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, bytes.Compare)
	return append(binary.AppendUvarint(b, uint64(v.Len())+1), bytes.Join(entries, nil)...), nil
}

func appendStruct(b []byte, v reflect.Value) ([]byte, error) {
	if opaque(v.Type()) {
		m, ok := v.Interface().(encoding.TextMarshaler)
		if !ok {
			return b, fmt.Errorf("packed: %s has no exported fields and no text", v.Type())
		}
		text, err := m.MarshalText()
		return append(binary.AppendUvarint(b, uint64(len(text))), text...), err
	}
	var err error
	for i := 0; i < v.NumField() && err == nil; i++ {
		if v.Type().Field(i).IsExported() {
			b, err = appendValue(b, v.Field(i))
		}
	}
	return b, err
}

// opaque tells whether a struct has no field that is exported.
func opaque(t reflect.Type) bool {
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			return false
		}
	}
	return true
}
