/** What must be true of a daemon after any number of kills. */
import { existsSync, readFileSync } from 'node:fs'
import { fault } from '../../core/base/assert.js'
import type { Got, Sender } from './client.js'
import { type Ledger, settled } from './kill-ledger.js'

export interface Check {
  readonly ledger: Ledger
  readonly sender: Sender
  readonly effects: string
}

const read = async ({ sender }: Check, path: string): Promise<any> => {
  const got: Got = await sender.send({ method: 'GET', path })
  if (got.status !== 200) throw fault(`GET ${path}: ${got.status} ${got.text}`)
  return got.body
}

/** The whole list: its plain form holds the newest thousand. */
const readAll = async (check: Check, path: string): Promise<any[]> => {
  const items: any[] = []
  let next = `${path}?page=true&limit=500`
  for (;;) {
    const { items: found, pagination } = await read(check, next)
    items.push(...found)
    if (!pagination.has_more) return items
    next = `${path}?limit=500&cursor=${encodeURIComponent(pagination.next_cursor)}`
  }
}

/** Every acknowledged run is in the list with its content, and the list holds nothing that nobody asked for. */
export const checkRuns = async (check: Check): Promise<any[]> => {
  const { ledger } = check
  const asked = ledger.now()
  const views = await readAll(check, '/v1/runs')
  for (const view of views) ledger.observe(view, asked)
  const listed = new Set(views.map(({ run_id }: any) => run_id))
  if (listed.size !== views.length) throw fault('a run is in the list twice')
  for (const { token, acknowledged } of ledger.intents.values()) {
    const run_id = ledger.runs.get(token)
    if (acknowledged && (run_id === undefined || !listed.has(run_id)))
      throw fault(`${token} (${run_id}) was acknowledged and is in no list`)
  }
  for (const run_id of ledger.tokens.keys())
    if (!listed.has(run_id)) throw fault(`${run_id} was seen and is in no list`)
  const sessions = new Set((await read(check, '/v1/sessions')).map(({ session_id }: any) => session_id))
  for (const session_id of ledger.sessions)
    if (!sessions.has(session_id)) throw fault(`the session ${session_id} was acknowledged and is not there`)
  return views
}

const letters: Record<string, string> = {
  accepted: 'a',
  queued: 'q',
  started: 's',
  output: 'o',
  waiting_for_approval: 'w',
  approval_resolved: 'r',
  waiting_for_user_question: 'v',
  user_question_resolved: 'u',
  completed: 'C',
  failed: 'F',
  interrupted: 'I',
  cancelled: 'X',
}
const ends: Record<string, string> = { completed: 'C', failed: 'F', interrupted: 'I', cancelled: 'X' }
/** A life as the machine allows it: what waits is resolved or ends, and nothing follows the end. */
const life = /^aq?(?:s(?:o|wr+|vu+)*(?:wr*|vu*)?)?([CFIX]?)$/u

interface Requested {
  readonly request_id: string
  readonly tool_call_id: string
  readonly mark: string
}

interface Decided {
  readonly behavior: string
  readonly decided_by: string
}

/** The events of one run; returns the commands that it asked for and what was decided about each. */
const checkEvents = (view: any, events: any[]): { asked: Requested[]; decided: Map<string, Decided> } => {
  const word = events.map(({ event }) => letters[event.type] ?? '?').join('')
  const found = life.exec(word)
  if (found === null) throw fault(`${view.run_id} is ${view.status} and its events are ${word}`)
  if ((found[1] ?? '') !== (ends[view.status] ?? ''))
    throw fault(`${view.run_id} is ${view.status} and its events end with ${word}`)
  if (view.status === 'waiting_for_approval' && !/w[r]*$/u.test(word))
    throw fault(`${view.run_id} waits for an approval and its events are ${word}`)
  for (const [at, { timestamp_ms, run_id }] of events.entries()) {
    if (run_id !== view.run_id || timestamp_ms < (events[at - 1]?.timestamp_ms ?? 0))
      throw fault(`an event of ${view.run_id} is out of order`)
  }
  const asked = events.flatMap(({ event }) =>
    event.type !== 'waiting_for_approval'
      ? []
      : event.requests.map(({ id, tool_call_id, input }: any) => ({
          request_id: id,
          tool_call_id,
          mark: /echo (\S+) >>/u.exec(input.command)?.[1] ?? '',
        })),
  )
  const resolutions = events.flatMap(({ event }) => (event.type === 'approval_resolved' ? event.resolutions : []))
  const decided = new Map<string, Decided>(resolutions.map((made: any) => [made.request_id, made]))
  if (decided.size !== resolutions.length) throw fault(`a request of ${view.run_id} was decided on twice`)
  return { asked, decided }
}

