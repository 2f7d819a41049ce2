import test from 'ava'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { createWorld, effectTools } from '../../../support/effects.js'
import { createChat, liveDaemon, passes, seen, type Chat } from '../../../support/live-chat.js'
import { openSession, until } from '../../../support/runs.js'
import { mostToken } from '../../../../plugins/connectors/live/contract.js'

const reply_targets = [{ plugin: 'telegram', address: 'chat-1' }]
const act = { plugin: 'telegram', connector: 'main', actor_id: 'tg:7', actor_name: 'Ana\u202e' } as const
const stranger = { ...act, actor_id: 'tg:8', actor_name: 'Eve' }

const start = async (t: any, settings = {}, config = {}) => {
  const world = createWorld()
  const chat = createChat({ approver_ids: ['tg:7', 'tg:9'], ...settings })
  const options = await liveDaemon(chat, effectTools(world))
  const daemon = await startTestDaemon(t, { ...options, config })
  await openSession(daemon)
  const decide = (run_id: string, resolutions: object[]) =>
    daemon.request('POST', `/v1/runs/${run_id}/approvals`, { resolutions })
  return { world, chat, daemon, decide, clock: options.clock }
}

const submit = async (daemon: TestDaemon, content: string, more: object = {}): Promise<any> =>
  (await daemon.request('POST', '/v1/sessions/s1/runs', { content, reply_targets, ...more })).body

const pay = (input: object): string => `/tool mcp__pay ${JSON.stringify(input)}`
const ask = (...questions: object[]): string => `/tool ask_user_question ${JSON.stringify({ questions })}`

/** A run that waits, and the newest message of the chat with its id. */
const asked = async ({ chat, daemon }: { chat: Chat; daemon: TestDaemon }, content: string, more: object = {}) => {
  const before = chat.count('post')
  const run = await submit(daemon, content, more)
  const posted = () => chat.calls.filter(({ what }) => what === 'post')[before]
  await seen('the message', () => chat.messages.has(posted()?.id ?? ''))
  const id = posted()?.id ?? ''
  const message = chat.messages.get(id) ?? { text: '', buttons: [] }
  return { run, id, message, token: (label: string) => chat.token(label, id) }
}

test('live-14, live-15, live-16, live-17, live-18, live-19: a button decides exactly its request, once, by those who may', async (t) => {
  const { world, chat, daemon } = await start(t)
  const live = chat.live()
  const { run, id, message, token } = await asked({ chat, daemon }, pay({ what: 'a\u202eb' }))
  t.deepEqual(
    message.buttons.map(({ label }) => label),
    ['Allow', 'Deny'],
  )
  t.regex(message.text, /^Permission is needed to use mcp__pay\.\n/u)
  t.true(message.text.includes('"what": "a\\u202eb"'))
  const [allow, deny] = [token('Allow'), token('Deny')]
  t.true(Buffer.byteLength(allow) <= mostToken && /^[0-9a-z.]+$/u.test(allow))
  t.not(allow, deny)
  t.deepEqual(await live.press({ ...stranger, token: allow }), {
    type: 'not_allowed',
    text: 'You are not allowed to decide on this.',
  })
  for (const wrong of [
    { ...act, token: `${allow.slice(0, -1)}${allow.endsWith('0') ? '1' : '0'}` },
    { ...act, token: '' },
    { ...act, token: 'x'.repeat(100_000) },
    { ...act, connector: 'other', token: allow },
    { ...act, plugin: 'slack' as const, token: allow },
  ])
    t.is((await live.press(wrong)).type, 'over')
  t.is((await until(daemon, run.run_id, 'waiting_for_approval')).pending_approvals.length, 1)
  t.deepEqual(world.calls, [])
  t.deepEqual(await live.press({ ...act, token: allow }), { type: 'decided', text: 'Allowed by Ana\\u202e (tg:7).' })
  await until(daemon, run.run_id, 'completed')
  t.deepEqual(world.calls, ['mcp__pay:a\u202eb'])
  await seen('the end of the buttons', () => chat.messages.get(id)?.buttons.length === 0)
  t.true(chat.messages.get(id)?.text.endsWith('\n\nAllowed by Ana\\u202e (tg:7).'))
  t.true(chat.messages.get(id)?.text.includes('mcp__pay'))
  for (const old of [allow, deny])
    t.deepEqual(await live.press({ ...act, token: old }), { type: 'over', text: 'Allowed by Ana\\u202e (tg:7).' })
  const events = (await daemon.request('GET', `/v1/runs/${run.run_id}/events`)).body
  const resolved = events.find((one: any) => one.event.type === 'approval_resolved')
  t.like(resolved.event.resolutions[0], { behavior: 'allow', decided_by: 'operator', actor_id: 'telegram:main:tg:7' })
})

