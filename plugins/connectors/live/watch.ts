/** Looks at runs as they change, and has everything that people see of them say what is true now. */
import type { Runs } from '../../execution/runs/contract.js'
import type { Sessions } from '../../execution/sessions/contract.js'
import { askAll, closeOver, type AskParts } from './asks.js'
import type { LiveKind } from './contract.js'
import type { DraftEnds } from './draft-ends.js'
import type { Drafts } from './drafts.js'
import { chatOf, placesOf, type Place } from './places.js'
import type { LiveStore } from './store.js'
import type { Typing } from './typing.js'

export interface WatchParts {
  readonly runs: Runs
  readonly sessions: Sessions
  readonly store: LiveStore
  readonly kinds: () => readonly LiveKind[]
  readonly typing: Typing
  readonly drafts: Drafts
  readonly ends: DraftEnds
  readonly asks: AskParts
  /** True where somebody may refuse the end of a run: then its words are shown when they are final. */
  readonly mayRefuse: () => boolean
}

export interface Watch {
  /** Anything that could be shown, or is. */
  isUsed(): boolean
  look(run_id: string): void
  /** All that have not ended. */
  lookAtAll(): void
}

export const createWatch = (parts: WatchParts): Watch => {
  const { runs, store, kinds, typing, drafts, ends } = parts
  const look = (run_id: string): void => {
    const run = runs.find(run_id)
    const isRunning = run?.status === 'running'
    const places = run === undefined || 'finished_at_ms' in run ? [] : placesOf(parts, run)
    typing.show(run_id, isRunning && run.route_wait === undefined ? places : [])
    if (isRunning) drafts.follow(run_id, parts.mayRefuse() ? [] : places.filter(isStreamed))
    closeOver(parts.asks, run_id)
    if (run !== undefined && 'pending' in run) return askAll(parts.asks, run, places)
    if (isRunning) return
    const said = drafts.leave(run_id)
    ends.look(run_id, said)
  }
  return {
    isUsed: () => kinds().some((kind) => kind.isUsed()) || store.drafts.count('all', 'all') > 0,
    look,
    lookAtAll() {
      for (const run_id of runs.open()) look(run_id)
    },
  }
}

const isStreamed = (place: Place): boolean => chatOf(place)?.stream_replies === true