/** A decision that was acknowledged is the one that counts; one that nobody made never does. */
const checkDecision = ({ ledger }: Check, { request_id }: Requested, behavior: string | undefined): void => {
  const made = ledger.decisions.get(request_id) ?? []
  const certain = made.filter(({ acknowledged }) => acknowledged)
  if (certain.length > 1) throw fault(`${request_id} was decided on twice`)
  if (certain[0] !== undefined && certain[0].behavior !== behavior)
    throw fault(`${request_id}: ${certain[0].behavior} was acknowledged and it is ${behavior}`)
  if (behavior !== undefined && !made.some((one) => one.behavior === behavior))
    throw fault(`${request_id}: nobody said ${behavior}`)
}

/** How often each mark was written. */
const countEffects = (effects: string): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const mark of existsSync(effects) ? readFileSync(effects, 'utf8').split('\n') : [])
    if (mark !== '') counts.set(mark, (counts.get(mark) ?? 0) + 1)
  return counts
}

/** Outcomes by run and call: `done`, `failed`, `refused`, `unknown`. */
const outcomesOf = async (check: Check, session_id: string): Promise<Map<string, string>> => {
  const { session } = await read(check, `/v1/sessions/${session_id}/events?limit=10000`)
  return new Map(
    session.journal
      .filter(({ type }: any) => type === 'outcome')
      .map(({ run_id, entry }: any) => [`${run_id} ${entry.tool_call_id}`, entry.state]),
  )
}

export interface Tally {
  runs: number
  effects: number
  unknown: number
}

interface Effect {
  readonly mark: string
  readonly behavior: string | undefined
  readonly outcome: string | undefined
  readonly count: number
}

const checkEffect = (view: any, { mark, behavior, outcome, count }: Effect, tally: Tally): void => {
  if (count > 1) throw fault(`${mark} was done ${count} times`)
  if (behavior !== 'allow' && count > 0) throw fault(`${mark} was done and the decision is ${behavior}`)
  if (outcome === 'done' && count !== 1) throw fault(`${mark} is called done and was done ${count} times`)
  if (behavior === 'allow' && view.status === 'completed' && outcome !== 'unknown' && count !== 1)
    throw fault(`${mark} was approved, its outcome is ${outcome}, and it was done ${count} times`)
  if (settled.includes(view.status) && view.status === 'completed' && outcome === undefined)
    throw fault(`${mark} has no outcome and ${view.run_id} is completed`)
  tally.effects += count
  if (outcome === 'unknown') tally.unknown += 1
}

/** How the ledger says that each call ended. */
const actionsOf = async (check: Check, run_id: string): Promise<Map<string, string>> =>
  new Map(
    (await read(check, `/v1/runs/${run_id}/external-actions`)).map(({ tool_call_id, outcome }: any) => [
      tool_call_id,
      outcome,
    ]),
  )

/**
 * The ledger agrees with the world and with the journal: what was done is in it, and what it calls done was done once.
 */
const checkAction = (
  action: string | undefined,
  { mark, count, outcome }: { mark: string; count: number; outcome: string | undefined },
): void => {
  if (count > 0 && action === undefined) throw fault(`${mark} was done and is not in the ledger`)
  if (action === 'done' && count !== 1) throw fault(`${mark} is done in the ledger and was done ${count} times`)
  if (
    outcome !== undefined &&
    action !== undefined &&
    action !== 'unknown' &&
    action !== (outcome === 'refused' ? 'failed' : outcome)
  )
    throw fault(`${mark} is ${action} in the ledger and its outcome is ${outcome}`)
  if (outcome === 'unknown' && action !== 'unknown')
    throw fault(`the outcome of ${mark} is unknown and the ledger says ${action}`)
}

/** Looks into every run: events, decisions, effects. */
export const checkAll = async (check: Check): Promise<Tally> => {
  const tally: Tally = { runs: 0, effects: 0, unknown: 0 }
  const views = await checkRuns(check)
  const counts = countEffects(check.effects)
  const outcomes = new Map<string, Map<string, string>>()
  for (const view of views) {
    tally.runs += 1
    const { asked, decided } = checkEvents(view, await read(check, `/v1/runs/${view.run_id}/events`))
    if (asked.length === 0) continue
    const known = outcomes.get(view.session_id) ?? (await outcomesOf(check, view.session_id))
    outcomes.set(view.session_id, known)
    const acted = await actionsOf(check, view.run_id)
    for (const request of asked) {
      const decision = decided.get(request.request_id)
      const behavior = decision?.behavior
      // What a run still asked for when it was ended is denied by the daemon, not by a person.
      checkDecision(check, request, decision?.decided_by !== 'operator' && behavior === 'deny' ? undefined : behavior)
      checkAction(acted.get(request.tool_call_id), {
        mark: request.mark,
        count: counts.get(request.mark) ?? 0,
        outcome: known.get(`${view.run_id} ${request.tool_call_id}`),
      })
      checkEffect(
        view,
        {
          mark: request.mark,
          behavior,
          outcome: known.get(`${view.run_id} ${request.tool_call_id}`),
          count: counts.get(request.mark) ?? 0,
        },
        tally,
      )
    }
  }
  const marks = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (marks !== tally.effects) throw fault(`${marks} effects, and ${tally.effects} that a run asked for`)
  return tally
}
