/** One text while it is made: handed to those who follow it, and framed when their tick comes. */
import type { Clock } from '../base/clock.js'
import { unsafeCast } from '../base/schema.js'
import { createPieces } from '../base/text/pieces.js'
import type { DeltaSpec, Deltas, EventKeys } from './contract.js'
import type { DeltaFollower, DeltaText } from './delta-follower.js'
import { createTemplate } from './delta-template.js'
import type { DeltaTicks } from './delta-ticks.js'
import type { EventFault } from './listeners.js'

/** Code units of a delta that are shown in one frame. */
const frameLength = 32_768

interface Framed<S, K extends string, D extends object> {
  readonly spec: DeltaSpec<S, K, D>
  readonly keys: EventKeys
  readonly subject: S
  readonly clock: Pick<Clock, 'now'>
  readonly onFault: (fault: EventFault) => void
}

/** Its frames. Several clients mostly wait for the same piece, which is made once. */
export const createDeltaText = <S, K extends string, D extends object>(framed: Framed<S, K, D>): DeltaText => {
  const { spec, keys, subject, clock, onFault } = framed
  const { name } = spec.event
  const templates = new Map<string, ReturnType<typeof createTemplate>>()
  let last = { kind: '', text: '', frame: '' }

  const templateOf = (kind: string) => {
    const known = templates.get(kind)
    if (known !== undefined) return known
    const made = createTemplate((text, timestamp_ms) => ({
      type: name,
      ...spec.data(subject, { kind: unsafeCast<K>(kind), text, timestamp_ms }),
    }))
    templates.set(kind, made)
    return made
  }
  const frameOf = (json: () => string): string => {
    try {
      return `event: ${name}\ndata: ${json()}\n\n`
    } catch (error) {
      onFault({ owner: 'events', event: name, error })
      return ''
    }
  }
  return {
    keys,
    frame(kind, text) {
      if (kind === last.kind && text === last.text) return last.frame
      const frame = frameOf(() => templateOf(kind)(text, clock.now()))
      last = { kind, text, frame }
      return frame
    },
    lossFrame: (loss) =>
      frameOf(() => JSON.stringify({ type: name, ...spec.lost(subject, { ...loss, timestamp_ms: clock.now() }) })),
  }
}

interface Parts {
  readonly text: () => DeltaText
  readonly ticks: DeltaTicks
  /** Changes whenever somebody begins or ends to follow deltas. */
  readonly membership: () => number
  readonly audience: () => readonly DeltaFollower[]
}

export const openDeltaText = <K extends string>({ text, ticks, membership, audience }: Parts): Deltas<K> => {
  let seen = -1
  let followers: readonly DeltaFollower[] = []
  /** Those of them who came amid it and were sent nothing of it yet. */
  let late: readonly DeltaFollower[] = []
  const pieces = createPieces()
  let kind: K | undefined
  let [begun, closed] = [false, false]
  const said = { count: 0, chars: 0 }

  const tally = ({ length }: string): void => {
    if (length === 0) return
    said.count += 1
    said.chars += length
  }
  const follow = (next: readonly DeltaFollower[]): void => {
    const known = new Set(followers.filter((follower) => !late.includes(follower)))
    late = said.count === 0 ? [] : next.filter((follower) => !known.has(follower))
    followers = next
    // What was held back is not the beginning of what others are shown.
    if (followers.length === 0) tally(pieces.end())
  }

  const isFollowed = (): boolean => {
    if (seen !== membership()) {
      seen = membership()
      follow(audience())
    }
    return followers.length > 0
  }
  const give = (shown: string): void => {
    if (shown === '' || kind === undefined) return
    for (const follower of late) follower.miss(text(), said)
    late = []
    for (const follower of followers) ticks.give(follower, { of: text(), kind, text: shown, first: !begun })
    begun = true
    tally(shown)
  }
  return {
    write(of, piece) {
      if (closed) return
      if (!isFollowed()) return tally(piece)
      if (of !== kind) {
        give(pieces.end())
        kind = of
      }
      for (let at = 0; at < piece.length; at += frameLength) give(pieces.add(piece.slice(at, at + frameLength)))
    },
    close() {
      if (closed) return
      closed = true
      if (!isFollowed()) return
      give(pieces.end())
      const waiting = followers.filter((follower) => follower.has(text()))
      if (waiting.length > 0) ticks.flush(waiting)
    },
  }
}
