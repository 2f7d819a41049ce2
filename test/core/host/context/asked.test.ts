/** Whatever a third-party plugin answers, it is charged itself, and what is safe counts in its place. */
import test, { type ExecutionContext } from 'ava'
import { asTold, charged, deep, faultsOf, poisons, say, startAsTold } from '../../../support/as-told.js'
import type { TestDaemon } from '../../../support/daemon.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'
import { storeNotes } from '../../../support/sent-files.js'

const start = async (t: ExecutionContext): Promise<TestDaemon> => {
  const daemon = await startAsTold(t)
  await openSession(daemon)
  return daemon
}

const faultCount = ({ daemon }: TestDaemon): number =>
  daemon.view.plugins().find(({ id }) => id === asTold)?.fault_count ?? 0

/** The same as answers of one kind, with some more. */
const answers = (more: Readonly<Record<string, () => unknown>> = {}): [string, () => unknown][] =>
  Object.entries({ ...poisons, ...more })

const run = async (daemon: TestDaemon, content: string): Promise<any> =>
  until(daemon, (await submit(daemon, 's1', content)).run_id, 'completed', 'failed')

const look = '/tool list_skills {}\n---\n/say done'

/** How the first call of the newest run ended. */
const outcomeOf = async (daemon: TestDaemon): Promise<any> => {
  const { session } = (await daemon.request('GET', '/v1/sessions/s1/events')).body
  return session.journal.findLast(({ type }: any) => type === 'outcome').entry
}

test.serial(
  'hooks-35: a ruling that is not JSON, is nested too deeply or says too much counts as no objection',
  async (t) => {
    const daemon = await start(t)
    const rulings: Record<string, () => unknown> = {
      ...Object.fromEntries(
        Object.entries(poisons).map(([name, make]) => [name, () => ({ by: ['x'], updated_input: make() })]),
      ),
      texts: () => ({ by: ['x'], contexts: ['c'.repeat(40e6)] }),
      block: () => ({ by: ['x'], block: 'z'.repeat(2e6) }),
      deepest: () => ({ by: ['x'], updated_input: deep(20_000) }),
    }
    delete rulings['long']
    delete rulings['promise']
    for (const [name, pre_tool_use] of Object.entries(rulings)) {
      say({ pre_tool_use })
      t.is((await run(daemon, look)).status, 'completed', name)
      charged(t, daemon, 'intercept of interceptors@1', name)
      t.is((await outcomeOf(daemon)).state, 'done', name)
    }
    say({ user_prompt_submit: () => ({ by: ['x'], contexts: ['c'.repeat(30e6)] }) })
    t.is((await run(daemon, 'hi')).status, 'completed')
    say({ stop: () => ({ by: ['x'], block: 'z'.repeat(30e6) }) })
    t.is((await run(daemon, 'hi')).status, 'completed')
  },
)

