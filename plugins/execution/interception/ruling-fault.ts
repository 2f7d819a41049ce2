/** A ruling as it is taken: an interceptor in a plugin that no compiler has checked may return anything (hooks-35). */
import { array, enums, fault, json, literal, open, optional, parse, string } from '../../../core/plugin.js'
import type { Ruling } from './moments.js'

const part = open({ by: string(), did: array(string()), reason: optional(string()) })
const ruling = open({
  by: array(string()),
  parts: optional(array(part)),
  block: optional(string()),
  locked: optional(literal(true)),
  permission: optional(enums(['allow', 'deny', 'ask'])),
  reason: optional(string()),
  updated_input: optional(json()),
  updated_output: optional(json()),
  gave_rules: optional(literal(true)),
  contexts: optional(array(string())),
})

/** The same, or nothing for no objection. Throws what is wrong with it, by its field. */
export const takenRuling = (made: Ruling | undefined): Ruling | undefined => {
  if (made === undefined || made === null) return undefined
  const parsed = parse(ruling, made)
  if (parsed.ok) return made
  const [issue] = parsed.issues
  throw fault(`what it returned is no ruling: ${issue?.path || 'it'} ${issue?.rule ?? 'is another thing'}`)
}
