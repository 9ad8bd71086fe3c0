package packed

import (
	"encoding"
	"encoding/binary"
	"fmt"
	"reflect"
)

// Decode reads a value that [Append] wrote from all of b into what v points
// to, which must be its type's zero value. Its strings share one copy of b;
// nothing refers to b itself. Memory for a slice or a map is taken as its
// content comes, never for a length that b only claims.
func Decode(b []byte, v any) error {
	d := decoder{rest: string(b)}
	if err := d.value(reflect.ValueOf(v).Elem()); err != nil {
		return err
	}
	if d.rest != "" {
		return fmt.Errorf("%w: %d bytes are left", ErrMalformed, len(d.rest))
	}
	return nil
}

type decoder struct{ rest string }

func (d *decoder) value(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		n, err := d.flag()
		v.SetBool(n)
		return err
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		u, err := d.uvarint()
		n := int64(u>>1) ^ -int64(u&1) // as binary.AppendVarint
		if err == nil && v.OverflowInt(n) {
			return fmt.Errorf("%w: %d is too much for %s", ErrMalformed, n, v.Type())
		}
		v.SetInt(n)
		return err
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := d.uvarint()
		if err == nil && v.OverflowUint(n) {
			return fmt.Errorf("%w: %d is too much for %s", ErrMalformed, n, v.Type())
		}
		v.SetUint(n)
		return err
	case reflect.String:
		s, err := d.text()
		v.SetString(s)
		return err
	case reflect.Pointer:
		set, err := d.flag()
		if err != nil || !set {
			return err
		}
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(v.Elem())
	case reflect.Slice:
		return d.slice(v)
	case reflect.Array:
		return d.elements(v)
	case reflect.Map:
		return d.entries(v)
	case reflect.Struct:
		return d.fields(v)
	}
	return fmt.Errorf("packed: %s can not be read", v.Kind())
}

func (d *decoder) slice(v reflect.Value) error {
	n, err := d.length()
	if err != nil || n < 0 {
		return err
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		s, err := d.take(n)
		v.SetBytes([]byte(s))
		return err
	}
	// Not n: an element in memory can be a hundred times its bytes here.
	v.Set(reflect.MakeSlice(v.Type(), 0, min(n, 16)))
	for i := range n {
		v.Grow(1)
		v.SetLen(i + 1)
		if err := d.value(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) elements(v reflect.Value) error {
	for i := range v.Len() {
		if err := d.value(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) entries(v reflect.Value) error {
	n, err := d.length()
	if err != nil || n < 0 {
		return err
	}
	v.Set(reflect.MakeMap(v.Type()))
	for range n {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		if err := d.value(key); err != nil {
			return err
		}
		if err := d.value(value); err != nil {
			return err
		}
		v.SetMapIndex(key, value)
	}
	return nil
}

func (d *decoder) fields(v reflect.Value) error {
	if opaque(v.Type()) {
		u, ok := v.Addr().Interface().(encoding.TextUnmarshaler)
		if !ok {
			return fmt.Errorf("packed: %s has no exported fields and reads no text", v.Type())
		}
		s, err := d.text()
		if err == nil {
			err = u.UnmarshalText([]byte(s))
		}
		return err
	}
	for i := range v.NumField() {
		f := v.Field(i)
		if !f.CanSet() { // not exported
			continue
		}
		if err := d.value(f); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) uvarint() (uint64, error) {
	var n uint64
	for i := 0; i < len(d.rest) && i < binary.MaxVarintLen64; i++ {
		c := d.rest[i]
		if i == binary.MaxVarintLen64-1 && c > 1 {
			break
		}
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.rest = d.rest[i+1:]
			return n, nil
		}
	}
	return 0, ErrMalformed
}

// flag reads 0 or 1.
func (d *decoder) flag() (bool, error) {
	if d.rest == "" || d.rest[0] > 1 {
		return false, ErrMalformed
	}
	set := d.rest[0] == 1
	d.rest = d.rest[1:]
	return set, nil
}

// length reads the length of a slice or a map, -1 for nil. Each element has a
// byte at least.
func (d *decoder) length() (int, error) {
	n, err := d.uvarint()
	if err == nil && n > uint64(len(d.rest))+1 {
		err = ErrMalformed
	}
	return int(n) - 1, err
}

func (d *decoder) text() (string, error) {
	n, err := d.uvarint()
	if err == nil && n > uint64(len(d.rest)) {
		err = ErrMalformed
	}
	if err != nil {
		return "", err
	}
	return d.take(int(n))
}

func (d *decoder) take(n int) (string, error) {
	if n > len(d.rest) {
		return "", ErrMalformed
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s, nil
}