test.serial('hooks-14: what a callback throws, returns wrongly or never ends is charged and told', async (t) => {
  const daemon = await start(t)
  const call = 'call of hook-callbacks@1'
  const set = (timeout_ms: number) => {
    const executor = { type: 'callback', name: 'told', timeout_ms }
    const guard = { name: 'guard', executor, failure_policy: { mode: 'closed' } }
    return daemon.request('POST', '/v1/runtime/hooks', { hooks: { pre_tool_use: [guard] } })
  }
  await set(30_000)
  await daemon.request('POST', '/v1/runtime/secrets', { slot_id: 'one', state: { value: 'sesame-canary-1' } })
  const thrown = () => {
    throw new TypeError(`no sesame-canary-1\u001b[2J\n${'z'.repeat(1e6)}`)
  }
  const failures: [string, () => unknown, RegExp][] = [
    ['throws', thrown, /^its callback failed: no \[redacted\]\\u001b\[2J\\nz{200,}$/u],
    ['rejects', async () => thrown(), /^its callback failed: no \[redacted\]/u],
    ['nothing', () => Promise.reject(new Error('')), /^its callback failed: it threw without a word$/u],
    ['wrong', () => ({ decision: 7 }), /^its callback failed: what it returned is wrong: decision must be one of/u],
    ...answers({ none: () => 5 })
      .filter(([name]) => name !== 'promise')
      .map(([name, make]): [string, () => unknown, RegExp] => [name, make, /^its callback failed: ./u]),
  ]
  const letterOf = async () => (await daemon.request('GET', '/v1/runtime/hooks/dead-letter')).body.dead_letters[0]
  for (const [name, give, error] of failures) {
    say({ [call]: give })
    const count = faultCount(daemon)
    await run(daemon, look)
    const letter = await letterOf()
    t.regex(letter.error, error, name)
    t.true(letter.error.length < 400, name)
    t.is((await outcomeOf(daemon)).output.error.reason, `the hook failed: ${letter.error}`, name)
    t.is(faultCount(daemon), count + 1, name)
    charged(t, daemon, call, name)
  }
  t.true(
    daemon.log.some((line) => line.fact === 'a hook failed' && /no \[redacted\]/u.test(String(line.details['error']))),
  )
  await set(100)
  const count = faultCount(daemon)
  const ends = (_: unknown, signal: AbortSignal) =>
    new Promise((_done, fail) => signal.addEventListener('abort', () => fail(signal.reason)))
  for (const [give, more] of [
    [ends, 0],
    [() => new Promise(() => {}), 1],
  ] as const) {
    say({ [call]: give })
    await run(daemon, look)
    t.is((await letterOf()).error, 'it took longer than 100 ms')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    t.is(faultCount(daemon), count + more)
  }
  say({ [call]: () => undefined })
  t.is((await run(daemon, look)).status, 'completed')
  t.is((await outcomeOf(daemon)).state, 'done')
  t.is(faultCount(daemon), count + 1)
})

test.serial('hooks-35: a ruling is read once: what it says later is not asked for', async (t) => {
  const daemon = await start(t)
  let reads = 0
  const ruling = {
    by: ['x'],
    get updated_input() {
      reads += 1
      if (reads > 1) throw null
      return {}
    },
  }
  say({ pre_tool_use: () => ruling })
  t.is((await run(daemon, look)).status, 'completed')
  t.is(reads, 1)
  t.deepEqual(faultsOf(daemon).ids, [])
})

test.serial('runtime-19: of a gate that gives no plain set of names every tool counts as hidden', async (t) => {
  const daemon = await start(t)
  class Odd extends Set<string> {
    override has(): boolean {
      throw null
    }
  }
  const gates: Record<string, () => unknown> = {
    proxy: () => new Proxy(new Set(['x']), {}),
    made: () => Object.create(Set.prototype),
    odd: () => new Odd(),
    own: () => Object.assign(new Set(), { has: () => false }),
    names: () => new Set([5]),
  }
  for (const [name, hidden] of Object.entries(gates)) {
    say({ 'hidden of tool-gates@1': hidden })
    t.is((await run(daemon, look)).status, 'completed', name)
    charged(t, daemon, 'hidden of tool-gates@1', name)
    t.is((await outcomeOf(daemon)).output.error.code, 'tool_not_found', name)
  }
  const names = new Set(['list_skills'])
  say({ 'hidden of tool-gates@1': () => names })
  await run(daemon, look)
  t.is((await outcomeOf(daemon)).output.error.code, 'tool_not_found')
})

test.serial(
  'runtime-19: a limit of a plugin that cannot be asked lets nothing be used, and its words are stored as text',
  async (t) => {
    const daemon = await start(t)
    for (const [name, refusal] of answers({ object: () => ({ a: 1 }), bare: () => 'no code' })) {
      say({ 'refusal of usage-limits@1': refusal })
      const { status, error } = await run(daemon, 'hi')
      t.is(status, 'failed', name)
      t.regex(error, /^usage_limit_failed: /u, name)
      charged(t, daemon, 'refusal of usage-limits@1', name)
    }
    say({ 'refusal of usage-limits@1': () => 'own_limit: it is enough.' })
    t.is((await run(daemon, 'hi')).error, 'own_limit: it is enough.')
  },
)

test.serial('runtime-19: modes and rules of a plugin that cannot be asked let nothing pass', async (t) => {
  const daemon = await start(t)
  for (const [name, mode] of answers({ nonsense: () => 'nonsense' })) {
    say({ 'mode of session-modes@1': mode })
    await run(daemon, '/tool write_file {"path":"a.txt","content":"a"}\n---\n/say done')
    t.is((await outcomeOf(daemon)).state, 'refused', name)
    charged(t, daemon, 'mode of session-modes@1', name)
  }
  for (const [name, rules] of answers({ number: () => 5, list: () => [{ a: 1 }] })) {
    say({ 'rules of session-modes@1': rules })
    t.is((await run(daemon, look)).status, 'completed', name)
    t.is((await outcomeOf(daemon)).state, 'refused', name)
    charged(t, daemon, 'rules of session-modes@1', name)
  }
})

test.serial('runtime-19: what a plugin knows of subjects is left out where it is no subject or reason', async (t) => {
  const daemon = await start(t)
  const { run_id } = await run(daemon, 'hi')
  const { promise: _, ...sync } = poisons
  for (const [name, of] of Object.entries({ ...sync, list: () => [null], code: () => [{ code: 5 }] })) {
    say({ 'of of reasons@1': of })
    t.is((await daemon.request('GET', `/v1/explanations/${run_id}`)).status, 200, name)
    charged(t, daemon, 'of of reasons@1', name)
  }
  for (const [name, find] of answers({ object: () => ({ a: 1 }) })) {
    say({ 'find of subjects@1': find })
    t.is((await daemon.request('GET', '/v1/explanations/nosuch')).status, 404, name)
    charged(t, daemon, 'find of subjects@1', name)
  }
})

test.serial(
  'runtime-19: what a plugin cannot say of a session keeps it as it is, and is left out of its view',
  async (t) => {
    const daemon = await start(t)
    const at = '/v1/sessions/s1'
    for (const [name, make] of answers({ number: () => 5 })) {
      say({ 'holds of session-holds@1': make })
      const change = await daemon.request('POST', `${at}/capability-scope`, { capability_scope: { skill_deny: ['x'] } })
      t.deepEqual(codeOf(change), [409, 'session_not_idle'], name)
      charged(t, daemon, 'holds of session-holds@1', name)
      say({ 'veto of session-end-guards@1': make })
      const ended = await daemon.request('POST', `${at}/end`, {})
      t.deepEqual(codeOf(ended), [409, 'session_end_refused'], name)
      t.true(ended.body.detail.includes('the plugin answers-as-told cannot say'), ended.body.detail)
      charged(t, daemon, 'veto of session-end-guards@1', name)
    }
    for (const [name, value] of Object.entries(poisons)) {
      say({ 'value of session-metadata@1': value })
      const { body } = await daemon.request('GET', `${at}/events`)
      t.is(body.session.metadata.told, undefined, name)
      charged(t, daemon, 'value of session-metadata@1', name)
      say({ 'collect of runtime-sections@1': value })
      const runtime = await daemon.request('GET', '/v1/runtime')
      t.is(runtime.status, 200, name)
      t.is(runtime.body.told, undefined, name)
      charged(t, daemon, 'collect of runtime-sections@1', name)
    }
  },
)

test.serial(
  'runtime-19: what may be in use, as far as a plugin can say, is not deleted; nothing passes by its word',
  async (t) => {
    const daemon = await start(t)
    await daemon.request('POST', '/v1/runtime/secrets', {
      slot_id: 'mail',
      state: { value: 'a secret of some length' },
    })
    const asset_id = await storeNotes(daemon, 'notes')
    const asks = '/tool bash {"command":"true"}\n---\n/say done'
    for (const [name, make] of answers({ object: () => ({}) })) {
      say({ 'of of secret-references@1': make })
      t.deepEqual(codeOf(await daemon.request('DELETE', '/v1/runtime/secrets/mail')), [409, 'secret_in_use'], name)
      charged(t, daemon, 'of of secret-references@1', name)
      say({ 'namings.count of asset-references@1': make })
      t.deepEqual(codeOf(await daemon.request('DELETE', `/v1/assets/${asset_id}`)), [409, 'asset_delete_blocked'], name)
      charged(t, daemon, 'namings.count of asset-references@1', name)
      say({ 'find of call-grants@1': make })
      const { run_id } = await submit(daemon, 's1', asks)
      await until(daemon, run_id, 'waiting_for_approval')
      charged(t, daemon, 'find of call-grants@1', name)
      await daemon.request('POST', '/v1/sessions/s1/interrupt')
      await until(daemon, run_id, 'interrupted')
    }
    say({})
    t.is((await daemon.request('DELETE', `/v1/assets/${asset_id}`)).status, 200)
  },
)

test.serial('runtime-19: where a reply plugin cannot say whether it may send, nothing is sent there', async (t) => {
  const daemon = await start(t)
  const reply_targets = [{ type: 'raw', plugin: 'told', address: 'there' }]
  const submitted = () => daemon.request('POST', '/v1/sessions/s1/runs', { content: 'hi', reply_targets })
  for (const [name, make] of answers({ object: () => ({}) })) {
    say({ 'refuse of reply-plugins@1': make })
    t.deepEqual(codeOf(await submitted()), [400, 'reply_target_invalid'], name)
    charged(t, daemon, 'refuse of reply-plugins@1', name)
    say({ 'keep of reply-plugins@1': make })
    t.deepEqual(codeOf(await submitted()), [503, 'plugin_failed'], name)
  }
})
