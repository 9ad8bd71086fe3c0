package contender

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"jkd/bench/internal/proc"
)

const (
	tomcatHome     = "/usr/share/tomcat10"
	tomcatExamples = "/usr/share/tomcat10-examples/examples"
)

// TomcatNeeds are the files without which there is no [StartTomcat].
var TomcatNeeds = []File{
	{tomcatHome + "/bin/bootstrap.jar", "tomcat10"},
	{tomcatExamples + "/WEB-INF/web.xml", "tomcat10-examples"},
	{"/usr/bin/java", "default-jre-headless"},
}

// JSP is a page of Tomcat's examples that the deployment of 2003 measured.
const JSP = "/examples/jsp/simpletag/foo.jsp"

// TomcatPageSize is the size of [Page] in Tomcat: that of the page of 2009.
const TomcatPageSize = 113_698

// Tomcat is a real container, with both connectors.
type Tomcat struct {
	*Running // by HTTP, directly
	AJPPort  int
	set      *proc.Set
}

// StartTomcat starts a Tomcat 10 of Debian's packages with the Java machine's
// defaults, but a fixed heap.
func StartTomcat(set *proc.Set, dir string) (*Tomcat, error) {
	base, err := newDir(dir, Direct)
	if err != nil {
		return nil, err
	}
	t := &Tomcat{Running: &Running{Name: Direct, dir: base}, set: set}
	for _, port := range []*int{&t.Port, &t.AJPPort} {
		if *port, err = proc.FreePort(); err != nil {
			return nil, err
		}
	}
	if err := t.writeBase(); err != nil {
		return nil, fmt.Errorf("contender: tomcat's directory: %w", err)
	}
	argv := []string{"/usr/bin/java", "-Xms384m", "-Xmx384m", "-Djava.awt.headless=true"}
	for _, p := range []string{"java.lang", "java.io", "java.util", "java.util.concurrent", "java.rmi/sun.rmi.transport"} {
		if !strings.Contains(p, "/") {
			p = "java.base/" + p
		}
		argv = append(argv, "--add-opens="+p+"=ALL-UNNAMED")
	}
	argv = append(argv, "-Djava.io.tmpdir="+base+"/temp", "-Dcatalina.home="+tomcatHome, "-Dcatalina.base="+base,
		"-classpath", tomcatHome+"/bin/bootstrap.jar:"+tomcatHome+"/bin/tomcat-juli.jar",
		"org.apache.catalina.startup.Bootstrap", "start")
	if t.Process, err = set.Start(Direct, base, argv...); err != nil {
		return nil, err
	}
	if err := t.ready(Hello, 0); err != nil {
		t.Stop()
		return nil, err
	}
	return t, nil
}

// Collect has the Java machine collect its garbage, if there is a jcmd.
func (t *Tomcat) Collect() {
	if jcmd, err := exec.LookPath("jcmd"); err == nil {
		t.set.Run(20*time.Second, t.dir, jcmd, fmt.Sprint(t.Process.PID()), "GC.run")
	}
}

func (t *Tomcat) writeBase() error {
	for _, d := range []string{"conf", "logs", "temp", "work", "webapps/test"} {
		if err := os.MkdirAll(filepath.Join(t.dir, d), 0o755); err != nil {
			return err
		}
	}
	return errors.Join(
		copyFile(t.dir+"/conf/catalina.properties", tomcatHome+"/etc/catalina.properties"),
		copyFile(t.dir+"/conf/web.xml", tomcatHome+"/etc/web.xml"),
		os.WriteFile(t.dir+"/conf/context.xml", []byte("<Context/>\n"), 0o644),
		os.WriteFile(t.dir+"/webapps"+Page, []byte(tomcatPage()), 0o644),
		write(t.dir+"/conf/server.xml", serverXML, map[string]any{"AJPPort": t.AJPPort, "HTTPPort": t.Port, "Examples": tomcatExamples}),
	)
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// tomcatPage is a JSP that is nothing but text.
func tomcatPage() string {
	const end = "</pre></body></html>\n"
	var b strings.Builder
	b.WriteString("<html><body><pre>\n")
	for i := 0; b.Len() < TomcatPageSize; i++ {
		fmt.Fprintf(&b, "%06d a line of a page as large as pages were, with some text to fill it\n", i)
	}
	return `<%@ page contentType="text/html; charset=UTF-8" session="false" %>` + b.String()[:TomcatPageSize-len(end)] + end
}

const serverXML = `<?xml version="1.0" encoding="UTF-8"?>
<Server port="-1">
  <Service name="Catalina">
    <Connector protocol="AJP/1.3" address="127.0.0.1" port="{{.AJPPort}}" secretRequired="false"/>
    <Connector protocol="HTTP/1.1" address="127.0.0.1" port="{{.HTTPPort}}" maxKeepAliveRequests="-1"/>
    <Engine name="Catalina" defaultHost="localhost">
      <Host name="localhost" appBase="webapps" autoDeploy="false" deployOnStartup="false">
        <Context path="/test" docBase="test"/>
        <Context path="/examples" docBase="{{.Examples}}"><Resources allowLinking="true"/></Context>
      </Host>
    </Engine>
  </Service>
</Server>
`
