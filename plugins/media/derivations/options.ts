/** What is wished of a transcription, and the digest that tells one wish from another. */
import { digest } from '../../../core/plugin.js'
import type { TranscriptionOptions } from './contract.js'
import { derivationErrors } from './errors.js'

/** Characters of a prompt. */
const mostPrompt = 2_000
/** Characters of the name of a language. */
const mostLanguage = 32

const wrong = (field: keyof TranscriptionOptions, rule: string) =>
  derivationErrors.derivation_invalid({
    details: { reason: `${field} ${rule}` },
    errors: [{ path: `body.transcription.${field}`, rule }],
  })

const promptOf = (text = ''): string => {
  const prompt = text.trim()
  if (Array.from(prompt).length > mostPrompt) throw wrong('prompt', `must have at most ${mostPrompt} characters`)
  return prompt
}
const languageOf = (text = ''): string => {
  const language = text.trim()
  if (language !== '' && !/^[A-Za-z0-9_-]+$/u.test(language))
    throw wrong('language', 'must be of ASCII letters, digits, - and _')
  if (language.length > mostLanguage) throw wrong('language', `must have at most ${mostLanguage} characters`)
  return language
}

/** Trimmed, without what is blank; undefined if nothing is left. Throws `derivation_invalid`. */
export const normalOptions = (options: TranscriptionOptions = {}): TranscriptionOptions | undefined => {
  const [prompt, language] = [promptOf(options.prompt), languageOf(options.language)]
  const times = options.timestamp_granularities ?? []
  if (new Set(times).size < times.length) throw wrong('timestamp_granularities', 'must name each once')
  const wished = {
    ...(prompt !== '' && { prompt }),
    ...(language !== '' && { language }),
    ...(times.length > 0 && { timestamp_granularities: times.toSorted() }),
  }
  return Object.keys(wished).length === 0 ? undefined : wished
}

/** Who would write it down. */
export interface PlannedRoute {
  readonly route_id: string
  readonly provider: string
  readonly model: string
}

/** Tells no word of the prompt. */
export const optionsDigest = (
  { route_id, provider, model }: PlannedRoute,
  options: TranscriptionOptions = {},
): string =>
  digest({
    version: 1,
    route_id,
    provider,
    model,
    prompt_sha256: options.prompt === undefined ? null : digest(options.prompt),
    prompt_chars: Array.from(options.prompt ?? '').length,
    language: options.language ?? null,
    timestamp_granularities: options.timestamp_granularities ?? [],
  })
