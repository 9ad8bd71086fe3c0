// Package jk2 is the home of the connector for mod_jk2's workers2.properties:
// components, channels and a shared-memory file of its own. There is nothing
// in it yet; jkd refuses a [connector.jk2] section and says so.
package jk2
