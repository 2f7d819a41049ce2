/**
 * What falls for the first time of its kind is told some days before. A policy that was written too short is noticed
 * while there is still everything. So is a clock that leapt ahead, and a daemon that slept for a month: to both much is
 * old at once. They look like a long time without a look, after which everything is told anew, whatever fell before.
 */
import type { Warning } from '../base/health.js'
import { showDay } from './amounts.js'
import type { Due } from './due.js'
import type { Policy } from './policy.js'
import type { RetentionDocument } from './retention-document.js'
import { sayFalling } from './words.js'

const day = 86_400_000
/** Somebody who looks once a week sees it. Milliseconds. */
export const noticeMs = 7 * day
/** Without a look for so long, nobody could have seen it. Milliseconds. */
const absenceMs = 7 * day

export interface Announcements {
  /** Those that may fall; the others are told from now on. Where nothing falls yet, all of them are. */
  ripe(due: readonly Due[], mayFall: boolean): Promise<readonly Due[]>
  /** Somebody has let it fall by hand: no more need be told of this kind. */
  settle(kinds: readonly string[], under: Policy): Promise<void>
  /** When the kind falls, Unix ms; undefined while nothing of it is to fall or if it fell before. */
  fallsAt(kind: string): number | undefined
  warnings(): readonly Warning[]
}

export interface AnnouncementParts {
  readonly document: RetentionDocument
  readonly policy: Policy
  readonly now: () => number
  /** Told of each announcement once. */
  readonly tell: (sentence: string) => void
}

const sentenceOf = (due: Due, at: number): string =>
  `From ${showDay(at)} on old parts of the state fall. ${sayFalling(due)}.`

/** What somebody has been told of: another policy is told again. */
const termsOf = ({ kinds, maxBytes }: Policy, kind: string): string => {
  const { maxAge, maxCount } = kinds.get(kind) ?? {}
  return JSON.stringify({ max_age: maxAge, max_count: maxCount, max_bytes: maxBytes })
}

type Told = RetentionDocument['value']['announced']

export const createAnnouncements = ({ document, policy, now, tell }: AnnouncementParts): Announcements => {
  let waiting: readonly Due[] = []
  /** One that was made under a clock that was ahead would hold for ever. */
  const holds = ([kind, { at_ms, policy: terms }]: [string, Told[string]]): boolean =>
    at_ms <= now() && terms === termsOf(policy, kind)
  const announcedAt = (at_ms: number, kinds: readonly string[], under = policy): Told =>
    Object.fromEntries(kinds.map((kind) => [kind, { at_ms, policy: termsOf(under, kind) }]))
  const fallsAt = (kind: string): number => (document.value.announced[kind]?.at_ms ?? now()) + noticeMs
  const announce = async (due: readonly Due[]): Promise<void> => {
    const { announced, looked_at_ms } = document.value
    const isLate = now() - looked_at_ms > absenceMs
    const known: Told = isLate ? {} : Object.fromEntries(Object.entries(announced).filter(holds))
    const added = due.filter(({ kind }) => known[kind] === undefined)
    const all = {
      ...known,
      ...announcedAt(
        now(),
        added.map(({ kind }) => kind),
      ),
    }
    await document.change((value) => ({ ...value, announced: all, looked_at_ms: now() }))
    for (const one of added) tell(sentenceOf(one, fallsAt(one.kind)))
  }
  /** Until the next look too, nothing is said that a clock that was ahead has told. */
  const told = (): readonly Due[] => waiting.filter(({ kind }) => fallsAt(kind) <= now() + noticeMs)
  const warningOf = (due: Due): Warning => ({
    // What is promised for a time and no longer is nobody's decision.
    severity: policy.kinds.get(due.kind)?.isPromise === true ? 'info' : 'warning',
    code: 'retention_announced',
    related_id: due.kind,
    message: sentenceOf(due, fallsAt(due.kind)),
    action: 'To keep it, change config/retention.toml and restart. To let it fall now: holdfast state retention',
  })
  return {
    async ripe(due, mayFall) {
      await announce(due)
      const isRipe = ({ kind }: Due): boolean => mayFall && fallsAt(kind) <= now()
      waiting = due.filter((one) => !isRipe(one))
      return due.filter(isRipe)
    },
    async settle(kinds, under) {
      waiting = waiting.filter(({ kind }) => !kinds.includes(kind))
      const settled = announcedAt(now() - noticeMs, kinds, under)
      const looked_at_ms = now()
      await document.change((value) => ({ ...value, announced: { ...value.announced, ...settled }, looked_at_ms }))
    },
    fallsAt: (kind) => (told().some((due) => due.kind === kind) ? fallsAt(kind) : undefined),
    warnings: () => told().map(warningOf),
  }
}
