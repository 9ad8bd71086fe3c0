package demo

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"sync"
)

const (
	cookieName  = "JSESSIONID"
	maxSessions = 10_000
	maxIDLength = 128
)

// sessions counts visits by session id. At most maxSessions are kept; then
// any old one gives way. Safe for concurrent use.
type sessions struct {
	route string

	mu     sync.Mutex
	visits map[string]int
}

func newSessions(route string) *sessions {
	return &sessions{route: route, visits: make(map[string]int)}
}

// visit counts a visit of a session that is known; ok is false for others.
func (s *sessions) visit(id []byte) (n int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, ok = s.visits[string(id)]; ok {
		n++
		s.visits[string(id)] = n
	}
	return n, ok
}

// create starts a session and counts its first visit.
func (s *sessions) create() string {
	var r [16]byte
	rand.Read(r[:]) // never fails
	id := fmt.Sprintf("%X", r)
	if s.route != "" {
		id += "." + s.route
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.visits) >= maxSessions {
		for old := range s.visits {
			delete(s.visits, old)
			break
		}
	}
	s.visits[id] = 1
	return id
}

// session answers with the session's id and the number of its visits, and
// sets the cookie if the session is new.
func session(a *answer, r *request) error {
	var more []field
	id, visits := "", 0
	for _, given := range sessionIDs(r) {
		if n, ok := a.c.s.sessions.visit(given); ok {
			id, visits = string(given), n
			break
		}
	}
	if id == "" {
		id, visits = a.c.s.sessions.create(), 1
		more = []field{{"Set-Cookie", cookieName + "=" + id + "; Path=/; HttpOnly"}}
	}
	text := fmt.Sprintf("session=%s\nnew=%t\nvisits=%d\n", id, more != nil, visits)
	return a.text(200, typeText, []byte(text), append(more, field{"Cache-Control", "no-store"})...)
}

// sessionIDs returns the ids a client gives, cookies first, then the path
// parameter.
func sessionIDs(r *request) [][]byte {
	var ids [][]byte
	add := func(id []byte) {
		id = bytes.Trim(id, `"`)
		if len(id) > 0 && len(id) <= maxIDLength {
			ids = append(ids, id)
		}
	}
	for _, h := range r.headers {
		if !h.is(headerCookie) {
			continue
		}
		for _, c := range bytes.Split(h.value, []byte(";")) {
			name, value, _ := bytes.Cut(bytes.TrimSpace(c), []byte("="))
			if string(name) == cookieName {
				add(value)
			}
		}
	}
	if _, p, ok := bytes.Cut(r.uri, []byte(";jsessionid=")); ok {
		id, _, _ := bytes.Cut(p, []byte(";"))
		add(id)
	}
	return ids
}
