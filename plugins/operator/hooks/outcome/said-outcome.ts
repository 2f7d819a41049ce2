/** The outcome in what a command or a host put out. */
import { givenTwice, visibleLine, type Json } from '../../../../core/plugin.js'
import { deeds, faultWith, rulingOf, type Answered } from './outcome.js'

/** Undefined of what is no JSON. */
const jsonIn = (text: string): Json | undefined => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What is wrong with JSON that says a thing in two ways; undefined if it does not. */
export const twiceFault = (said: string): string | undefined => {
  const twice = givenTwice(said)
  return twice === undefined ? undefined : `its outcome has ${visibleLine(twice).slice(0, 60)} twice`
}

/** The outcome that a text is, as JSON. */
export const outcomeIn = (name: string, said: string, redact: (text: string) => string): Answered => {
  const outcome = jsonIn(said)
  const fault = outcome === undefined ? 'its outcome is no JSON' : twiceFault(said)
  return fault === undefined ? rulingOf(name, outcome) : faultWith(fault, said, redact)
}

/** No JSON has the sign that colours begin with. */
const begin = '\u001b'
const colour = new RegExp(`${begin}\\[[0-?]*[ -/]*[@-~]`, 'gu')
/** `hookSpecificOutput` as `hook_specific_output` too. */
const howeverWritten = (name: string): string => name.replaceAll(/_|(?=[A-Z])/gu, '_?')
/** `ok` is what prompts of other programs ask for. */
const deed = new RegExp(`["'](?:(?:${deeds.map(howeverWritten).join('|')})["']\\s*:|ok["']\\s*:\\s*false)`, 'iu')
const escapedSign = /\\u00([4-7][\da-f])/giu
const unescaped = (text: string): string =>
  text.replace(escapedSign, (_, code: string) => String.fromCharCode(parseInt(code, 16)))

/** True of other text in which an outcome stands, whole or not, at any depth and however its names are written. */
const holdsOutcome = (said: string): boolean => said.includes('{') && deed.test(unescaped(said))

/**
 * A guard whose outcome would be taken for other text would let everything pass without a word: what was meant as one
 * and is none is a fault. A number, `true`, `false` and `null` mean nothing here, as other text does. Colours are for
 * terminals alone.
 */
export const saidOutcome = (name: string, put: string, redact: (text: string) => string): Answered => {
  const said = put.replace(colour, '').trim()
  const failed = (fault: string): Answered => faultWith(fault, said, redact)
  if (said.includes('\0')) return failed('what it put out is not UTF-8 text')
  if (said.startsWith('{')) return outcomeIn(name, said, redact)
  const other = jsonIn(said)
  if (typeof other === 'string' || Array.isArray(other)) return failed('its outcome is JSON, and no object')
  if (holdsOutcome(said)) return failed('other text stands beside its outcome: it must put out the JSON alone')
  return { ruling: undefined }
}
