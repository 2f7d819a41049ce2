/** What of an exchange may stand in a file that people send around. */
import { isJsonObject, redactSecrets, type Json } from '../../../../core/plugin.js'
import type { Headers } from '../transport/transport.js'

export type Redact = (text: string) => string

/** Headers whose values say nothing about who asks; of the others the name alone is kept. */
const plain = /^(?:content-type|content-length|user-agent|accept|accept-encoding|anthropic-version|anthropic-beta)$/u
/** Headers of answers that mean something to the daemon. */
const told = /^(?:content-type|content-encoding|retry-after(?:-ms)?|(?:anthropic-|x-)ratelimit-[a-z-]+)$/u

export const masked = '[redacted]'

const clean = (text: string, redact: Redact): string => redactSecrets(redact(text))

/** Names and values in turns, as requests have them. */
export const requestHeaders = (headers: readonly string[], redact: Redact): Record<string, string> =>
  Object.fromEntries(
    headers.flatMap((name, at) => {
      const known = name.toLowerCase()
      return at % 2 === 0 ? [[known, plain.test(known) ? clean(headers[at + 1] ?? '', redact) : masked]] : []
    }),
  )

/** Servers write into them what they like, as into the body. */
export const answerHeaders = (headers: Headers, redact: Redact): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      told.test(name) && typeof value === 'string' ? [[clean(name, redact), clean(value, redact)]] : [],
    ),
  )

/** Where a server is asked, as a cassette has it. */
export const maskedPath = clean

/** Texts and names of a value, each without the secrets in it. */
export const maskedJson = (value: Json, redact: Redact): Json => {
  if (typeof value === 'string') return clean(value, redact)
  if (Array.isArray(value)) return value.map((one) => maskedJson(one, redact))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      clean(name, redact),
      one === undefined ? null : maskedJson(one, redact),
    ]),
  )
}

/** Texts that stand under one name in the events of a stream, put together: deltas are pieces of one text. */
const joined = (body: string): string[] => {
  const texts = new Map<string, string>()
  const collect = (value: Json, name: string): void => {
    if (typeof value === 'string') texts.set(name, (texts.get(name) ?? '') + value)
    else if (Array.isArray(value)) for (const one of value) collect(one, name)
    else if (isJsonObject(value)) for (const [key, one] of Object.entries(value)) collect(one ?? null, key)
  }
  for (const line of body.split(/\r?\n|\r/u)) {
    try {
      if (line.startsWith('data:')) collect(JSON.parse(line.slice('data:'.length)), '')
    } catch {
      // What is no JSON has no deltas.
    }
  }
  return [...texts.values()]
}

/** The body without secrets; undefined if one stands in it in pieces that nobody can take out. */
export const maskedBody = (body: string, redact: Redact): string | undefined => {
  const safe = clean(body, redact)
  return joined(safe).some((text) => redact(text) !== text) ? undefined : safe
}
