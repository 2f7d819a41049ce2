/** What a server answered: its words, and when they were said. */
import type { Usage } from '../../execution/models/contract.js'
import { array, number, open, optional, parse, string, wellFormedJson, type Infer } from '../../../core/plugin.js'
import { usageIn } from '../../providers/streamed/contract.js'
import type { TimedText, Transcript } from '../derivations/contract.js'

const Answer = open({
  text: string(),
  language: optional(string()),
  duration: optional(number()),
  words: optional(array(open({ word: string(), start: number(), end: number() }))),
  segments: optional(array(open({ text: string(), start: number(), end: number() }))),
  usage: optional(open({ input_tokens: optional(number()), output_tokens: optional(number()) })),
})

/** Seconds as servers give them; what is no time is the beginning. */
const msOf = (seconds: number): number => (seconds > 0 && Number.isFinite(seconds) ? Math.round(seconds * 1000) : 0)
const timed = (text: string, { start, end }: { start: number; end: number }): TimedText => ({
  text: text.trim(),
  start_ms: msOf(start),
  end_ms: msOf(end),
})

type Answer = Infer<typeof Answer>

/** Some servers tell how long the sound was in place of tokens. */
const usageOf = ({ usage }: Answer): Usage | undefined =>
  usage?.output_tokens === undefined ? undefined : usageIn(usage, 'input', 'output')

const transcriptOf = ({ text, language, duration, words, segments }: Answer, usage: Usage | undefined): Transcript => ({
  type: 'transcript',
  text,
  ...(usage !== undefined && { usage }),
  ...(language !== undefined && { language }),
  ...(duration !== undefined && { duration_ms: msOf(duration) }),
  ...(words && { words: words.map((one) => timed(one.word, one)) }),
  ...(segments && { segments: segments.map((one) => timed(one.text, one)) }),
})

const jsonOf = (body: Uint8Array): unknown => {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body))
    return value
  } catch {
    return undefined
  }
}

/** Undefined where it is no transcript. Servers give null for what they do not tell. */
export const readAnswer = (body: Uint8Array): Transcript | undefined => {
  const read = parse(Answer, wellFormedJson(withoutNulls(jsonOf(body))))
  return read.ok ? transcriptOf(read.value, usageOf(read.value)) : undefined
}

const withoutNulls = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
    : value
