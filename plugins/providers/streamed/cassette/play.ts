/** Answers from a cassette: no socket is opened. */
import { Problem, visibleLine, type HealthCheck, type Json, type Warning } from '../../../../core/plugin.js'
import type { Listener, Sent, Transport } from '../transport/transport.js'
import { cassetteErrors } from './errors.js'
import { loadCassette } from './load.js'
import { differenceOf, type Cassette, type Difference, type Recorded } from './format.js'
import { cameBack, foundOf, type Ask } from './asked-once.js'
import { createPlayedIds } from './ids.js'
import { maskedJson, maskedPath, type Redact } from './mask.js'

const compare = (one: Recorded, { at, asked }: Found, isPart: boolean): Difference | undefined =>
  one.path === at
    ? differenceOf(one.request, asked, { path: 'request', isPart })
    : { path: 'path', recorded: one.path, now: at }

/** The next exchange with this question, in whatever order several runs ask. */
const take = ({ exchanges, isPart }: Cassette, used: Set<Recorded>, found: Found): Recorded => {
  const left = exchanges.filter((one) => !used.has(one))
  const fits = left.find((one) => compare(one, found, isPart) === undefined)
  const next = fits ?? left.find(({ path }) => path === found.at) ?? left[0]
  if (next === undefined) throw cassetteErrors.cassette_over({ details: { count: exchanges.length } })
  const { line } = next
  const difference = fits === undefined ? compare(next, found, isPart) : undefined
  if (difference !== undefined) throw cassetteErrors.cassette_differs({ details: { line, ...difference } })
  used.add(next)
  if (next.end === 'withheld') throw cassetteErrors.cassette_withheld({ details: { line } })
  return next
}
/** What is asked, and where, without secrets. */
interface Found {
  readonly at: string
  readonly asked: Json
}

const cutOff = { code: 'UND_ERR_SOCKET' } as const

const play = ({ status, answer_headers, answer, end }: Recorded, listener: Listener, isOver: () => boolean): void => {
  listener.head(status, answer_headers)
  for (const piece of answer) if (!isOver()) listener.bytes(Buffer.from(piece))
  if (isOver()) return
  if (end === 'whole') listener.end()
  else listener.broken(cutOff)
}

/** A transport whose servers are a cassette. */
export interface Player {
  readonly transport: Transport
  /** Rejects with what is wrong with the cassette, or with what it is played to. */
  readonly ask: Ask
  /** Reads the file, so that what is wrong with it is known before anybody asks. */
  open(): Promise<void>
  readonly health: HealthCheck
}

export const createPlayer = ({ budget }: Pick<Transport, 'budget'>, file: string, redact: Redact): Player => {
  let loading: Promise<Cassette> | undefined
  let wrong: unknown
  const cassette = (): Promise<Cassette> => (loading ??= loadCassette(file))
  const open = async (): Promise<void> => {
    try {
      await cassette()
    } catch (error) {
      wrong = error
    }
  }
  const check = (): readonly Warning[] => (wrong instanceof Problem ? [unplayable(wrong)] : [])
  const used = new Set<Recorded>()
  const ids = createPlayedIds()
  const next = async (found: Found): Promise<Recorded> => {
    const recorded = take(await cassette(), used, found)
    ids.learn(recorded.request, found.asked)
    return recorded.encoding === undefined ? { ...recorded, answer: [...ids.tell(recorded.answer)] } : recorded
  }
  return {
    transport: playedTransport(budget, next, redact),
    ask: async (request) => cameBack(await next(await foundOf(request, redact))),
    open,
    health: { id: 'cassette', check },
  }
}

const unplayable = ({ message }: Problem): Warning => ({
  severity: 'warning',
  code: 'cassette_not_played',
  message: visibleLine(message),
  action: 'Start with --play-cassette and a file that a daemon recorded; every call of a model fails until then.',
})

type Next = (found: Found) => Promise<Recorded>

const playedTransport = (budget: Transport['budget'], next: Next, redact: Redact): Transport => ({
  budget,
  isPlayed: true,
  post(question, listener): Sent {
    let isOver = false
    const answer = async (): Promise<void> => {
      try {
        const asked: Json = JSON.parse(question.body.toString('utf8'))
        const found = { at: maskedPath(question.path, redact), asked: maskedJson(asked, redact) }
        const exchange = await next(found)
        if (!isOver) play(exchange, listener, () => isOver)
      } catch (error) {
        if (!isOver) listener.broken(error)
      }
    }
    void answer()
    return { stop: () => void (isOver = true) }
  },
  close: () => Promise.resolve(),
})
