package tomcattest

import (
	"embed"
	"encoding/xml"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed all:testdata/webapp
var webapp embed.FS

// A web.xml of our own in place of the packaged one: the same two servlets,
// without the hundreds of MIME types that take a second to parse.
const globalWebXML = `<?xml version="1.0" encoding="UTF-8"?>
<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0">
  <servlet>
    <servlet-name>default</servlet-name>
    <servlet-class>org.apache.catalina.servlets.DefaultServlet</servlet-class>
    <load-on-startup>1</load-on-startup>
  </servlet>
  <servlet>
    <servlet-name>jsp</servlet-name>
    <servlet-class>org.apache.jasper.servlet.JspServlet</servlet-class>
    <init-param><param-name>fork</param-name><param-value>false</param-value></init-param>
    <init-param><param-name>development</param-name><param-value>false</param-value></init-param>
    <load-on-startup>3</load-on-startup>
  </servlet>
  <servlet-mapping><servlet-name>default</servlet-name><url-pattern>/</url-pattern></servlet-mapping>
  <servlet-mapping><servlet-name>jsp</servlet-name><url-pattern>*.jsp</url-pattern></servlet-mapping>
  <session-config><session-timeout>30</session-timeout></session-config>
  <mime-mapping><extension>html</extension><mime-type>text/html</mime-type></mime-mapping>
  <mime-mapping><extension>gif</extension><mime-type>image/gif</mime-type></mime-mapping>
  <welcome-file-list><welcome-file>index.html</welcome-file></welcome-file-list>
</web-app>
`

// Sessions outlive an orderly end, as was the default up to Tomcat 10.0.
var contextXML = template.Must(template.New("context.xml").Parse(`<Context>
  <Manager pathname="SESSIONS.ser"/>
  {{if .Small}}<JarScanner scanManifest="false"><JarScanFilter defaultTldScan="false" defaultPluggabilityScan="false"/></JarScanner>{{end}}
</Context>
`))

// The contexts are spelled out, so that nothing watches directories and
// nothing is deployed in the background.
var serverXML = template.Must(template.New("server.xml").Parse(`<?xml version="1.0" encoding="UTF-8"?>
<Server port="-1">
  <Service name="Catalina">
    <Connector protocol="AJP/1.3" address="127.0.0.1" port="{{.AJPPort}}"
               maxThreads="{{.MaxThreads}}" minSpareThreads="4"
               {{- if .Secret}} secretRequired="true" secret={{.Secret}}{{else}} secretRequired="false"{{end}}
               {{- if .PacketSize}} packetSize="{{.PacketSize}}"{{end}}
               {{- if .AJPAttributes}} {{.AJPAttributes}}{{end}}/>
    {{if .AJPSocket}}<Connector protocol="AJP/1.3" unixDomainSocketPath={{.AJPSocket}} unixDomainSocketPathPermissions="rw-rw-rw-"
               secretRequired="false" maxThreads="{{.MaxThreads}}" minSpareThreads="4"/>{{end}}
    {{if .HTTPPort}}<Connector protocol="HTTP/1.1" address="127.0.0.1" port="{{.HTTPPort}}"
               maxThreads="{{.MaxThreads}}" minSpareThreads="4"/>{{end}}
    <Engine name="Catalina" defaultHost="localhost"{{if .JVMRoute}} jvmRoute={{.JVMRoute}}{{end}}>
      <Host name="localhost" appBase="webapps" autoDeploy="false" deployOnStartup="false">
        <Context path="/test" docBase="test"/>
        {{if not .Small}}<Context path="/examples" docBase="` + Examples + `"><Resources allowLinking="true"/></Context>{{end}}
      </Host>
    </Engine>
  </Service>
</Server>
`))

type serverValues struct {
	AJPPort, HTTPPort int
	MaxThreads        int
	PacketSize        int
	Secret, JVMRoute  string // quoted XML attribute values, or empty
	AJPAttributes     string
	AJPSocket         string // quoted as well
	Small             bool
}

// writeBase fills dir, a CATALINA_BASE.
func writeBase(dir string, o Options, ajpPort, httpPort int) error {
	for _, d := range []string{"conf", "logs", "temp", "work", "webapps/test"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	props, err := os.ReadFile(home + "/etc/catalina.properties")
	if err != nil {
		return err
	}
	values := serverValues{
		AJPPort: ajpPort, HTTPPort: httpPort,
		MaxThreads: max(o.MaxThreads, 64),
		PacketSize: o.PacketSize,
		Secret:     attribute(o.Secret), JVMRoute: attribute(o.JVMRoute),
		AJPAttributes: o.AJPAttributes,
		AJPSocket:     attribute(o.AJPSocket),
		Small:         o.Small,
	}
	var server, context strings.Builder
	if err := errors.Join(serverXML.Execute(&server, values), contextXML.Execute(&context, values)); err != nil {
		return err
	}
	for name, data := range map[string]string{
		"conf/catalina.properties": string(props),
		"conf/server.xml":          server.String(),
		"conf/web.xml":             globalWebXML,
		"conf/context.xml":         context.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			return err
		}
	}
	app, err := fs.Sub(webapp, "testdata/webapp")
	if err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(dir, "webapps/test"), app)
}

// attribute quotes s for XML; an empty s stays empty.
func attribute(s string) string {
	if s == "" {
		return ""
	}
	var b strings.Builder
	b.WriteByte('"')
	xml.EscapeText(&b, []byte(s)) // a Builder returns no error
	b.WriteByte('"')
	return b.String()
}
