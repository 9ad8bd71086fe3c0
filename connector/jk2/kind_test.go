package jk2

import (
	"strings"
	"testing"
)

// properties are all that mod_jk2 has, by component, those of every component
// left out.
var properties = map[string]string{
	"config":         "file debugEnv save",
	"logger.apache2": "level",
	"logger.file":    "level file timeFormat",
	"workerEnv": "logger timing sslEnable httpsIndicator certsIndicator cipherIndicator sessionIndicator keySizeIndicator forwardKeySize" +
		" forwardURICompat forwardURICompatUnparsed forwardURIEscaped noRecoveryIfRequestSent noRecoveryIfHeaderSent",
	"uri":            "group worker context servlet alias inheritGlobals timing uri path vhost host match_type aliases prefix suffix",
	"shm":            "file slots size useMemory resetEndpointStats",
	"channel.socket": "host port timeout keepalive nodelay graceful " + workerProperties,
	"channel.apr":    "host port timeout keepalive nodelay graceful " + workerProperties,
	"channel.un":     "file soLinger listen " + workerProperties,
	"ajp13":          "channel groups epCount lb_value errorState errorTime " + workerProperties,
	"lb":             "worker stickySession recovery noWorkerCode noWorkerMsg noErrorHeader hwBalanceErr timeout attempts",
	"status":         "styleMode stylePath",
}

const workerProperties = "tomcatId route routeRedirect group lb_factor level graceful max_connections secretkey connectTimeout prepostTimeout replyTimeout"

// Every property is known: each of them is read, said to do nothing, or said to
// be shown only, and none of them an unknown one.
func TestEveryPropertyIsKnown(t *testing.T) {
	for typ, names := range properties {
		k := kinds()[typ]
		for _, name := range strings.Fields(names + " info ver debug disabled name") {
			if !k.knows(name) {
				t.Errorf("%s lacks %s", typ, name)
			}
		}
		for name := range k.keys {
			if !strings.Contains(" "+names+" ", " "+name+" ") {
				t.Errorf("%s has %s, which mod_jk2 has not", typ, name)
			}
		}
	}
	for typ, k := range kinds() {
		if properties[typ] == "" && k.foreign == "" && !k.any {
			t.Errorf("%s is not in the list", typ)
		}
	}
}
