/** When a server wants to be asked again. */
import { retryAfter } from '../../../../core/plugin.js'

interface Refused {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

const milliseconds = /^\d{1,9}(?:\.\d{1,6})?$/u

/** Google's servers say it in the body, of limits of a minute and of a day: of a day it mends nothing. */
export const waitIn = ({ body }: Pick<Refused, 'body'>): number | undefined => {
  const seconds = /PerDay/u.test(body) ? undefined : /"retryDelay":\s*"(\d{1,6}(?:\.\d{1,9})?)s"/u.exec(body)?.[1]
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000)
}

/** Milliseconds from now: `retry-after-ms`, `retry-after`, else the body. */
export const askedWait = (refused: Refused, now: number): number | undefined => {
  const { headers } = refused
  const ms = String(headers['retry-after-ms'] ?? '').trim()
  if (milliseconds.test(ms)) return Math.round(Number(ms))
  const after = headers['retry-after']
  return after === undefined ? waitIn(refused) : retryAfter(String(after), now)
}