test('live-20, live-21: an operator decides elsewhere, at the same moment or before: one wins, both are told', async (t) => {
  const { world, chat, daemon, decide } = await start(t)
  const live = chat.live()
  const { run, id, token } = await asked({ chat, daemon }, pay({ what: 'a' }))
  const allow = token('Allow')
  const request_id = (await until(daemon, run.run_id, 'waiting_for_approval')).pending_approval_ids[0]
  t.is((await decide(run.run_id, [{ request_id, behavior: 'deny' }])).status, 202)
  t.deepEqual(await live.press({ ...act, token: allow }), { type: 'over', text: 'Denied by an operator.' })
  await seen('the end', () => chat.messages.get(id)?.text.endsWith('\n\nDenied by an operator.') === true)
  await until(daemon, run.run_id, 'completed')
  t.deepEqual(world.calls, [])
  for (let n = 0; n < 5; n += 1) {
    const again = await asked({ chat, daemon }, pay({ what: `r${n}` }))
    const at = again.token('Allow')
    const { pending_approval_ids: ids } = await until(daemon, again.run.run_id, 'waiting_for_approval')
    const operator = decide(again.run.run_id, [{ request_id: ids[0], behavior: 'deny' }])
    const people = [live.press({ ...act, token: at }), live.press({ ...act, actor_id: 'tg:9', token: at })]
    const answers = await Promise.all(people)
    const won = answers.filter(({ type }) => type === 'decided').length + ((await operator).status === 202 ? 1 : 0)
    t.is(won, 1, JSON.stringify([answers, (await operator).status, (await operator).body]))
    const texts = new Set(answers.map(({ text }) => text))
    t.is(texts.size, 1)
    await until(daemon, again.run.run_id, 'completed')
    await seen('its end', () => chat.messages.get(again.id)?.text.endsWith([...texts][0] ?? '') === true)
    t.is(world.calls.filter((call) => call === `mcp__pay:r${n}`).length, [...texts][0]?.startsWith('Allowed') ? 1 : 0)
  }
})

test('live-22, live-23: what is not shown whole and as it is cannot be allowed here, and says so', async (t) => {
  const { chat, daemon, decide } = await start(t, { most_text: 600 })
  const long = await asked({ chat, daemon }, pay({ what: 'y'.repeat(5000) }))
  t.deepEqual(
    long.message.buttons.map(({ label }) => label),
    ['Deny'],
  )
  t.true(long.message.text.length <= 600)
  t.regex(long.message.text, /an operator has to allow it\.$/u)
  t.is((await chat.live().press({ ...act, token: long.token('Deny') })).type, 'decided')
  await until(daemon, long.run.run_id, 'completed')
  chat.settings.most_text = 4096
  const key = `sk-${'a1'.repeat(20)}`
  const secret = await asked({ chat, daemon }, pay({ what: key }))
  t.false(secret.message.text.includes(key))
  t.deepEqual(
    secret.message.buttons.map(({ label }) => label),
    ['Deny'],
  )
  const { pending_approval_ids: ids } = await until(daemon, secret.run.run_id, 'waiting_for_approval')
  await decide(secret.run.run_id, [{ request_id: ids[0], behavior: 'deny' }])
  await until(daemon, secret.run.run_id, 'completed')
})

test('live-24: without approvers one message says that an operator has to decide, and shows nothing', async (t) => {
  const { chat, daemon, decide, clock } = await start(t, { approver_ids: [] })
  const { run, message } = await asked({ chat, daemon }, [pay({ what: 'a' }), pay({ what: 'b' })].join('\n'))
  t.deepEqual([message.text, message.buttons.length], ['An operator has to decide on this.', 0])
  await passes(() => clock.leap(100_000))
  t.is(chat.count('post'), 1)
  const { pending_approval_ids: ids } = await until(daemon, run.run_id, 'waiting_for_approval')
  await decide(
    run.run_id,
    ids.map((request_id: string) => ({ request_id, behavior: 'deny' })),
  )
  await until(daemon, run.run_id, 'completed')
  await seen('the end', () => [...chat.messages.values()].some(({ text }) => text === 'Denied by an operator.'))
  t.is(chat.count('post'), 1)
})

