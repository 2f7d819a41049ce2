/**
 * Carries out what is to be done now: whom a run cannot be started for is passed over, and what happens is one commit
 * that finds everything as it was looked at.
 */
import { Problem, tellFailure, type Ids, type Log, type State, type Tx } from '../../../../core/plugin.js'
import { runErrors, type RunRecord } from '../../../execution/runs/contract.js'
import { isOpen } from './facts.js'
import type { FloorStore } from '../record/store.js'
import { prepareTurn, startTurn, type Prepared, type StartParts, type Turn } from './start.js'

export interface DecisionParts extends StartParts {
  readonly store: FloorStore
  readonly state: State
  readonly ids: Ids
  readonly log: Log
  /** Aborts when the daemon begins to stop. */
  readonly leaving: AbortSignal
  readonly clock: { now(): number }
  /** Called in the commit that grants leases for a message. */
  readonly granted: (tx: Tx, message_id: string, session_ids: readonly string[]) => void
  /** Ends a run that nobody waits for any more. */
  readonly abandon: (run_id: string) => void
}

/** Begins the run of a turn in the commit. */
export type Begin = (tx: Tx, turn: Turn) => RunRecord

/** What is to be done, by what holds now. */
export interface Plan {
  /** Who may be given the floor, in order. */
  readonly candidates: readonly string[]
  /** How many of them. */
  readonly starts: number
  /** The turn of one of them, as it would be; undefined of one that is no member. */
  turnOf(session_id: string): Turn | undefined
  /** `passed`: those for whom no run could be started. */
  apply(tx: Tx, how: { readonly chosen: readonly string[]; readonly passed: ReadonlySet<string>; begin: Begin }): void
}

/** Sessions that are tried in vain for one decision. */
const mostRefused = 64

interface Checked {
  readonly ready: Map<string, Prepared>
  readonly refused: Set<string>
}

interface Choice {
  readonly chosen: readonly string[]
  /** Somebody of whom it is not known yet whether a run can be started. */
  readonly unknown?: string
}

const choose = (parts: DecisionParts, { candidates, starts, turnOf }: Plan, { ready, refused }: Checked): Choice => {
  const chosen: string[] = []
  for (const session_id of candidates) {
    if (chosen.length >= starts || refused.size >= mostRefused) break
    if (refused.has(session_id) || !isOpen(parts, session_id)) continue
    if (!ready.has(session_id)) return { chosen, unknown: session_id }
    if (turnOf(session_id) !== undefined) chosen.push(session_id)
  }
  return { chosen }
}

/** A run of an earlier turn in the same thread that is still being ended. */
const isBusyWith = ({ runs }: DecisionParts, { session_id, origin }: Turn): boolean =>
  runs.openIn(session_id).some((run_id) => {
    const run = runs.find(run_id)
    return run?.kind === 'channel_delivery' && run.origin?.thread_root_message_id === origin.root_message_id
  })

const check = async (
  parts: DecisionParts,
  { session_id, turn }: { readonly session_id: string; readonly turn: Turn | undefined },
  { ready, refused }: Checked,
): Promise<void> => {
  if (turn === undefined || isBusyWith(parts, turn)) return void refused.add(session_id)
  try {
    ready.set(session_id, await prepareTurn(parts, turn))
  } catch (error) {
    pass(parts, session_id, { error, refused })
  }
}

/** Throws what is no refusal. */
const pass = (
  { log, state, leaving }: DecisionParts,
  session_id: string,
  { error, refused }: { readonly error: unknown; readonly refused: Set<string> },
): void => {
  // What a stop cut off says nothing about the session: the next life asks it.
  if (!(error instanceof Problem) || state.health.mode !== 'ok' || leaving.aborted) throw error
  refused.add(session_id)
  if (error.code !== runErrors.session_ended.code)
    tellFailure({ log, state }, 'a session could not be asked to speak', { session_id, error })
}

/** `look` is called until nothing had to be waited for since; undefined if there is nothing to do. */
export const decide = async (parts: DecisionParts, look: () => Plan | undefined): Promise<void> => {
  const checked: Checked = { ready: new Map(), refused: new Set() }
  for (;;) {
    const plan = look()
    if (plan === undefined) return
    const { chosen, unknown } = choose(parts, plan, checked)
    if (unknown !== undefined) {
      await check(parts, { session_id: unknown, turn: plan.turnOf(unknown) }, checked)
      continue
    }
    let starting: string | undefined
    const begin: Begin = (tx, turn) => {
      starting = turn.session_id
      const run = startTurn(parts, tx, { ...turn, prepared: checked.ready.get(turn.session_id) ?? {} })
      starting = undefined
      return run
    }
    try {
      return await parts.state.commit((tx) => plan.apply(tx, { chosen, passed: checked.refused, begin }))
    } catch (error) {
      if (starting === undefined) throw error
      pass(parts, starting, { error, refused: checked.refused })
    }
  }
}
