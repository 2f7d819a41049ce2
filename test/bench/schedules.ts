/**
 * How late schedules are when very many are due at one moment: from their fire to the commit that notes their run.
 * Nobody asks for them meanwhile but one reader of a session, whose wait is measured.
 */
import { unsafeCast } from '../../core/base/schema.js'
import { quantile, readLoop, send } from './load.js'

export interface Lags {
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** p99 of another request meanwhile, ms. */ readonly blocked: number
}

interface Seen {
  readonly recent_executions: readonly { readonly fire_at_ms: number; readonly dispatched_at_ms?: number }[]
}

const perSession = 100

/** Makes the schedules, waits until the last has its run, and gives their lags. */
export const measureSchedules = async (url: string, count: number): Promise<Lags> => {
  const sessions = Array.from({ length: Math.ceil(count / perSession) }, (_, n) => `due-${n}`)
  for (const session_id of sessions) await send(`${url}/v1/sessions`, { session_id })
  const fire_at_ms = Date.now() + 2000 + count * 10
  for (let n = 0; n < count; n += sessions.length) {
    await Promise.all(
      sessions.slice(0, count - n).map((target_session_id) =>
        send(`${url}/v1/schedules`, {
          name: `due ${n}`,
          target_session_id,
          cadence: { type: 'once', fire_at_ms },
          request: { content: 'hello' },
        }),
      ),
    )
  }
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, fire_at_ms - Date.now() - 20)))
  const { p99: blocked } = await readLoop(`${url}/v1/sessions/due-0`, 1, 1000)
  const lags = await lagsOf(url, sessions, count)
  return { p50: quantile(lags, 0.5), p99: quantile(lags, 0.99), max: Math.max(...lags), blocked }
}

const lagsOf = async (url: string, sessions: readonly string[], count: number): Promise<number[]> => {
  for (;;) {
    const lags: number[] = []
    for (const session of sessions) {
      const seen = unsafeCast<Seen[]>(await (await fetch(`${url}/v1/schedules?session_id=${session}`)).json())
      lags.push(
        ...seen.flatMap(({ recent_executions: [execution] }) =>
          execution?.dispatched_at_ms === undefined ? [] : [execution.dispatched_at_ms - execution.fire_at_ms],
        ),
      )
    }
    if (lags.length === count) return lags
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}
