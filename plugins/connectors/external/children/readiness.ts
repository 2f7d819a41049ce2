/** Whether a sidecar is ready: its manifest and its health, of one instance (external-53). */
import type { Clock } from '../../../../core/plugin.js'

/** What a sidecar answered, or why there is nothing that counts. */
export type Seen<T> =
  | { readonly type: 'seen'; readonly value: T }
  /** `final`: it speaks another version, which no waiting changes. */
  | { readonly type: 'unseen'; readonly cause: string; readonly final?: boolean }

export interface SeenHealth {
  readonly instance_id: string
  readonly status: 'starting' | 'ready' | 'degraded' | 'draining'
  /** What it says of it; bounded, visible, redacted. */
  readonly detail?: string | undefined
}

/** Asks one sidecar, each time anew. Never rejects; ends soon after the signal aborts. */
export interface Looks {
  manifest(signal: AbortSignal): Promise<Seen<{ readonly instance_id: string }>>
  health(signal: AbortSignal): Promise<Seen<SeenHealth>>
}

export type Look =
  | { readonly type: 'ready'; readonly instance_id: string; readonly degraded?: string }
  /** It answers, and says that it does not work now. */
  | { readonly type: 'unready'; readonly cause: string }
  /** It does not answer, or not as itself. */
  | { readonly type: 'silent'; readonly cause: string; readonly final: boolean }

const silent = (what: string, { cause, final = false }: { cause: string; final?: boolean }): Look => ({
  type: 'silent',
  cause: `${what} ${cause}`,
  final,
})

const told = (status: string, detail: string | undefined): string =>
  detail === undefined || detail === '' ? status : `${status}: ${detail}`

/** One look at a sidecar. */
export const lookAt = async (looks: Looks, signal: AbortSignal): Promise<Look> => {
  const manifest = await looks.manifest(signal)
  if (manifest.type === 'unseen') return silent('its manifest', manifest)
  const health = await looks.health(signal)
  if (health.type === 'unseen') return silent('its health', health)
  const { instance_id, status, detail } = health.value
  if (instance_id !== manifest.value.instance_id)
    return silent('its health', { cause: 'is that of another instance than its manifest' })
  if (status === 'ready') return { type: 'ready', instance_id }
  if (status === 'degraded') return { type: 'ready', instance_id, degraded: told(status, detail) }
  return { type: 'unready', cause: `it says that it is ${told(status, detail)}` }
}

/** Between two looks, and for all of them; milliseconds. */
const [pollMs, patienceMs] = [250, 20_000]

/** Looks until it is ready. What is not in time is `silent`. */
export const untilReady = async (clock: Clock, looks: Looks, signal: AbortSignal): Promise<Look> => {
  const late = new AbortController()
  const cancel = clock.after(patienceMs, () => late.abort('late'))
  const either = AbortSignal.any([signal, late.signal])
  let cause = 'it has not answered'
  try {
    while (!either.aborted) {
      const look = await lookAt(looks, either)
      if (look.type === 'ready' || (look.type === 'silent' && look.final)) return look
      if (!either.aborted) ({ cause } = look)
      await clock.sleep(pollMs, either)
    }
    return silent(`it was not ready within ${patienceMs / 1000} s:`, { cause })
  } finally {
    cancel()
  }
}
