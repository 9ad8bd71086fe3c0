package conf

import (
	"fmt"
	"path/filepath"
	"strings"
)

// None is the value of ControlSocket that means that there is none.
const None = "none"

const defaultPidFile = "logs/jkd.pid" // below ServerRoot

// MaxSocketPath is the length of the longest path of a Unix socket that every
// supported system takes, in bytes.
const MaxSocketPath = 103

func setControlSocket(p *parser, g given) error {
	if strings.EqualFold(g.Value, None) {
		p.cfg.Server.ControlSocket = None
		return nil
	}
	path, err := p.output(g, g.Value)
	if err != nil {
		return err
	}
	if len(path) > MaxSocketPath {
		return fmt.Errorf("the path of a socket has at most %d bytes, this one %d", MaxSocketPath, len(path))
	}
	p.cfg.Server.ControlSocket = path
	return nil
}

// Control is the path of the control socket of a server with the given pid
// file, "" for none: ControlSocket, or else beside the pid file, with .ctl
// instead of .pid. Without either there is none.
func (s *ServerConfig) Control(pidFile string) string {
	switch {
	case s.ControlSocket == None:
		return ""
	case s.ControlSocket != "":
		return s.ControlSocket
	case pidFile == "":
		return ""
	}
	return strings.TrimSuffix(pidFile, ".pid") + ".ctl"
}

// Whereabouts returns the configuration of a file as far as it tells where a
// running server can be found: ServerRoot, PidFile and ControlSocket. The rest
// has its default values. The faults that the file may have elsewhere are
// passed over, as they are no reason not to stop a server.
func Whereabouts(path string) (*ServerConfig, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, Errors{{File: path, Msg: err.Error()}}
	}
	p := &parser{file: path, cfg: Defaults(), first: map[string]given{}, servers: []*server{{}}}
	all := p.readSections(path, data, Options{})
	p.errs = nil
	if p.cfg.Path, err = filepath.Abs(path); err != nil {
		return nil, Errors{{File: path, Msg: err.Error()}}
	}
	p.root(all)
	for _, pair := range all.Get("server") {
		switch key := strings.ToLower(pair.Key); key {
		case "pidfile", "controlsocket":
			g := given{Pair: pair, dir: directives()[serverSection][key]}
			if err := g.dir.set(p, g); err != nil {
				p.errs = append(p.errs, &Error{File: path, Line: pair.Line, Key: pair.Key, Msg: err.Error()})
			}
		}
	}
	if p.cfg.Server.PidFile == "" {
		p.cfg.Server.PidFile = p.path(defaultPidFile)
	}
	return &p.cfg.Server, p.errs.Err()
}
