/** The input of a tool call for people who decide on it: JSON, in which a text of several lines stands as its lines. */
import { isJsonObject, type Json } from '../../../../core/plugin.js'

/** What an edit takes out and puts in, as it is called by tools here and elsewhere. */
const signs: ReadonlyMap<string, string> = new Map([
  ['old_string', '- '],
  ['old_str', '- '],
  ['old_text', '- '],
  ['oldText', '- '],
  ['new_string', '+ '],
  ['new_str', '+ '],
  ['new_text', '+ '],
  ['newText', '+ '],
])

const indented = (lines: readonly string[], by: string): string[] => lines.map((line) => `${by}${line}`)

const textLines = (value: Json, sign: string | undefined): readonly string[] | undefined =>
  typeof value === 'string' && (sign !== undefined || value.includes('\n'))
    ? indented(value.replace(/\r?\n$/u, '').split(/\r?\n/u), `  ${sign ?? ''}`)
    : undefined

/** What stands in an object or array; `name` is that of a member. */
const partLines = (value: Json, comma: string, name?: string): string[] => {
  const head = name === undefined ? '' : `${JSON.stringify(name)}:`
  const text = textLines(value, signs.get(name ?? ''))
  if (text !== undefined) return [head === '' ? 'text:' : head, ...text]
  const lines = inputLines(value)
  return lines.map(
    (line, at) => `${at === 0 && head !== '' ? `${head} ` : ''}${line}${at === lines.length - 1 ? comma : ''}`,
  )
}

export const inputLines = (value: Json): string[] => {
  const inside = Array.isArray(value)
    ? value.map((one) => ({ one, name: undefined }))
    : isJsonObject(value)
      ? Object.entries(value).map(([name, one]) => ({ one, name }))
      : []
  if (inside.length === 0) return [...(textLines(value, undefined) ?? [JSON.stringify(value)])]
  const [opens, closes] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const parts = inside.flatMap(({ one, name }, at) => partLines(one, at < inside.length - 1 ? ',' : '', name))
  return [opens, ...indented(parts, '  '), closes]
}
