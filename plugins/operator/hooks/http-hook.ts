/** Hooks that are asked over HTTP. */
import type { Outbound } from '../../../core/plugin.js'
import type { Answered } from './outcome/outcome.js'
import { outcomeIn } from './outcome/said-outcome.js'

export interface HttpWish {
  readonly name: string
  readonly url: string
  readonly input: string
  readonly allow_cidrs: readonly string[]
  readonly timeout_ms: number
  readonly signal: AbortSignal
  /** Takes known secrets out of a text. */
  readonly redact: (text: string) => string
}

export const postHook = async (outbound: Outbound, wish: HttpWish): Promise<Answered> => {
  const { name, url, input, allow_cidrs, timeout_ms, signal, redact } = wish
  const answer = await outbound.request({
    method: 'POST',
    url,
    body: input,
    headers: { 'content-type': 'application/json' },
    allow_cidrs,
    timeout_ms,
    signal,
  })
  if (answer.type === 'failure') return { fault: answer.code }
  if (answer.status < 200 || answer.status > 299) return { fault: `http_status_${answer.status}` }
  const said = Buffer.from(answer.body).toString('utf8').trim()
  if (said === '') return { ruling: undefined }
  return outcomeIn(name, said, redact)
}
