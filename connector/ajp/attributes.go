package ajp

// AttributeNames returns the names of the attributes that go with r, in the
// order in which they are sent; those that have a code of their own have
// Tomcat's names. There are no values: one of them is the secret. It is for
// whoever has to find out which of them a container refuses.
func (r *Request) AttributeNames() []string {
	var names []string
	add := func(sent bool, name string) {
		if sent {
			names = append(names, name)
		}
	}
	add(r.Secret != "", "secret")
	add(len(r.RemoteUser) > 0, "remote_user")
	add(len(r.AuthType) > 0, "auth_type")
	add(r.HasQuery, "query_string")
	add(r.Route != "", "route")
	t := r.TLS
	tls := r.Secure && t != nil
	add(tls && t.ClientCert != "", "ssl_cert")
	add(tls && t.Cipher != "", "ssl_cipher")
	add(tls && t.SessionID != "", "ssl_session")
	add(tls && t.KeySize > 0 && r.ForwardKeySize, "ssl_key_size")
	add(methodCode(r.Method) == methodStored, "stored_method")
	add(tls && t.Protocol != "", "AJP_SSL_PROTOCOL")
	names = append(names, "AJP_REMOTE_PORT", "AJP_LOCAL_ADDR", "JK_LB_ACTIVATION")
	for _, a := range r.Attributes {
		names = append(names, a.Name)
	}
	return names
}
