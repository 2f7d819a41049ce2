/** The table of a server as text to paste into the file of the list. */
import { isJsonObject, visibleLine, type Json, type JsonObject } from '../../../../core/plugin.js'

/** Texts and arrays of them are the same in TOML as in JSON. */
const valueText = (value: Json | undefined): string =>
  isJsonObject(value)
    ? `{ ${Object.entries(value)
        .map(([key, inner]) => `${JSON.stringify(key)} = ${valueText(inner)}`)
        .join(', ')} }`
    : JSON.stringify(value)

const headOf = (name: string): string => (/^[\w-]+$/u.test(name) ? name : JSON.stringify(name))

/** Its lines, as they may be shown. */
export const tableLines = (name: string, entry: JsonObject): readonly string[] =>
  [`[mcp_servers.${headOf(name)}]`, ...Object.entries(entry).map(([key, value]) => `${key} = ${valueText(value)}`)].map(
    visibleLine,
  )
