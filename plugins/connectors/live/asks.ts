/** Messages that ask people to decide: one for each request of a run and kind, kept before it is sent. */
import { type Ids, type Log, type Secrets, tellFailure, withoutSecrets } from '../../../core/plugin.js'
import type { RunRecord, Runs } from '../../execution/runs/contract.js'
import { mostButtons, type LiveButton, type LiveChat, type LiveMessage } from './contract.js'
import { digestOf, everAsked, openAsked, openIn, outcomeOf, type Asked } from './outcomes.js'
import { chatOf, firstOfKinds, type Place } from './places.js'
import {
  howToAnswer,
  labelOf,
  notShown,
  operatorDecides,
  showApproval,
  showQuestions,
  type Shown,
  type ShownParts,
} from './request-text.js'
import type { AskRecord, LiveStore } from './store.js'

/** Requests of a run that are asked at a time: the next goes out when one is decided. */
const mostAsked = 8
/** Messages of requests that are over and are still known, for who presses once more. */
const mostClosed = 1000

export interface AskParts {
  readonly ids: Ids
  readonly log: Log
  readonly secrets: Pick<Secrets, 'redact'>
  readonly runs: Runs
  readonly store: LiveStore
  /** Has a message be sent or edited; called when it is on disk what it is to say. */
  readonly wake: (ask_id: string) => void
  /** Has a run be looked at once more, a while later. */
  readonly lookLater: (run_id: string) => void
  /** What the person is called that decides on this request here right now. */
  readonly nameOf: (ask_id: string) => string | undefined
}

const redactorOf = ({ secrets }: Pick<AskParts, 'secrets'>) => withoutSecrets(secrets.redact)

/** Puts what a run waits for to its chats. What is asked there already makes no commit. */
export const askAll = (parts: AskParts, run: Waiting, places: readonly Place[]): void => {
  const waiting = openIn(parts.runs, run).slice(0, mostAsked)
  const known = asksOf(parts.store, run.run_id)
  const wanted = firstOfKinds(places).flatMap((place) =>
    waiting.flatMap((asked) => askFor(parts, { run, place, asked, known }) ?? []),
  )
  keep(parts, run.run_id, wanted)
}

export const asksOf = ({ asks }: LiveStore, run_id: string): AskRecord[] =>
  asks.list({ index: 'run', group: run_id, limit: asks.count('run', run_id) })

/** Closes those of a run whose request is no longer open. */
export const closeOver = (parts: AskParts, run_id: string): void => {
  const { runs, store } = parts
  const run = runs.find(run_id)
  const over = asksOf(store, run_id).filter((ask) => ask.status === 'open' && openAsked(runs, run, ask) === undefined)
  const closed = over.map((ask): AskRecord => ({
    ...ask,
    status: 'closing',
    outcome: outcomeOf(runs, ask, parts.nameOf(ask.ask_id)),
  }))
  keep(parts, run_id, closed)
}

const keep = ({ store, wake, log, lookLater }: AskParts, run_id: string, asks: readonly AskRecord[]): void => {
  if (asks.length === 0) return
  store.state
    .commit((tx) => {
      for (const ask of asks) tx.put(store.asks, ask)
      letGoOldest(store, (id) => tx.remove(store.asks, id, 'it is over for long'))
    })
    .then(() => asks.forEach(({ ask_id }) => wake(ask_id)))
    .catch((error: unknown) => {
      tellFailure({ log, state: store.state }, 'what a chat shows of a request could not be kept', { run_id, error })
      lookLater(run_id)
    })
}

/** Ids sort by their time. */
const letGoOldest = ({ asks }: LiveStore, remove: (ask_id: string) => void): void => {
  const over = asks.count('status', 'closed') - mostClosed
  if (over > 0) asks.page({ index: 'status', group: 'closed', limit: Math.min(over, 50) }).forEach(remove)
}

type Waiting = Extract<RunRecord, { pending: readonly string[] }>

interface Wanted {
  readonly run: Waiting
  readonly place: Place
  readonly asked: Asked
  readonly known: AskRecord[]
}

