/**
 * Calls to platforms: one at a time for an address, a few for a connector, each with an end. What is not made is lost,
 * and whoever wanted it asks again or does without: replies have a way of their own, and nothing here may take it.
 */
import { within, type Clock, type Log } from '../../../core/plugin.js'
import type { Connectors, ConnectorTrouble } from '../registry/contract.js'
import type { LiveOutcome } from './contract.js'
import { chatOf, placeKey, type Place } from './places.js'

/** Calls under way, of a connector and of all. */
const [mostOfConnector, mostOfAll] = [4, 32]
/** The longest call; behind its abort it has a moment to end. Milliseconds. */
const [callMs, endMs] = [10_000, 2000]
/** Failures in a row after which a connector is left alone, and for how long; the longest that it can ask for. */
const [mostFailures, pauseMs, mostPauseMs] = [3, 30_000, 3_600_000]

export interface CallParts {
  readonly clock: Clock
  readonly log: Log
  readonly connectors: () => Connectors | undefined
}

/** How a connector does. Times of the monotonic clock. */
interface Line {
  running: number
  failures: number
  heldUntil: number
  hasTrouble: boolean
}

/** Every outcome is one of these. */
type Ended = { readonly type: 'done' } | Exclude<LiveOutcome, { readonly type: 'done' }>

export interface Calls {
  /** Undefined if it was not made: somebody else calls there, or the connector is left alone. Never rejects. */
  make<T extends Ended>(
    place: Place,
    call: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | Exclude<LiveOutcome, { readonly type: 'done' }> | undefined>
  /** Cuts off what is under way, and makes none any more. */
  close(): Promise<void>
}

interface Life {
  readonly parts: CallParts
  readonly lines: Map<string, Line>
  readonly busy: Set<string>
  readonly running: Set<Promise<unknown>>
  /** What cuts off each call under way. */
  readonly cuts: Set<AbortController>
  isClosed: boolean
}

export const createCalls = (parts: CallParts): Calls => {
  const life: Life = {
    parts,
    lines: new Map(),
    busy: new Set(),
    running: new Set(),
    cuts: new Set(),
    isClosed: false,
  }
  return {
    async make(place, call) {
      const chat = chatOf(place)
      if (chat === undefined) return { type: 'refused' }
      const { line, name } = lineOf(life, `${place.kind.plugin} ${chat.connector}`)
      const key = placeKey(place)
      if (!isFree(life, line, key)) return undefined
      life.busy.add(key)
      line.running += 1
      const work = timed(life, call)
      life.running.add(work)
      const outcome = await work
      life.running.delete(work)
      line.running -= 1
      life.busy.delete(key)
      note(life, line, { place, connector: chat.connector, outcome })
      if (line.running === 0 && line.failures === 0 && !line.hasTrouble) life.lines.delete(name)
      return outcome
    },
    async close() {
      life.isClosed = true
      for (const cut of life.cuts) cut.abort('closed')
      await Promise.all(life.running)
    },
  }
}

const lineOf = ({ lines }: Life, name: string): { readonly line: Line; readonly name: string } => {
  const line = lines.get(name) ?? { running: 0, failures: 0, heldUntil: 0, hasTrouble: false }
  lines.set(name, line)
  return { line, name }
}

const isFree = ({ parts: { clock }, busy, running, isClosed }: Life, line: Line, key: string): boolean =>
  !isClosed &&
  !busy.has(key) &&
  running.size < mostOfAll &&
  line.running < mostOfConnector &&
  line.heldUntil <= clock.elapsed()

/** A call that throws is one that did not go well: whose code that is hears of it. */
const timed = async <T extends Ended>(
  { parts: { clock, log }, cuts }: Life,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T | { readonly type: 'later' }> => {
  const cut = new AbortController()
  cuts.add(cut)
  let outcome: T | { readonly type: 'later' } = { type: 'later' }
  const work = call(cut.signal)
    .then((ended) => void (outcome = ended))
    .catch((error: unknown) => log.error('a live reply failed', { error }))
  if (!(await within(clock, callMs, work))) {
    cut.abort('ended')
    await within(clock, endMs, work)
  }
  cuts.delete(cut)
  return outcome
}

const slow: ConnectorTrouble = {
  state: 'degraded',
  cause: 'The platform did not take live replies several times in a row: typing signs, drafts and buttons are late.',
  action: 'Nothing has to be done for it: it is tried again, and final replies go on. Decide with the command line.',
}

interface Noted {
  readonly place: Place
  readonly connector: string
  readonly outcome: Ended
}

/** Keeps a connector from more calls where its platform does not want them. */
const note = ({ parts: { clock, connectors } }: Life, line: Line, { place, connector, outcome }: Noted): void => {
  const { plugin } = place.kind
  const tell = (trouble: ConnectorTrouble): void => {
    line.hasTrouble = true
    connectors()?.trouble(plugin, connector, trouble)
  }
  if (outcome.type === 'later') {
    line.failures += 1
    const wait = outcome.retry_after_ms ?? (line.failures >= mostFailures ? pauseMs : 0)
    line.heldUntil = clock.elapsed() + Math.min(Math.max(wait, 0), mostPauseMs)
    if (line.failures >= mostFailures) tell(slow)
    return
  }
  line.failures = 0
  if (outcome.type === 'refused') {
    if (outcome.trouble !== undefined) tell(outcome.trouble)
    return
  }
  if (line.hasTrouble) connectors()?.well(plugin, connector)
  line.hasTrouble = false
}
