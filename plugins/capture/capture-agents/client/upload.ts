/** Takes what waits in the spool to the daemon: oldest first, some at once, again and again until it is there. */
import { backoff, chance, open, parse, sentence, string, type Lasting } from '../../../../core/plugin.js'
import { callDaemon, type Called, type CallParts } from './calls.js'
import { uploadOf } from './item.js'
import type { Spool, Waiting } from './spool.js'
import type { Telling } from './telling.js'

export interface UploadParts extends CallParts {
  readonly tools: Lasting
  readonly spool: Spool
  readonly telling: Telling
}

export interface Uploads {
  /** Goes on until the signal aborts. Rejects with what only a person can help with. */
  run(): Promise<void>
  /** Resolves when nothing waits, or when so many attempts in a row came to nothing. */
  emptied(patience: number): Promise<void>
  sent(): number
}

const Uploaded = open({ observation_id: string() })
const none: Sent = { called: { type: 'refused', reason: 'it is not as it was written' } }
/** What came of a capture, and what it is called if that is known. */
interface Sent {
  readonly called: Called
  readonly file_name?: string
}

export const createUploads = (parts: UploadParts): Uploads => {
  const { file, tools, spool, telling, signal } = parts
  const { retry_initial_delay_ms, retry_max_delay_ms, upload_batch_size } = file.spool
  const told = new Set<string>()
  let [sent, attempt] = [0, 0]

  const send = async (waiting: Waiting): Promise<Sent> => {
    const item = spool.read(waiting)
    if (item === undefined) return none
    const { file_name } = item.head
    const source = file.sources.find(({ source_id }) => source_id === item.head.source_id)
    if (source === undefined)
      return { file_name, called: { type: 'refused', reason: `the file has no source ${item.head.source_id}` } }
    const { source_id } = source
    const called = await callDaemon(parts, {
      url: `${file.daemon.base_url.replace(/\/+$/u, '')}/v1/observation-sources/${source_id}/observations`,
      token: source.remote.upload_token,
      tokenName: `token of ${source_id}`,
      body: uploadOf(item),
    })
    if (called.type === 'done') tellFirst(source_id, called)
    return { called, file_name }
  }
  const tellFirst = (source_id: string, { answer }: Extract<Called, { type: 'done' }>): void => {
    sent += 1
    const parsed = parse(Uploaded, answer)
    if (told.has(source_id) || !parsed.ok) return
    told.add(source_id)
    telling.say('first_sent', `${source_id}: the first capture is with the daemon, as ${parsed.value.observation_id}.`)
  }
  /** The longest that one of them has to wait before it is tried again; undefined if none has to. */
  const sendSome = async (some: readonly Waiting[]): Promise<number | undefined> => {
    const outcomes = await Promise.all(some.map(async (waiting) => ({ waiting, ...(await send(waiting)) })))
    let wait: number | undefined
    for (const { waiting, called, file_name = '' } of outcomes) {
      if (called.type === 'retry') wait = Math.max(wait ?? 0, called.after_ms)
      else await spool.remove(waiting)
      if (called.type === 'refused')
        telling.say(
          'refused',
          sentence(`A capture was given up: ${[file_name, called.reason].filter(Boolean).join(': ')}`),
        )
    }
    const late = outcomes.find(({ called }) => called.type === 'retry')?.called
    if (!signal.aborted) telling.state('uploads', late?.type === 'retry' ? `${late.reason}; they wait.` : undefined)
    return wait
  }
  const pauseMs = (least: number): number => {
    const ms = backoff({ base: retry_initial_delay_ms, max: retry_max_delay_ms }, attempt)
    return Math.max(least, ms / 2 + (ms / 2) * chance(tools.ids))
  }
  const round = async (): Promise<void> => {
    const some = spool.waiting().slice(0, upload_batch_size)
    if (some.length === 0) return waitForMore()
    const wait = await sendSome(some)
    attempt = wait === undefined ? 0 : attempt + 1
    if (wait !== undefined) await tools.clock.sleep(pauseMs(wait), signal)
  }
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const waitForMore = (): Promise<void> => Promise.race([spool.added(), aborted])
  return {
    async run() {
      while (!signal.aborted) await round()
    },
    async emptied(patience) {
      while (!signal.aborted && spool.waiting().length > 0 && attempt < patience) await tools.clock.sleep(50, signal)
    },
    sent: () => sent,
  }
}
