/** Third-party plugins that may refuse and fail instead: who asks is told which one, and the rest works on. */
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { longestAnswerMs } from '../../../../core/host/context/own-view.js'
import { shippedPlugins } from '../../../../core/shipped.js'
import { derivationErrors } from '../../../../plugins/media/derivations/contract.js'
import { asTold, charged, faultsOf, poisons, say, startAsTold, withoutKey } from '../../../support/as-told.js'
import type { Answer, TestDaemon } from '../../../support/daemon.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'
import { storeNotes } from '../../../support/sent-files.js'
import { makeSchedule, scheduleBody, scheduleUntil } from '../../../support/schedules.js'

/** Ten seconds of waiting for others are a fifth of one. */
const hasty = () => {
  const clock = createClock()
  const sleep = (ms: number, signal?: AbortSignal) => clock.sleep(ms === longestAnswerMs ? 200 : ms, signal)
  return { ...clock, sleep }
}
const hang = (): Promise<unknown> => new Promise(() => {})
const broken = (): never => {
  throw new Error('it is broken')
}
const rejected = async () => broken()

/** Of a check, which refuses by throwing alone. */
const returned = { sentence: () => 'no such level', number: () => 7, no: () => false }

const named = (t: ExecutionContext, answer: Answer, what?: string): void => {
  t.deepEqual(codeOf(answer), [503, 'plugin_failed'], what)
  t.true(answer.body.detail.includes(`The plugin ${asTold} failed in`), answer.body.detail)
}

const setTold = ({ request }: TestDaemon, level: number) => request('POST', '/v1/runtime/told-setting', { level })

test.serial('runtime-26: a setting whose plugin fails is left out, and all others are read and changed', async (t) => {
  const daemon = await startAsTold(t)
  const { request } = daemon
  const values = { ...poisons, broken, other: () => ({ level: 'high' }) }
  for (const member of ['initial', 'shown.of'])
    for (const [name, answer] of Object.entries(values)) {
      if (member === 'shown.of' && name === 'other') continue
      say({ [`${member} of runtime-settings@1`]: answer })
      const runtime = await request('GET', '/v1/runtime')
      t.is(runtime.status, 200, name)
      t.is(runtime.body.told_level, undefined, name)
      charged(t, daemon, `${member} of runtime-settings@1`, name)
      t.is((await request('POST', '/v1/runtime/permission-mode', { mode: 'plan' })).status, 200)
      const revisions = await request('GET', '/v1/runtime/revisions')
      t.is(revisions.status, 200, name)
      t.is(revisions.body.revisions[0].permission_mode, 'plan')
      t.is((await request('GET', '/v1/status')).status, 200)
      t.is((await request('POST', '/v1/runtime/permission-mode', { mode: 'default' })).status, 200)
    }
  say({})
  t.is((await request('GET', '/v1/runtime')).body.told_level, 1)
})

test.serial('runtime-26: a plugin that fails while its setting is changed refuses that, by its name', async (t) => {
  const daemon = await startAsTold(t)
  for (const member of ['change.value', 'check', 'initial', 'shown.of'])
    for (const [name, answer] of Object.entries({ broken, ...poisons, ...(member === 'check' && returned) })) {
      say({ [`${member} of runtime-settings@1`]: answer })
      named(t, await setTold(daemon, 2), `${member} ${name}`)
      charged(t, daemon, `${member} of runtime-settings@1`, name)
    }
  say({})
  const { status, body } = await setTold(daemon, 3)
  t.deepEqual([status, body.told_level], [200, 3])
})

test.serial(
  'runtime-29: a kept value whose plugin cannot say whether it may hold does not, and no other is lost',
  async (t) => {
    const daemon = await startAsTold(t)
    const { request } = daemon
    for (const level of [2, 3]) await setTold(daemon, level)
    say({ 'check of runtime-settings@1': broken })
    const back = await request('POST', '/v1/runtime/rollback', { target_revision: 1 })
    t.deepEqual(codeOf(back), [409, 'runtime_revision_unfit'])
    t.true(back.body.detail.includes(`The plugin ${asTold} failed`), back.body.detail)
  },
)

test.serial('metrics-3, metrics-4: a metric of a plugin that fails is left out, and all others are told', async (t) => {
  const daemon = await startAsTold(t)
  const endless = function* () {
    for (let at = 0; ; at += 1) yield { labels: { at: String(at) }, value: at }
  }
  const value = (one: object) => () => [one]
  const answers = {
    broken,
    promise: rejected,
    endless,
    number: () => 5,
    nothing: () => [null],
    text: value({ value: '1' }),
    bigint: value({ value: 1n }),
    label: value({ labels: { 'a b': 'c' }, value: 1 }),
    long: value({ labels: { of: 'z'.repeat(2_000_000) }, value: 1 }),
    twice: () => [{ value: 1 }, { value: 2 }],
    thrown: function* () {
      yield { value: 1 }
      broken()
    },
  }
  const sentences: Record<string, string> = {
    number: 'what the metric service_told collects must be a list of its values',
    nothing: 'each value of the metric service_told must be an object',
  }
  for (const [name, collect] of Object.entries(answers)) {
    say({ 'collect of metrics@1': collect })
    const { status, text } = await daemon.request('GET', '/metrics')
    t.is(status, 200)
    t.false(text.includes('service_told'), name)
    t.true(text.includes('service_event_loop_delay_seconds_count'), name)
    charged(t, daemon, 'collect of metrics@1', name)
    const says = sentences[name]
    if (says !== undefined) t.is(faultsOf(daemon).last?.message, says)
  }
  say({ 'collect of metrics@1': value({ labels: { of: 'x' }, value: NaN }) })
  t.true((await daemon.request('GET', '/metrics')).text.includes('service_told{of="x"} NaN'))
})