/** Undefined if it is asked there already. Where nobody may decide, one message stands for all that a run asks. */
const askFor = (parts: AskParts, { run, place, asked, known }: Wanted): AskRecord | undefined => {
  const chat = chatOf(place)
  if (chat === undefined) return undefined
  const { plugin } = place.kind
  const here = known.filter((ask) => ask.plugin === plugin && ask.waiting === run.waiting)
  const isAsked = here.some(({ request_id }) => request_id === asked.request.id)
  const isDecidable = chat.approver_ids.length > 0
  if (isAsked || (!isDecidable && here.length > 0)) return undefined
  const ask_id = parts.ids.make('ask')
  const options = isDecidable ? optionsOf(asked, shownOf(parts, asked, chat)) : []
  const ask: AskRecord = {
    ask_id,
    plugin,
    connector: chat.connector,
    address: place.address,
    run_id: run.run_id,
    request_id: asked.request.id,
    subject: asked.subject,
    waiting: run.waiting,
    digest: digestOf(asked),
    ...(options.length > 0 && { decidable: 'yes' as const }),
    buttons: options.map((option) => ({ token: tokenOf(ask_id, parts.ids.random(8)), option })),
    status: 'open',
    created_at_ms: run.updated_at_ms,
  }
  known.push(ask)
  return ask
}

/** Names its message and its button, by chance: at most `mostToken` letters, digits and points. */
const tokenOf = (ask_id: string, chance: string): string => `${ask_id.slice('ask_'.length)}.${chance}`

const tokenForm = /^([0-9a-z]{26})\.[0-9a-f]{16}$/u

/** The message that a button with this token is of. */
export const askOfToken = ({ asks }: LiveStore, token: string): AskRecord | undefined => {
  const [, id] = tokenForm.exec(token) ?? []
  const ask = id === undefined ? undefined : asks.find(`ask_${id}`)
  return ask?.buttons.some((button) => button.token === token) === true ? ask : undefined
}

const shownOf = (
  parts: Pick<AskParts, 'secrets'>,
  asked: Asked,
  { most_text, most_request = most_text }: Pick<LiveChat, 'most_text' | 'most_request'>,
): Shown => {
  const how: ShownParts = { redact: redactorOf(parts), most: most_request }
  return asked.subject === 'approval' ? showApproval(asked.request, how) : showQuestions(asked.request, how)
}

/** What may be chosen here: nothing is allowed that was not shown whole and as it is. */
const optionsOf = (asked: Asked, { isWhole, isCut }: Shown): string[] => {
  if (asked.subject === 'approval') return isWhole ? ['allow', 'deny'] : ['deny']
  if (isCut) return []
  const [only, ...more] = asked.request.questions
  const isChoice = only !== undefined && more.length === 0 && !only.multi_select
  const ids = isChoice ? only.options.map(({ id }) => id) : []
  return [...(ids.length < mostButtons ? ids : []), 'decline']
}

const labels: Readonly<Record<string, string>> = { allow: 'Allow', deny: 'Deny', decline: 'Decline' }

const buttonsOf = (asked: Asked, ask: AskRecord): LiveButton[] => {
  const options = asked.subject === 'question' ? (asked.request.questions[0]?.options ?? []) : []
  return ask.buttons.map(({ token, option }) => {
    const at = options.findIndex(({ id }) => id === option)
    return { token, label: at < 0 ? (labels[option] ?? option) : labelOf(options[at]?.label ?? '', at) }
  })
}

/** The message as it is to be now. */
export const messageOf = (parts: Pick<AskParts, 'runs' | 'secrets'>, ask: AskRecord, chat: LiveChat): LiveMessage => {
  const asked = everAsked(parts.runs, ask)
  const isOpen = ask.status === 'open'
  const body = asked === undefined || ask.decidable !== 'yes' ? [] : [shownOf(parts, asked, chat).text]
  const below = isOpen ? hintOf(asked, ask) : (ask.outcome ?? 'This is no longer open.')
  return {
    purpose: 'request',
    text: [...body, ...(below === '' ? [] : [below])].join('\n\n'),
    buttons: isOpen && asked !== undefined ? buttonsOf(asked, ask) : [],
    ...(isOpen && ask.subject === 'question' && ask.decidable === 'yes' && { asks_for_reply: true }),
  }
}

const hintOf = (asked: Asked | undefined, ask: AskRecord): string => {
  if (ask.decidable !== 'yes') return operatorDecides
  if (asked?.subject === 'question')
    return howToAnswer(
      asked.request,
      ask.buttons.some(({ option }) => option !== 'decline'),
    )
  return ask.buttons.some(({ option }) => option === 'allow') ? '' : notShown
}
