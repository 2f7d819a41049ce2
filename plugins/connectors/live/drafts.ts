/**
 * Answers while they are made: a message that is edited at the pace of its platform, until a delivery takes it for the
 * answer. A draft is lost before anything else is.
 */
import { digest, within, type Clock, type Ids, type Log } from '../../../core/plugin.js'
import type { Runs, SpokenCall } from '../../execution/runs/contract.js'
import type { Calls } from './calls.js'
import { cutTo, wholeSigns } from './cut.js'
import type { DraftWish, LiveChat, LiveMessage, LiveOutcome } from './contract.js'
import { chatOf, placeKey, type Place } from './places.js'
import { draftPlace, type DraftRecord, type LiveStore } from './store.js'

/** Runs whose words are kept at a time, and how much of each in UTF-16 code units; further runs have no drafts. */
const [mostSpoken, mostWords] = [200, 16_384]
/** A draft is not edited more often, whatever its kind says; failures in a row after which it is lost. */
const [shortestMs, mostFailures] = [500, 3]
/** A delivery waits so long for the call that is under way. Milliseconds. */
const takeMs = 5000

interface Draft {
  readonly place: Place
  /** What the message says. */
  shown: string
  record: DraftRecord | undefined
  /** Not before this, by the monotonic clock; undefined until there is something to say. */
  nextAt: number | undefined
  cancel: (() => void) | undefined
  flight: Promise<void> | undefined
  failures: number
  isLost: boolean
}

interface Spoken {
  readonly run_id: string
  turn: number
  attempt: number
  text: string
  /** More was said than is kept. */
  isCut: boolean
  readonly drafts: Map<string, Draft>
}

export interface DraftParts {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly calls: Calls
  readonly runs: Runs
  readonly store: LiveStore
  /** Told of a message that came when nobody wanted it any more, and what its run had said. */
  readonly left: (run_id: string, said: string) => void
}

export interface Drafts {
  /** True while anybody wants to hear what models say. */
  isListening(): boolean
  hear(call: SpokenCall, text: string): void
  /** Has these places show what a run says, and no others. */
  follow(run_id: string, places: readonly Place[]): void
  /** Shows no more of a run; what it said last. */
  leave(run_id: string): string
  take(wish: DraftWish): Promise<string | undefined>
  close(): void
}

interface Life {
  readonly parts: DraftParts
  readonly spoken: Map<string, Spoken>
}

export const createDrafts = (parts: DraftParts): Drafts => {
  const life: Life = { parts, spoken: new Map() }
  const leave = (run_id: string): string => {
    const spoken = life.spoken.get(run_id)
    for (const draft of spoken?.drafts.values() ?? []) drop(draft)
    life.spoken.delete(run_id)
    return spoken?.text ?? ''
  }
  return {
    isListening: () => life.spoken.size > 0,
    hear: (call, text) => hear(life, call, text),
    follow: (run_id, places) => (places.length === 0 ? void leave(run_id) : follow(life, run_id, places)),
    leave,
    take: (wish) =>
      take(life, wish).catch((error: unknown) => {
        parts.log.warn('a draft could not be given to its delivery', { error })
        return undefined
      }),
    close() {
      for (const run_id of life.spoken.keys()) leave(run_id)
    },
  }
}

const drop = (draft: Draft): void => {
  draft.cancel?.()
  draft.cancel = undefined
  draft.isLost = true
}

const follow = ({ parts: { store }, spoken }: Life, run_id: string, places: readonly Place[]): void => {
  const known = spoken.get(run_id)
  if (known === undefined && spoken.size >= mostSpoken) return
  const run = known ?? { run_id, turn: 0, attempt: 0, text: '', isCut: false, drafts: new Map<string, Draft>() }
  spoken.set(run_id, run)
  const keys = new Set(places.map(placeKey))
  for (const [key, draft] of run.drafts)
    if (!keys.has(key)) {
      drop(draft)
      run.drafts.delete(key)
    }
  for (const place of places) {
    const key = placeKey(place)
    if (run.drafts.has(key)) continue
    const record = freeDraft(store, { run_id, plugin: place.kind.plugin, address: place.address })
    run.drafts.set(key, newDraft(place, record))
  }
}

const newDraft = (place: Place, record: DraftRecord | undefined): Draft => ({
  place,
  shown: '',
  record,
  nextAt: undefined,
  cancel: undefined,
  flight: undefined,
  failures: 0,
  isLost: false,
})

/** The draft of a run at a place that no delivery has taken. */
const freeDraft = (
  { drafts }: LiveStore,
  of: Pick<DraftRecord, 'run_id' | 'plugin' | 'address'>,
): DraftRecord | undefined => drafts.list({ index: 'free', group: draftPlace(of), limit: 1 })[0]

/** Another answer begins anew: what a failed call had said, or what was said before a tool was called, goes. */
const hear = (life: Life, { run_id, turn, attempt }: SpokenCall, text: string): void => {
  const spoken = life.spoken.get(run_id)
  if (spoken === undefined) return
  if (spoken.turn !== turn || spoken.attempt !== attempt)
    Object.assign(spoken, { turn, attempt, text: '', isCut: false })
  const room = mostWords - spoken.text.length
  spoken.isCut ||= text.length > room
  if (room > 0) spoken.text += text.slice(0, room)
  for (const draft of spoken.drafts.values()) schedule(life, spoken, draft)
}

