/** What help says of a flag that sets one value of a setting. */
import type { CommandFlag, JsonSchema } from '../../../../core/plugin.js'

/** Of numbers; every whole number has the largest one for its end. */
const rangeOf = ({ minimum, maximum }: JsonSchema): string => {
  const ends = [minimum, maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum]
  const [from, to] = ends.map((end) => (end === undefined ? undefined : String(end)))
  if (to === undefined) return from === undefined ? '' : ` ${from} or more.`
  return from === undefined ? ` ${to} or less.` : ` ${from} to ${to}.`
}

const choicesOf = ({ type, enum: words }: JsonSchema): readonly string[] => {
  if (type === 'boolean') return ['true', 'false']
  return Array.isArray(words) ? words.map(String) : []
}

/** What the value means and may be, and the words that it is one of; none if it is free. */
export const flagOfField = (
  schema: JsonSchema,
): { readonly flag: CommandFlag; readonly choices: readonly string[] } => {
  const value = schema['type'] === 'integer' ? 'number' : 'text'
  const summary = String(schema['description'] ?? '') + rangeOf(schema)
  return { flag: { kind: 'text', value, summary }, choices: choicesOf(schema) }
}
