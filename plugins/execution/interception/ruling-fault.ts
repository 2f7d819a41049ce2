/** A ruling as it is taken: an interceptor in a plugin that no compiler has checked may return anything (hooks-35). */
import {
  array,
  enums,
  fault,
  json,
  literal,
  open,
  optional,
  parse,
  plainCopy,
  string,
  unsafeCast,
} from '../../../core/plugin.js'
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
  failed: optional(string()),
  contexts: optional(array(string())),
})

/**
 * As much as one commit may hold, and a level more than an output may have: what a ruling puts in place of the largest
 * and deepest one must count. Its texts have less.
 */
const [mostBytes, mostLevels] = [24 * 1024 * 1024, 65]

/** Throws what is wrong with it, by its field. */
export const checkRuling = (made: unknown): Ruling | undefined => {
  if (made === undefined || made === null) return undefined
  const parsed = parse(ruling, made)
  if (parsed.ok) return unsafeCast(parsed.value)
  const [issue] = parsed.issues
  throw fault(`what it returned is no ruling: ${issue?.path || 'it'} ${issue?.rule ?? 'is another thing'}`)
}

/** The same of a plain copy. */
export const takenRuling = (made: unknown): Ruling | undefined => {
  if (made === undefined || made === null) return undefined
  const copy = checkRuling(plainCopy(made, mostBytes, mostLevels))
  plainCopy({ ...copy, updated_input: undefined, updated_output: undefined })
  return copy
}