test('live-25, live-26, live-27, live-28: a question is answered by a button, or by a reply of somebody who may', async (t) => {
  const { chat, daemon } = await start(t)
  const live = chat.live()
  const colour = { header: 'Colour', question: 'Which?', options: [{ label: 'Red' }, { label: 'Blue' }] }
  const first = await asked({ chat, daemon }, ask({ ...colour, multi_select: false }))
  t.deepEqual(
    first.message.buttons.map(({ label }) => label),
    ['1. Red', '2. Blue', 'Decline'],
  )
  t.is((await live.press({ ...stranger, token: first.token('2. Blue') })).type, 'not_allowed')
  t.deepEqual(await live.press({ ...act, token: first.token('2. Blue') }), {
    type: 'decided',
    text: 'Answered by Ana\\u202e (tg:7).',
  })
  await until(daemon, first.run.run_id, 'completed')
  const second = await asked({ chat, daemon }, ask({ ...colour, multi_select: true }))
  const at = { message_id: second.id }
  t.is(await live.reply({ ...act, message_id: 'm999', text: 'hello' }), undefined)
  t.deepEqual(await live.reply({ ...stranger, ...at, text: '1' }), {
    type: 'not_allowed',
    text: 'An operator answers this question.',
  })
  t.is((await live.reply({ ...act, ...at, text: '  ' }))?.type, 'invalid')
  t.is((await live.reply({ ...act, ...at, text: 'z'.repeat(20_001) }))?.type, 'invalid')
  t.is((await live.reply({ ...act, ...at, text: '1, 2' }))?.type, 'decided')
  t.is((await live.reply({ ...act, ...at, text: '1, 2' }))?.type, 'over')
  await until(daemon, second.run.run_id, 'completed')
  const third = await asked(
    { chat, daemon },
    ask({ ...colour, multi_select: false }, { ...colour, header: 'Again', multi_select: false }),
  )
  t.deepEqual(
    third.message.buttons.map(({ label }) => label),
    ['Decline'],
  )
  t.is((await live.reply({ ...act, message_id: third.id, text: 'one' }))?.type, 'invalid')
  t.is((await live.reply({ ...act, message_id: third.id, text: 'red\nsomething else' }))?.type, 'decided')
  const events = (await daemon.request('GET', `/v1/runs/${third.run.run_id}/events`)).body
  t.like(events.find((one: any) => one.event.type === 'user_question_resolved').event.resolution, {
    actor_id: 'telegram:main:tg:7',
    answers: [{ selected_option_ids: ['o1'] }, { selected_option_ids: [], freeform_answer: 'something else' }],
  })
})

test('live-14, live-19, live-21: eight at a time; what expires or is withdrawn says so, in its message and to who presses', async (t) => {
  const { chat, daemon, clock } = await start(t, {}, { runs: { approval_expires_after_ms: 100_000_000 } })
  const live = chat.live()
  const many = Array.from({ length: 10 }, (_, n) => pay({ what: `n${n}` })).join('\n')
  const { body: run } = await daemon.request('POST', '/v1/sessions/s1/runs', { content: many, reply_targets })
  await seen('eight messages', () => chat.messages.size === 8)
  clock.leap(1_000_000)
  t.is(chat.count('post'), 8)
  const [first = '', second = ''] = [...chat.messages.keys()]
  t.is((await live.press({ ...act, token: chat.token('Deny', first) })).type, 'decided')
  await seen('the ninth', () => chat.messages.size === 9)
  const late = chat.token('Allow', second)
  clock.leap(100_000_000)
  await until(daemon, run.run_id, 'completed')
  await seen('the end of all', () => [...chat.messages.values()].every(({ buttons }) => buttons.length === 0))
  t.true(chat.messages.get(second)?.text.endsWith('Nobody decided in time.'))
  t.deepEqual(await live.press({ ...act, token: late }), { type: 'over', text: 'Nobody decided in time.' })
  const gone = await asked({ chat, daemon }, pay({ what: 'a' }))
  const token = gone.token('Allow')
  await daemon.request('POST', `/v1/runs/${gone.run.run_id}/cancel`)
  t.deepEqual(await live.press({ ...act, token }), { type: 'over', text: 'Withdrawn: the run was stopped.' })
  await seen('its end', () => chat.messages.get(gone.id)?.text.endsWith('Withdrawn: the run was stopped.') === true)
})

test('live-16: who is taken off the list decides nothing any more, also with a button that is there', async (t) => {
  const { world, chat, daemon } = await start(t)
  const { run, token } = await asked({ chat, daemon }, pay({ what: 'a' }))
  chat.settings.connector = 'other'
  t.is((await chat.live().press({ ...act, token: token('Allow') })).type, 'not_allowed')
  chat.settings.connector = 'main'
  chat.settings.approver_ids = ['tg:9']
  t.is((await chat.live().press({ ...act, token: token('Allow') })).type, 'not_allowed')
  t.deepEqual(world.calls, [])
  t.is((await chat.live().press({ ...act, actor_id: 'tg:9', token: token('Deny') })).type, 'decided')
  await until(daemon, run.run_id, 'completed')
})
