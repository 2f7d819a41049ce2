/** Which tools an agent sees: names, and beginnings with a trailing star (agents-6). Pure. */
import type { ToolSurface } from '../../../execution/sessions/contract.js'

type Names = readonly string[]

const names = (name: string, pattern: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern

/** True if a pattern names no more than another one does. */
const within = (pattern: string, wider: string): boolean =>
  pattern === wider || (wider.endsWith('*') && pattern.startsWith(wider.slice(0, -1)))

/** Trimmed, sorted, each once. */
const normal = (list: Names): string[] => [...new Set(list.map((name) => name.trim()))].filter(Boolean).sort()

export const permitsTool = ({ allowlist, denylist }: ToolSurface, name: string): boolean =>
  (allowlist.length === 0 || allowlist.some((pattern) => names(name, pattern))) &&
  !denylist.some((pattern) => names(name, pattern))

/** What of a wanted surface its parent does not have; undefined if nothing. */
export const beyondSurface = (parent: ToolSurface | undefined, wanted: ToolSurface): string | undefined =>
  parent === undefined || parent.allowlist.length === 0
    ? undefined
    : normal(wanted.allowlist).find((pattern) => !parent.allowlist.some((wider) => within(pattern, wider)))

/** What both let pass, where nothing is beyond; undefined if that is everything. */
export const narrowedSurface = (
  parent: ToolSurface | undefined,
  wanted: ToolSurface | undefined,
): ToolSurface | undefined => {
  const own = normal(wanted?.allowlist ?? [])
  const allowlist = own.length === 0 ? [...(parent?.allowlist ?? [])] : own
  const denylist = normal([...(parent?.denylist ?? []), ...(wanted?.denylist ?? [])])
  return allowlist.length + denylist.length === 0 ? undefined : { allowlist, denylist }
}