const paceOf = (chat: LiveChat, failures: number): number => Math.max(shortestMs, chat.edit_ms) * 2 ** failures

/** An answer that is there within one beat never becomes a draft. */
const schedule = (life: Life, spoken: Spoken, draft: Draft): void => {
  const { clock } = life.parts
  const chat = chatOf(draft.place)
  if (draft.isLost || draft.cancel !== undefined || draft.flight !== undefined || chat === undefined) return
  draft.nextAt ??= clock.elapsed() + paceOf(chat, 0)
  draft.cancel = clock.after(Math.max(0, draft.nextAt - clock.elapsed()), () => {
    draft.cancel = undefined
    const flight = show(life, spoken, draft).finally(() => {
      draft.flight = undefined
      const now = chatOf(draft.place)
      draft.nextAt = clock.elapsed() + paceOf(now ?? chat, draft.failures)
      if (now !== undefined && beginning(spoken, now.most_text) !== draft.shown) schedule(life, spoken, draft)
    })
    draft.flight = flight
    return flight
  })
}

/** The beginning of what was said, as one message can have it; what is left out is told. */
export const beginningOf = (text: string, most: number, isCut = false): string => {
  // Words come in pieces: the other half of a last sign may be on its way.
  if (text.length <= most && !isCut) return wholeSigns(text)
  return `${cutTo(text, most - 2)} …`
}
const beginning = ({ text, isCut }: Spoken, most: number): string => {
  const shown = beginningOf(text, most, isCut)
  return shown.trim() === '' ? '' : shown
}

/** A run that does not run has no draft that grows: its answer is on its way. */
const show = async ({ parts }: Life, spoken: Spoken, draft: Draft): Promise<void> => {
  const { calls, runs } = parts
  const { place } = draft
  const chat = chatOf(place)
  if (chat?.stream_replies !== true || runs.find(spoken.run_id)?.status !== 'running') return drop(draft)
  const text = beginning(spoken, chat.most_text)
  if (text === '' || text === draft.shown) return
  const message: LiveMessage = { purpose: 'draft', text, buttons: [] }
  const { record } = draft
  let message_id: string | undefined
  const made = await calls.make(place, async (signal): Promise<LiveOutcome> => {
    if (record !== undefined) return place.kind.edit(place.address, { message_id: record.message_id, message }, signal)
    const posted = await place.kind.post(place.address, message, signal)
    if (posted.type === 'done') message_id = posted.message_id
    return posted
  })
  if (made === undefined) return
  if (made.type === 'later') {
    draft.failures += 1
    return draft.failures >= mostFailures ? drop(draft) : undefined
  }
  if (made.type === 'refused') {
    if (record !== undefined) await forget(parts, record)
    return drop(draft)
  }
  draft.failures = 0
  draft.shown = text
  if (message_id === undefined) return
  await keep(parts, draft, { run_id: spoken.run_id, message_id })
  if (draft.isLost) parts.left(spoken.run_id, spoken.text)
}

interface Made {
  readonly run_id: string
  readonly message_id: string
}

/** From here on a restart knows the message. A crash between the call and this leaves it as it is (live-9). */
const keep = async ({ store, ids, log }: DraftParts, draft: Draft, { run_id, message_id }: Made): Promise<void> => {
  const { kind, address } = draft.place
  const draft_id = `draft_${digest([kind.plugin, address, message_id]).slice(0, 16)}${ids.random(4)}`
  const record: DraftRecord = { draft_id, run_id, plugin: kind.plugin, address, message_id }
  draft.record = record
  try {
    await store.state.commit((tx) => tx.insert(store.drafts, record))
  } catch (error) {
    draft.record = undefined
    drop(draft)
    log.warn('a draft could not be kept', { error })
  }
}

export const forget = ({ store, log }: Pick<DraftParts, 'store' | 'log'>, { draft_id }: DraftRecord): Promise<void> =>
  store.state
    .commit((tx) => tx.remove(store.drafts, draft_id, 'the message is gone'))
    .catch((error: unknown) => log.warn('a draft could not be forgotten', { error }))

/** What is under way ends first, so that nothing of a draft comes behind the answer. */
const take = async (life: Life, wish: DraftWish): Promise<string | undefined> => {
  const { store, clock } = life.parts
  const [mine] = store.drafts.list({ index: 'taken', group: wish.delivery_id, limit: 1 })
  if (mine !== undefined) return mine.message_id
  const { run_id, plugin, address, delivery_id } = wish
  if (run_id === undefined) return undefined
  const draft = life.spoken.get(run_id)?.drafts.get(`${plugin} ${address}`)
  const until = clock.elapsed() + takeMs
  while (draft?.flight !== undefined) {
    const isOver = await within(clock, Math.max(0, until - clock.elapsed()), draft.flight)
    // What is still under way is nobody's: when it has come, it is told to be over.
    if (!isOver) return void drop(draft)
  }
  const free = freeDraft(store, { run_id, plugin, address })
  if (free === undefined) return undefined
  if (draft !== undefined) Object.assign(draft, { record: undefined, shown: '' })
  const taken = await store.state.commit((tx) => {
    const now = store.drafts.find(free.draft_id)
    if (now === undefined || now.taken_by !== undefined) return false
    tx.put(store.drafts, { ...now, taken_by: delivery_id })
    return true
  })
  return taken ? free.message_id : undefined
}
