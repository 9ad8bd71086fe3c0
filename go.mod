module jkd

go 1.26.0

require (
	github.com/cloudflare/tableflip v1.2.3
	github.com/rs/zerolog v1.35.1
	github.com/valyala/fasthttp v1.79.0
	golang.org/x/sys v0.50.0
	gopkg.in/ini.v1 v1.68.0
)
