/** What falls and what stays, in words: for the log, the status and the command line. */
import { count } from '../base/text/command-text.js'
import type { Holder } from '../state/contract.js'
import { showDay, showSize } from './amounts.js'
import type { Staying } from './plan.js'
import type { Cause } from './queue.js'

const causes: Readonly<Record<Cause, string>> = {
  age: 'older than max_age',
  count: 'more than max_count',
  bytes: 'to make room for max_bytes',
}

interface Part {
  readonly kind: string
  readonly cause: Cause
  /** Unix ms; 0: not known. */
  readonly from: number
  readonly to: number
  readonly records: number
  readonly bytes: number
}

const sayPart = ({ kind, records, bytes, from, to }: Omit<Part, 'cause'>, cause: string): string => {
  const span = from === 0 ? `up to ${showDay(to)}` : `from ${showDay(from)} to ${showDay(to)}`
  return `${kind}: ${count(records, 'record')} ${span}, ${showSize(bytes)}, ${cause}`
}

const sayBehind = (bytes: number): string =>
  bytes === 0 ? '' : `; ${showSize(bytes)} more go behind them by themselves`

/** What follows, and stays because it may belong to a record that is kept. */
export interface Held {
  readonly by: Holder
  readonly bytes: number
}
export const sayHeld = ({ by: { collection, id, since, isOpen }, bytes }: Held): string => {
  const [state, end] = isOpen === true ? ['can still change', 'it cannot'] : ['is not due yet', 'it falls itself']
  return (
    `${showSize(bytes)} stay because ${collection} ${id} ${state} and may have a part in what was written ` +
    `since ${showDay(since)}: they may fall when ${end}`
  )
}

/** `runs: 120 records from 2026-01-01 to 2026-02-01, 3.4 MiB, older than max_age`. */
export const sayFalling = ({
  held,
  beside = 0,
  ...part
}: Part & { readonly held?: Held | undefined; readonly beside?: number | undefined }): string =>
  `${sayPart(part, causes[part.cause])}${sayBehind(beside)}${held === undefined ? '' : `; ${sayHeld(held)}`}`

/** What of a kind stays behind what falls of it. */
export const sayBehindFall = (kind: string, held: Held): string => `${kind}: ${sayHeld(held)}`

/** A daemon removes it. */
export const sayLeaving = (bytes: number): string =>
  `${showSize(bytes)} that go behind what fell are still there: they go when a daemon starts on this root.`

/** Of what nobody leads nobody says how old it is. */
export const sayUnled = (one: { kind: string; bytes: number; undeclared: string | undefined }): string =>
  `${one.kind}: ${showSize(one.bytes)} stay: nobody declares ${one.undeclared ?? 'what leads it'} now: ` +
  'a plugin is missing.'

export const sayOver = (bytes: number): string =>
  `The root holds ${showSize(bytes)} more than max_bytes, and nothing else of it may fall now.`

/** Everything that could ever fall is too little: it stays. */
export const sayInVain = (over: number, beside: number): string =>
  `The root holds ${showSize(over)} more than max_bytes. What cannot fall, such as stored files, is ` +
  `${showSize(beside)}, more than max_bytes by itself: so nothing falls to make room.`

export const sayStaying = ({ held, release, since, bytes, beside = 0, isPart, ...part }: Staying): string => {
  const cause = isPart === true ? `some ${causes[part.cause]}` : causes[part.cause]
  const what = `${sayPart({ ...part, bytes: bytes - beside, from: since }, cause)}${sayBehind(beside)}`
  return `${what}, stay: ${held}${release === undefined ? '' : ` ${release}`}`
}
