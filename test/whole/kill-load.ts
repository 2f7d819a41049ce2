/**
 * A mixed load on a daemon that may die at any moment. Every answer is one that the contract allows; every
 * acknowledgement goes into the ledger.
 */
import { fault } from '../../core/base/assert.js'
import type { Random } from '../faults/random.js'
import type { Got, Sender } from './client.js'
import type { Intent, Ledger } from './kill-ledger.js'

export interface Load {
  readonly ledger: Ledger
  readonly random: Random
  /** Every approved command appends its token here. */
  readonly effects: string
  readonly sender: Sender
  /** True once the daemon has been killed: then a request may fail. */
  readonly dead: () => boolean
  /** Sessions of this life: the lanes submit to these and to a few older ones. */
  readonly sessions: readonly string[]
  /** Most runs to submit. */
  budget: number
}

/** The answer; undefined if the daemon died. A 5xx, or anything that nobody allowed, is a fault. */
const ask = async (
  { sender, dead }: Load,
  allowed: readonly (number | string)[],
  { method, path, body, key }: { method: string; path: string; body?: object; key?: string | undefined },
): Promise<Got | undefined> => {
  let got: Got
  try {
    got = await sender.send({
      method,
      path,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
    })
  } catch (error) {
    if (dead()) return undefined
    throw error
  }
  if (allowed.includes(got.status) || allowed.includes(got.body?.code)) return got
  throw fault(`${method} ${path} ${JSON.stringify(body)}: ${got.status} ${got.text}`)
}

const command = ({ effects }: Load, mark: string): string =>
  `/tool bash ${JSON.stringify({ command: `echo ${mark} >> ${effects}` })}`

const contents: readonly ((load: Load, token: string) => string)[] = [
  (_, token) => `hello ${token}`,
  (load, token) => `${command(load, `${token}-0`)}\n---\n/say did ${token}`,
  (load, token) =>
    `${command(load, `${token}-0`)}\n${command(load, `${token}-1`)}\n---\n/emit half ` +
    `${token}\n---\n${command(load, `${token}-2`)}\n---\n/say did ${token}`,
  (_, token) => `/ask Which for ${token}? | A | B\n---\n/say chose ${token}`,
  (_, token) => `/sleep 80\n---\n/say slept ${token}`,
  (_, token) => `/say one ${token}\n---\n/emit two ${token}\n---\n/say three ${token}`,
]

const submit = async (load: Load): Promise<void> => {
  const { ledger, random, sessions } = load
  const token = `t${ledger.intents.size}`
  const older = [...ledger.sessions]
  const session_id =
    random.chance(0.8) || older.length === 0
      ? sessions[random.below(sessions.length)]
      : older[random.below(older.length)]
  if (session_id === undefined) return
  const content = contents[random.below(contents.length)]?.(load, token) ?? ''
  await send(load, ledger.intend({ token, session_id, content, key: random.chance(0.4) ? `key-${token}` : undefined }))
}

const send = async (load: Load, intent: Intent): Promise<void> => {
  const { token, session_id, content, key } = intent
  const asked = load.ledger.now()
  const got = await ask(load, [202], {
    method: 'POST',
    path: `/v1/sessions/${session_id}/runs`,
    body: { content, metadata: { token } },
    key,
  })
  if (got === undefined) return
  intent.acknowledged = true
  load.ledger.observe(got.body, asked)
}

/**
 * What was asked for with a key is asked for again, as after an answer that got lost; another payload with that key is
 * refused.
 */
const repeat = async (load: Load): Promise<void> => {
  const { ledger, random } = load
  const keyed = [...ledger.intents.values()]
    .slice(-200)
    .filter(({ key, session_id }) => key !== undefined && ledger.sessions.has(session_id))
  const intent = keyed[random.below(keyed.length)]
  if (intent === undefined) return
  if (!intent.acknowledged || random.chance(0.7)) return send(load, intent)
  await ask(load, ['idempotency_conflict'], {
    method: 'POST',
    path: `/v1/sessions/${intent.session_id}/runs`,
    body: { content: 'something else', metadata: { token: 'another' } },
    key: intent.key,
  })
}

