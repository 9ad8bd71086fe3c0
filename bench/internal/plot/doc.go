// Package plot draws what was measured, each figure as SVG and as PNG.
package plot
