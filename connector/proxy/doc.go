// Package proxy is the connector of mod_proxy's directives: requests go to HTTP
// or AJP back ends by their URL, to one or to a balancer's members.
//
// [Load] judges the configuration, [New] makes the connector of one process.
// Connections are kept per process and back end. Rules are tried in the order of
// the configuration, the first that matches counts. What they are compared with
// is the path as a container understands it; what is sent keeps its path
// parameters.
package proxy
