/** Answers that are JSON of a form: read, checked, and what a model is told whose answer is not. */
import { fromJsonSchema, parse, type Json, type JsonObject } from '../../../../core/plugin.js'

/** How often a model is told what is wrong with its answer before it has failed. */
export const mostRepairs = 2

/** The code of an answer that never came to fit. */
export const unfitCode = 'structured_output_invalid'

/** A whole answer in a fence, as models like to write it. */
const unwrapped = /^```(?:json)?\s*\n([\s\S]*?)\n?```$/u

const withoutFence = (said: string): string => {
  const text = said.trim()
  return unwrapped.exec(text)?.[1] ?? text
}

/** The JSON that an answer is; undefined if it is none. */
export const jsonIn = (said: string): Json | undefined => {
  try {
    const value: Json = JSON.parse(withoutFence(said))
    return value
  } catch {
    return undefined
  }
}

/** An answer that fits, with its text that is JSON and nothing else, or in a phrase why it does not. */
export type Structured =
  | { readonly fits: true; readonly value: Json; readonly text: string }
  | { readonly fits: false; readonly fault: string; /** False: no answer could. */ readonly isRepairable: boolean }

const mostIssues = 5

/** Never throws. A schema that cannot be checked by is a fault of each answer. `isCut`: at the limit of its length. */
export const structuredAnswer = async (schema: JsonObject, said: string, isCut = false): Promise<Structured> => {
  const struct = await fromJsonSchema(schema)
  if (!struct.ok)
    return { fits: false, fault: `its schema cannot be used: ${inWords(struct.issues)}`, isRepairable: false }
  const value = jsonIn(said)
  if (value === undefined) return unfit('it is no JSON', isCut)
  const checked = parse(struct.value, value)
  if (checked.ok) return { fits: true, value, text: withoutFence(said) }
  return unfit(inWords(checked.issues), isCut)
}

const unfit = (fault: string, isCut: boolean): Structured => ({
  fits: false,
  fault: isCut ? `${fault}; it was cut at the limit of its length` : fault,
  isRepairable: true,
})

const inWords = (issues: readonly { readonly path: string; readonly rule: string }[]): string =>
  issues
    .slice(0, mostIssues)
    .map(({ path, rule }) => `${path === '' ? 'it' : path} ${rule}`)
    .join('; ')

/** Signs of a schema that is told again, at most. */
const mostOfSchema = 16_000

/** What the model is told whose answer does not fit. Servers that pass over a schema leave their model without it. */
export const repairText = (fault: string, schema: JsonObject): string => {
  const form = formText(schema)
  const wish = form.length > mostOfSchema ? 'Answer with JSON alone that fits the schema that you were given.' : form
  return `Your answer cannot be used: ${fault}. ${wish}`
}

/** What a model is told of the form where its provider does not pass it on. */
export const formText = (schema: JsonObject): string =>
  `Answer with JSON alone, without a fence, that fits this JSON Schema:\n${JSON.stringify(schema)}`
