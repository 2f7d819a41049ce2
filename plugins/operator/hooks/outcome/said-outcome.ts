/** The outcome in what a command put out. */
import { isJsonObject, type Json } from '../../../../core/plugin.js'
import { doesSomething, faultWith, rulingOf, type Answered } from './outcome.js'

/** Undefined of what is no JSON. */
const jsonIn = (text: string): Json | undefined => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** From the first brace to the last. */
const bracedIn = (text: string): string => text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)

/** True of other text in which an outcome stands: in one of its lines, over several of them, or behind them. */
const holdsOutcome = (said: string): boolean =>
  said.includes('{') &&
  [said, said.slice(said.lastIndexOf('\n{') + 1), ...said.split('\n')].some((part) => {
    const found = jsonIn(bracedIn(part))
    return isJsonObject(found) && doesSomething(found)
  })

/**
 * A guard whose outcome would be taken for other text would let everything pass without a word: what was meant as one
 * and is none is a fault. A number, `true`, `false` and `null` mean nothing here, as other text does.
 */
export const saidOutcome = (name: string, said: string, redact: (text: string) => string): Answered => {
  const failed = (fault: string): Answered => faultWith(fault, said, redact)
  if (said.startsWith('{')) {
    const outcome = jsonIn(said)
    return outcome === undefined ? failed('its outcome is no JSON') : rulingOf(name, outcome)
  }
  const other = jsonIn(said)
  if (typeof other === 'string' || Array.isArray(other)) return failed('its outcome is JSON, and no object')
  if (holdsOutcome(said)) return failed('other text stands beside its outcome: it must put out the JSON alone')
  return { ruling: undefined }
}
