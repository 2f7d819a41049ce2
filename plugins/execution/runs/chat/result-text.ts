/** What a tool gave, short: a person sees what became of a call, and the model has all of it. */
import {
  beginningOf,
  count,
  isJsonObject,
  visibleLine,
  widthOf,
  type Json,
  type JsonObject,
} from '../../../../core/plugin.js'

/** Lines of a text, and signs of a line where no terminal has a width. */
const [mostLines, mostSigns] = [4, 200]
const margin = '    '

/** What is counted in place of being shown, by its name. */
const counted: ReadonlyMap<string, string> = new Map([
  ['line_count', 'line'],
  ['replacements', 'replacement'],
  ['bytes_written', 'byte'],
  ['paths', 'file'],
  ['matches', 'matching line'],
  ['files', 'file'],
])

const countText = (output: JsonObject): string | undefined => {
  for (const [name, one] of counted) {
    const value = output[name]
    const number = Array.isArray(value) ? value.length : value
    if (typeof number === 'number') return `${count(number, one)}${output['truncated'] === true ? ', and more' : ''}`
  }
  return undefined
}

const texts = (output: JsonObject, ...names: readonly string[]): string =>
  names
    .map((name) => output[name])
    .filter((text) => typeof text === 'string' && text !== '')
    .join('\n')

/** How a program ended, where not as it should. */
const exitText = ({ exit_code, signal }: JsonObject): string[] => {
  if (typeof signal === 'string') return [`ended by ${visibleLine(signal)}`]
  return typeof exit_code === 'number' && exit_code !== 0 ? [`exit code ${exit_code}`] : []
}

const cut = (line: string, columns: number): string => {
  const room = Math.min(columns, mostSigns) - margin.length
  const shown = visibleLine(beginningOf(line, 2 * mostSigns).replaceAll('\t', '  '))
  if (widthOf(shown) <= room) return shown
  let kept = ''
  for (const sign of shown) {
    if (widthOf(kept + sign) >= room) break
    kept += sign
  }
  return `${kept}…`
}

const firstLines = (text: string, columns: number): string[] => {
  const trimmed = text.replace(/\s+$/u, '')
  if (trimmed === '') return []
  const lines = trimmed.split(/\r?\n/u)
  const leftOut = lines.length - mostLines
  return [
    ...lines.slice(0, leftOut === 1 ? mostLines + 1 : mostLines).map((line) => cut(line, columns)),
    ...(leftOut > 1 ? [`… ${count(leftOut, 'more line')}`] : []),
  ]
}

/** What says nothing beside that it was done. */
const isBare = (output: JsonObject): boolean => Object.values(output).every((value) => typeof value === 'boolean')

const linesOf = (output: Json, columns: number): string[] => {
  if (typeof output === 'string') return firstLines(output, columns)
  if (!isJsonObject(output)) return output === null ? [] : [cut(JSON.stringify(output), columns)]
  if ('exit_code' in output) return [...firstLines(texts(output, 'stdout', 'stderr'), columns), ...exitText(output)]
  const counted = countText(output)
  if (counted !== undefined) return [counted]
  const text = texts(output, 'text', 'content')
  if (text !== '') return firstLines(text, columns)
  return isBare(output) ? [] : [cut(JSON.stringify(output), columns)]
}

/** Lines that stand in below the line of the call. */
export const resultLines = (output: Json | undefined, columns: number): string[] =>
  output === undefined ? [] : linesOf(output, columns).map((line) => `${margin}${line}`)