const account = { slot_id: 'mail', provider: 'google', state: { access_token: 'a token of some length' } }

test.serial('secrets-14: a refresher that fails or hangs is told with its plugin', async (t) => {
  const daemon = await startAsTold(t, { clock: hasty() })
  await daemon.request('POST', '/v1/runtime/auth/accounts', account)
  const refresh = () => daemon.request('POST', '/v1/runtime/auth/accounts/mail/refresh')
  for (const [name, answer] of Object.entries({ broken, rejected, hang })) {
    say({ 'refresh of account-refreshers@1': answer })
    const { status, body } = await refresh()
    t.deepEqual([status, body.code], [409, 'account_refresh_failed'], name)
    t.true(body.detail.includes(`The plugin ${asTold} failed`), body.detail)
    charged(t, daemon, 'refresh of account-refreshers@1', name)
  }
  t.is(faultsOf(daemon).last?.message, `it did not end within ${longestAnswerMs} ms`)
})

test.serial('runtime-19: a payload of a plugin that fails or hangs is refused by its name', async (t) => {
  say({ 'kind of schedule-payloads@1': () => 'flow_start' })
  const shipped = (await shippedPlugins()).filter(({ id }) => id !== 'flows')
  const daemon = await startAsTold(t, { shipped, clock: hasty() })
  await openSession(daemon)
  const wish = { request: undefined, flow_start: {} }
  const { promise: _, ...values } = poisons
  for (const [name, check] of Object.entries({ ...values, broken, rejected, request: () => ({ request: 5 }) })) {
    say({ 'check of schedule-payloads@1': check })
    named(t, await daemon.request('POST', '/v1/schedules', scheduleBody(wish)), name)
    charged(t, daemon, 'check of schedule-payloads@1', name)
  }
  say({ 'check of schedule-payloads@1': () => ({}) })
  const { schedule_id } = await makeSchedule(daemon, wish)
  for (const [name, dispatch] of Object.entries({ broken, rejected, none: async (): Promise<unknown> => null, hang })) {
    say({ 'check of schedule-payloads@1': () => ({}), 'dispatch of schedule-payloads@1': dispatch })
    await daemon.request('POST', `/v1/schedules/${schedule_id}/trigger`, {})
    await scheduleUntil(
      daemon,
      schedule_id,
      () => withoutKey(faultsOf(daemon).last?.where) === 'dispatch of schedule-payloads@1',
    )
    charged(t, daemon, 'dispatch of schedule-payloads@1', name)
  }
  const plain = await makeSchedule(daemon, { name: 'plain' })
  await daemon.request('POST', `/v1/schedules/${plain.schedule_id}/trigger`, {})
  await scheduleUntil(daemon, plain.schedule_id, ({ recent_executions: [last] }) => last?.run_id !== undefined)
  t.pass()
})

test.serial(
  'runtime-19: a derivation whose profile fails is refused by its name, and a problem of it is its answer',
  async (t) => {
    const daemon = await startAsTold(t)
    const asset_id = await storeNotes(daemon, 'hello')
    const derive = () =>
      daemon.request('POST', '/v1/derivations', { profile: 'told', subject: { type: 'asset', asset_id } })
    const completed = (more: object) => () => ({ type: 'completed', result: { asset_id }, ...more })
    const failures = {
      check: { broken, ...returned },
      fingerprint: { broken, ...poisons },
      derive: { broken, rejected, text: () => 'x', other: () => ({ type: 'failed' }), bigint: completed({ n: 1n }) },
    }
    for (const [member, answers] of Object.entries(failures))
      for (const [name, answer] of Object.entries(answers)) {
        say({ [`${member} of derivation-profiles@1`]: answer })
        named(t, await derive(), `${member} ${name}`)
        charged(t, daemon, `${member} of derivation-profiles@1`, name)
      }
    const { fault_count: count } = daemon.daemon.view.plugins().find(({ id }) => id === asTold) ?? {}
    for (const member of ['check', 'derive']) {
      const refuse = () => {
        throw derivationErrors.transcription_unready({ retryAfter: 7 })
      }
      say({ [`${member} of derivation-profiles@1`]: refuse })
      t.deepEqual(codeOf(await derive()), [503, 'transcription_unready'], member)
      t.like(
        daemon.daemon.view.plugins().find(({ id }) => id === asTold),
        { fault_count: count },
      )
    }
    say({})
    const { status, body } = await derive()
    t.deepEqual([status, body.status, body.result_asset_id], [200, 'completed', asset_id])
  },
)

const question = {
  questions: [{ header: 'Colour', question: 'Which colour?', options: [{ label: 'Red' }, { label: 'Blue' }] }],
}

test.serial(
  'runtime-19: a plugin that fails or hangs where it settles a question is named to who answers',
  async (t) => {
    say({ 'kind of question-settlers@1': () => 'input' })
    const daemon = await startAsTold(t, { clock: hasty() })
    await openSession(daemon)
    const { run_id } = await submit(
      daemon,
      's1',
      `/tool ask_user_question ${JSON.stringify(question)}\n---\n/say Thanks.`,
    )
    await until(daemon, run_id, 'waiting_for_user_question')
    const [{ request }] = (await daemon.request('GET', '/v1/questions')).body
    const resolution = { request_id: request.id, answers: [{ question_id: 'q1', selected_option_ids: ['o1'] }] }
    for (const [name, answer] of Object.entries({ broken, rejected, hang })) {
      say({ 'answer of question-settlers@1': answer })
      named(t, await daemon.request('POST', `/v1/runs/${run_id}/questions`, { resolution }), name)
      charged(t, daemon, 'answer of question-settlers@1', name)
    }
  },
)
