/**
 * What a client of a daemon that is killed again and again knows: what it asked for, what was acknowledged, what it
 * saw.
 */
import { isDeepStrictEqual } from 'node:util'
import { fault } from '../../core/base/assert.js'

/** A run that was asked for. The token is in its metadata, its text and its effects. */
export interface Intent {
  readonly token: string
  readonly session_id: string
  readonly content: string
  /** Idempotency key: then the same may be asked again. */
  readonly key: string | undefined
  acknowledged: boolean
}
export interface Decision {
  readonly behavior: 'allow' | 'deny'
  acknowledged: boolean
}

export const settled = ['completed', 'failed', 'interrupted', 'cancelled']

export const createLedger = () => {
  const intents = new Map<string, Intent>()
  /** By token: a run id is for one token, and a token for one run, for ever. */
  const runs = new Map<string, string>()
  const tokens = new Map<string, string>()
  /** Ended runs as they were first seen, and when. */
  const ended = new Map<string, { readonly view: any; readonly at: number }>()
  let time = 0
  /**
   * The moment before a request: an answer to one that was sent before another's answer came may be older than that.
   */
  const now = (): number => (time += 1)
  const decisions = new Map<string, Decision[]>()
  const sessions = new Set<string>()
  /** Ids of requests, each with its run. */
  const requests = new Map<string, string>()

  /** Every view of a run that comes in goes through here. */
  const observe = (view: any, asked: number): void => {
    const { run_id, session_id, status } = view
    const token: string = view.input_metadata?.token
    const intent = intents.get(token)
    if (intent === undefined) throw fault(`${run_id} was never asked for`)
    if (intent.session_id !== session_id || view.request.text_preview !== intent.content.slice(0, 200))
      throw fault(`${run_id} is not what was asked for: ${JSON.stringify(view)}`)
    if ((runs.get(token) ?? run_id) !== run_id) throw fault(`${token} is ${run_id} and was ${runs.get(token)}`)
    if ((tokens.get(run_id) ?? token) !== token)
      throw fault(`the id ${run_id} came back: it was ${tokens.get(run_id)} and is ${token}`)
    runs.set(token, run_id)
    tokens.set(run_id, token)
    for (const id of [...(view.pending_approval_ids ?? []), ...(view.pending_question_ids ?? [])]) {
      if ((requests.get(id) ?? run_id) !== run_id) throw fault(`the id ${id} came back`)
      requests.set(id, run_id)
    }
    const before = ended.get(run_id)
    if (before !== undefined && before.at < asked && !isDeepStrictEqual(before.view, view))
      throw fault(`${run_id} had ended and changed:\n${JSON.stringify(before.view)}\n${JSON.stringify(view)}`)
    if (settled.includes(status) && before === undefined) ended.set(run_id, { view, at: now() })
  }
  const intend = (intent: Omit<Intent, 'acknowledged'>): Intent => {
    const made: Intent = { ...intent, acknowledged: false }
    intents.set(intent.token, made)
    return made
  }
  const decide = (request_id: string, behavior: Decision['behavior']): Decision => {
    const decision: Decision = { behavior, acknowledged: false }
    decisions.set(request_id, [...(decisions.get(request_id) ?? []), decision])
    return decision
  }
  return { intents, runs, tokens, ended, decisions, sessions, now, observe, intend, decide }
}
export type Ledger = ReturnType<typeof createLedger>
