/** An answer that its command has no words for, as lines for a person: names and values, under what has them. */
import { isJsonObject, type Json, type JsonObject } from '../../base/schema.js'
import { wholeSpan } from '../../base/text/command-text.js'
import { visible, visibleLine } from '../../base/text/visible.js'
import { showTime } from '../../base/time/moments.js'
import { showSize } from '../../retention/amounts.js'

const indented = (lines: readonly string[], by = '  '): string[] => lines.map((line) => `${by}${line}`)

/** What the name says that a number is, for those who do not count in it. */
const meantBy = (name: string, value: number): string | undefined => {
  if (name.endsWith('_bytes')) return value < 1024 ? undefined : showSize(value)
  return name.endsWith('_ms') ? wholeSpan(value) : undefined
}

const numberText = (name: string, value: number): string => {
  if (name.endsWith('_at_ms')) return showTime(value)
  const meant = meantBy(name, value)
  return meant === undefined ? String(value) : `${value} (${meant})`
}

/** A value that has a place beside its name; undefined for one that has members. */
const besideName = (name: string, value: Json): string | undefined => {
  if (value === null || value === '') return 'none'
  if (typeof value === 'number') return numberText(name, value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return value
  if (isJsonObject(value)) return Object.keys(value).length === 0 ? 'none' : undefined
  const each = value.map((item) => besideName('', item))
  if (each.length === 0) return 'none'
  return each.includes(undefined) ? undefined : each.join(', ')
}

const memberLines = (object: JsonObject): string[] => {
  const members = Object.entries(object).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name: visibleLine(name), value, text: besideName(name, value) }],
  )
  const width = Math.max(0, ...members.flatMap(({ name, text }) => (text === undefined ? [] : [name.length]))) + 2
  return members.flatMap(({ name, value, text }) => {
    if (text === undefined) return [name, ...indented(linesOf(value))]
    const [first = '', ...more] = visible(text).split('\n')
    return [`${name.padEnd(width)}${first}`, ...indented(more, ' '.repeat(width))]
  })
}

const itemLines = (value: Json): string[] => {
  const [first = '', ...more] = linesOf(value)
  return [`- ${first}`, ...indented(more)]
}

const linesOf = (value: Json): string[] => {
  if (isJsonObject(value)) return memberLines(value)
  return Array.isArray(value) ? value.flatMap(itemLines) : visible(besideName('', value) ?? '').split('\n')
}

/** `name  value` lines; numbers named `_at_ms`, `_ms` and `_bytes` are told as moments, spans and sizes. */
export const outline = (answer: Json): string => {
  const isEmpty = typeof answer === 'object' && besideName('', answer) === 'none'
  return isEmpty ? 'There is nothing to show.' : linesOf(answer).join('\n')
}
