/** What the outputs of a cell show as text. */
import { isJsonObject, type Json, type JsonObject } from '../../../../core/plugin.js'

/** Characters of the outputs of one cell; the sources stand whole. */
const mostOutput = 4_000

/** Texts are strings, or lists of lines with their ends. */
export const joined = (value: Json | undefined): string => {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.map((line) => (typeof line === 'string' ? line : '')).join('') : ''
}

const colours = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'gu')

/** What an output shows as text, and the types of what it shows otherwise. */
const outputText = (output: Json): string => {
  if (!isJsonObject(output)) return ''
  if (output['output_type'] === 'stream') return joined(output['text'])
  if (output['output_type'] === 'error') {
    const trace = Array.isArray(output['traceback']) ? output['traceback'].map((line) => joined(line)).join('\n') : ''
    return trace === '' ? `${joined(output['ename'])}: ${joined(output['evalue'])}` : trace
  }
  const { data } = output
  if (data === undefined || !isJsonObject(data)) return ''
  const text = joined(data['text/plain'])
  const others = Object.keys(data).filter((type) => type !== 'text/plain' && type !== 'text/html')
  return [text, ...others.map((type) => `[${type}]`)].filter((part) => part !== '').join('\n')
}

const cut = (text: string): string =>
  text.length > mostOutput ? `${text.slice(0, mostOutput)}\n[${text.length - mostOutput} more characters]` : text

export const outputsOf = ({ outputs }: JsonObject): string =>
  cut(
    (Array.isArray(outputs) ? outputs : [])
      .map((output) => outputText(output).replace(/\n$/u, ''))
      .filter((text) => text !== '')
      .join('\n')
      .replaceAll(colours, ''),
  )
