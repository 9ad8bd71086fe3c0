package jk

import (
	"slices"

	"jkd/conf"
)

// use is the set of things a directive means something to.
type use uint8

const (
	forAJP use = 1 << iota
	forMember
	forLB
	forStatus
)

// directive is what may stand behind the last '.' of a worker.* name.
type directive struct {
	use use
	// list: repeated lines are joined; otherwise the last one counts.
	list bool
	// now is the current name of an old spelling.
	now string
	// dead is why the directive is read but does nothing.
	dead string
	// secret values are never printed.
	secret bool
}

const (
	jniDead   = "belongs to workers of type jni"
	ajp14Dead = "belongs to workers of type ajp14"
)

// directiveTable is every directive of mod_jk, what vendors added, and jkd's
// own: resolve_ttl, max_connections, allow_get_update.
var directiveTable = map[string]directive{
	"type":      {use: forAJP | forLB | forStatus},
	"reference": {use: forAJP | forLB | forStatus},
	"mount":     {use: forAJP | forLB | forStatus, list: true},
	"secret":    {use: forAJP | forLB, secret: true},

	"host":                       {use: forAJP},
	"port":                       {use: forAJP},
	"source":                     {use: forAJP},
	"prefer_ipv6":                {use: forAJP},
	"resolve_ttl":                {use: forAJP},
	"max_connections":            {use: forAJP},
	"socket_timeout":             {use: forAJP},
	"socket_connect_timeout":     {use: forAJP},
	"socket_keepalive":           {use: forAJP},
	"socket_buffer":              {use: forAJP},
	"ping_mode":                  {use: forAJP},
	"ping_timeout":               {use: forAJP},
	"connect_timeout":            {use: forAJP},
	"prepost_timeout":            {use: forAJP},
	"connection_ping_interval":   {use: forAJP},
	"connection_pool_size":       {use: forAJP},
	"connection_pool_minsize":    {use: forAJP},
	"connection_pool_timeout":    {use: forAJP},
	"connection_acquire_timeout": {use: forAJP},
	"cachesize":                  {use: forAJP},
	"cache_timeout":              {use: forAJP},
	"max_reuse_connections":      {use: forAJP},
	"reply_timeout":              {use: forAJP},
	"retries":                    {use: forAJP | forLB},
	"retry_interval":             {use: forAJP | forLB},
	"recovery_options":           {use: forAJP},
	"fail_on_status":             {use: forAJP, list: true},
	"busy_limit":                 {use: forAJP},
	"max_packet_size":            {use: forAJP | forLB},

	"lbfactor":   {use: forMember},
	"distance":   {use: forMember},
	"activation": {use: forMember},
	"route":      {use: forMember},
	"domain":     {use: forMember},
	"redirect":   {use: forMember},
	"jvm_route":  {use: forMember, now: "route"},
	"disabled":   {use: forMember, now: "activation"},
	"stopped":    {use: forMember, now: "activation"},

	"balance_workers":       {use: forLB, list: true},
	"balanced_workers":      {use: forLB, list: true, now: "balance_workers"},
	"sticky_session":        {use: forLB},
	"sticky_session_force":  {use: forLB},
	"method":                {use: forLB},
	"lock":                  {use: forLB},
	"lb_retries":            {use: forLB},
	"recover_time":          {use: forLB},
	"error_escalation_time": {use: forLB},
	"max_reply_timeouts":    {use: forLB},
	"session_cookie":        {use: forLB},
	"session_path":          {use: forLB},
	"set_session_cookie":    {use: forLB},
	"session_cookie_path":   {use: forLB},

	"css":                   {use: forStatus},
	"read_only":             {use: forStatus},
	"user":                  {use: forStatus, list: true},
	"user_case_insensitive": {use: forStatus},
	"allow_get_update":      {use: forStatus},
	"good":                  {use: forStatus, list: true},
	"bad":                   {use: forStatus, list: true},
	"prefix":                {use: forStatus},
	"ns":                    {use: forStatus},
	"xmlns":                 {use: forStatus},
	"doctype":               {use: forStatus},

	"recycle_timeout":   {dead: "is obsolete, use connection_pool_timeout"},
	"local_worker":      {dead: "is obsolete, use distance or activation"},
	"local_worker_only": {dead: "is obsolete, use distance or activation"},
	"secretkey":         {dead: ajp14Dead, secret: true},
	"sysprops":          {dead: jniDead},
	"stderr":            {dead: jniDead},
	"stdout":            {dead: jniDead},
	"mx":                {dead: jniDead},
	"ms":                {dead: jniDead},
	"class_path":        {dead: jniDead},
	"bridge":            {dead: jniDead},
	"jvm_lib":           {dead: jniDead},
	"ld_path":           {dead: jniDead},
	"cmd_line":          {dead: jniDead},
	"native_lib":        {dead: jniDead},
}

// directiveNames are those worth suggesting, sorted.
var directiveNames = func() []string {
	var out []string
	for name, d := range directiveTable {
		if d.dead == "" && d.now == "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}()

// globalNames are the names that belong to no worker.
var globalNames = []string{"list", "maintain"}

func unknownDirective(name string) string {
	return "directive " + conf.Printable(name) + " is not supported - please check" + conf.DidYouMean(name, directiveNames)
}