/** Waits for the whole run. */
const converse = async (load: Load): Promise<void> => {
  const { ledger, random, sessions } = load
  const token = `t${ledger.intents.size}`
  const session_id = sessions[random.below(sessions.length)] ?? ''
  const intent = ledger.intend({ token, session_id, content: `quick ${token}`, key: undefined })
  const got = await ask(load, [200, 'session_busy'], {
    method: 'POST',
    path: `/v1/sessions/${session_id}/input`,
    body: { content: intent.content, metadata: { token } },
  })
  if (got?.status === 200) intent.acknowledged = true
}

const openRuns = async (load: Load): Promise<any[]> => {
  const asked = load.ledger.now()
  const got = await ask(load, [200], { method: 'GET', path: '/v1/runs?priority_active=true&limit=30' })
  const views: any[] = got?.body ?? []
  for (const view of views) load.ledger.observe(view, asked)
  return views.filter(({ finished_at_ms }) => finished_at_ms === undefined)
}

const approve = async (load: Load, run: any, all: boolean): Promise<void> => {
  const { ledger, random } = load
  const ids: string[] = all || random.chance(0.7) ? run.pending_approval_ids : run.pending_approval_ids.slice(0, 1)
  const resolutions = ids.map((request_id) => ({
    request_id,
    behavior: random.chance(0.85) ? ('allow' as const) : ('deny' as const),
  }))
  const decisions = resolutions.map(({ request_id, behavior }) => ledger.decide(request_id, behavior))
  const path = random.chance(0.5) ? `/v1/runs/${run.run_id}/approvals` : `/v1/sessions/${run.session_id}/approval-runs`
  const got = await ask(load, [202, 'approval_state_conflict', 'approval_request_not_pending'], {
    method: 'POST',
    path,
    body: { resolutions },
  })
  if (got?.status === 202) for (const decision of decisions) decision.acknowledged = true
}

const answer = async (load: Load, run: any): Promise<void> => {
  const [request] = run.pending_questions
  const answers = request.questions.map(({ id, options }: any) => ({
    question_id: id,
    selected_option_ids: [options[0].id],
  }))
  await ask(load, [202, 'question_state_conflict', 'question_request_mismatch'], {
    method: 'POST',
    path: `/v1/runs/${run.run_id}/questions`,
    body: { resolution: { request_id: request.id, answers } },
  })
}

/** Decides on what waits: one run, or all of them. */
export const resolveWaiting = async (load: Load, all = false): Promise<number> => {
  const open = await openRuns(load)
  const waiting = open.filter(({ status }) => status.startsWith('waiting'))
  for (const run of all ? waiting : waiting.slice(load.random.below(waiting.length)).slice(0, 1)) {
    if (run.status === 'waiting_for_approval') await approve(load, run, all)
    else await answer(load, run)
  }
  return open.length
}

const cancel = async (load: Load): Promise<void> => {
  const open = await openRuns(load)
  const run = open[load.random.below(open.length)]
  if (run === undefined) return
  if (load.random.chance(0.3))
    return void (await ask(load, [200], { method: 'POST', path: `/v1/sessions/${run.session_id}/interrupt` }))
  const asked = load.ledger.now()
  const got = await ask(load, [200, 'run_state_conflict'], { method: 'POST', path: `/v1/runs/${run.run_id}/cancel` })
  if (got?.status !== 200) return
  if (got.body.status !== 'cancelled')
    throw fault(`a cancel of ${run.run_id} was acknowledged and it is ${got.body.status}`)
  load.ledger.observe(got.body, asked)
}

const open = async (load: Load): Promise<void> => {
  for (const session_id of load.sessions) {
    const got = await ask(load, [201], { method: 'POST', path: '/v1/sessions', body: { session_id } })
    if (got !== undefined) load.ledger.sessions.add(session_id)
  }
}

const lane = async (load: Load): Promise<void> => {
  while (!load.dead()) {
    const at = load.random.below(20)
    if (load.budget <= 0 || at < 8) await resolveWaiting(load)
    else if (at < 15) {
      load.budget -= 1
      await submit(load)
    } else if (at < 17) await repeat(load)
    else if (at < 18) {
      load.budget -= 1
      await converse(load)
    } else await cancel(load)
  }
}

/** Works until the daemon is dead. */
export const work = async (load: Load): Promise<void> => {
  await open(load)
  if (load.dead()) return
  await Promise.all([lane(load), lane(load), lane(load), lane(load)])
}
