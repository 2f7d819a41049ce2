/** A cassette as people read it, and where another one goes another way. */
import { differenceOf, type Cassette, type Difference, type Recorded } from './format.js'
import { isTurn, modelOf, newIn, providerOf, type Told } from './asked.js'
import { saidIn, type Said } from './said.js'

/** One question to a model and its answer. */
export interface ReplayStep {
  readonly line: number
  readonly provider: string
  readonly model: string
  readonly status: number
  readonly end: Recorded['end']
  readonly asked: readonly Told[]
  readonly said: Said
  /** It is no turn of a conversation, such as a transcription. */
  readonly once?: true
}

/** The first exchange in which two recordings differ. */
export interface Parting extends Difference {
  /** Lines of the two files; absent where one of them has ended. */
  readonly line?: number
  readonly other_line?: number
}

export const stepsOf = ({ exchanges }: Cassette): ReplayStep[] =>
  exchanges.map((one, at) => ({
    line: one.line,
    provider: providerOf(one),
    model: modelOf(one),
    status: one.status,
    end: one.end,
    asked: newIn(one, exchanges.slice(0, at).findLast(isTurn)),
    said: saidIn(one),
    ...(!isTurn(one) && { once: true as const }),
  }))

/** What a server said counts, not in how many pieces it came. */
const differs = (one: Recorded, other: Recorded, isPart: boolean): Difference | undefined => {
  if (one.path !== other.path) return { path: 'path', recorded: one.path, now: other.path }
  const asked = differenceOf(one.request, other.request, { path: 'request', isPart })
  if (asked !== undefined) return asked
  if (one.status !== other.status) return { path: 'status', recorded: String(one.status), now: String(other.status) }
  if (!isTurn(one)) return differenceOf(one.answer.join(''), other.answer.join(''), { path: 'answer', isPart: false })
  const [said, now] = [saidIn(one), saidIn(other)].map((words) => JSON.parse(JSON.stringify(words)))
  return differenceOf(said, now, { path: 'answer', isPart: false })
}

/** Undefined where the other recording goes the same way to its end. */
export const partingOf = (cassette: Cassette, other: Cassette): Parting | undefined => {
  const most = Math.max(cassette.exchanges.length, other.exchanges.length)
  for (let at = 0; at < most; at += 1) {
    const [one, two] = [cassette.exchanges[at], other.exchanges[at]]
    if (one === undefined || two === undefined)
      return {
        path: 'exchange',
        recorded: one === undefined ? 'absent' : 'there',
        now: two === undefined ? 'absent' : 'there',
        ...(one !== undefined && { line: one.line }),
        ...(two !== undefined && { other_line: two.line }),
      }
    const found = differs(one, two, cassette.isPart || other.isPart)
    if (found !== undefined) return { ...found, line: one.line, other_line: two.line }
  }
  return undefined
}
