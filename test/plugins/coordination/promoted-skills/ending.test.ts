import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { freshRoot } from '../../../support/folders.js'
import { activate, markingModel, procedure, promote, skillOf } from '../../../support/promoted.js'
import { codeOf } from '../../../support/runs.js'

const start = async (t: any) => {
  const model = markingModel()
  const root = await freshRoot()
  const daemon = await startTestDaemon(t, { root, plugins: [model.plugin], config: model.config })
  const { request } = daemon
  const act = (what: 'revoke' | 'rollback', reason?: string) =>
    request('POST', `/v1/learning-skills/notes/${what}`, reason === undefined ? undefined : { reason })
  const isMounted = (learning: string): boolean => existsSync(join(root, 'skills/procedural', learning, 'SKILL.md'))
  return { daemon, request, act, isMounted }
}

test('promoted-skills-15, promoted-skills-17: a revoked skill ends once, and comes back as it was active', async (t) => {
  const { daemon, act, isMounted } = await start(t)
  const learning = await procedure(daemon)
  t.deepEqual(codeOf(await act('revoke')), [404, 'promoted_skill_not_found'])
  t.deepEqual(codeOf(await act('rollback')), [404, 'promoted_skill_not_found'])
  await promote(daemon, learning)
  t.deepEqual(codeOf(await act('rollback')), [409, 'rollback_impossible'])
  const active = await activate(daemon, learning)
  t.true(isMounted(learning))
  const revoked = (await act('revoke', ' It is wrong. ')).body
  t.false(isMounted(learning))
  t.like(revoked, { status: 'revoked', revoked_reason: 'It is wrong.', digest: '' })
  t.like(revoked.lifecycle_events.at(-1), { event: 'revoke', from_status: 'active', to_status: 'revoked' })
  t.deepEqual((await act('revoke', 'Again.')).body, revoked)
  const back = (await act('rollback', 'It was right.')).body
  t.true(isMounted(learning))
  t.like(back, { status: 'active', definition_fingerprint: active.definition_fingerprint, digest: active.digest })
  t.false('revoked_at_ms' in back || 'revoked_reason' in back)
  t.like(back.lifecycle_events.at(-1), { event: 'rollback', from_status: 'revoked', reason: 'It was right.' })
  t.regex(back.evidence_refs.at(-1).note, /^rolled back at \d+: It was right\.$/u)
  t.is(back.lifecycle_events.length, active.lifecycle_events.length + 2)
})

test('promoted-skills-17: a rollback takes the place of what the name is now', async (t) => {
  const { daemon, act, isMounted } = await start(t)
  const [one, two] = [await procedure(daemon, 'First way.'), await procedure(daemon, 'Second way.')]
  await activate(daemon, one)
  await act('revoke')
  await promote(daemon, two, { instructions: 'The second.' })
  t.like((await act('rollback')).body, { source_learning_id: one, status: 'active' })
  t.deepEqual([isMounted(one), isMounted(two)], [true, false])
  await act('revoke')
  await promote(daemon, one, { skill_name: 'elsewhere' })
  t.deepEqual(codeOf(await act('rollback')), [409, 'learning_promoted'])
})

for (const [what, body] of [
  ['revoke', {}],
  ['supersede', { content: 'Another way.' }],
] as const)
  test(`promoted-skills-16, promoted-skills-22: to ${what} a learning ends its skill, which does not come back`, async (t) => {
    const { daemon, request, act, isMounted } = await start(t)
    const learning = await procedure(daemon)
    await activate(daemon, learning)
    t.is((await request('POST', `/v1/learnings/${learning}/${what}`, body)).status, 200)
    t.false(isMounted(learning))
    t.is((await request('GET', '/v1/skills/notes')).status, 404)
    const ended = await skillOf(daemon)
    t.is(ended.status, 'revoked')
    t.is(ended.revoked_reason, `its learning ${learning} is ${what}d`)
    t.deepEqual(codeOf(await act('rollback')), [409, 'rollback_source_ended'])
  })

test('promoted-skills-16: learnings that are revoked together end skills of any status', async (t) => {
  const { daemon, request } = await start(t)
  const learning = await procedure(daemon)
  await promote(daemon, learning)
  const { body } = await request('POST', `/v1/learnings/revoke-matching`, { kind: 'procedure' })
  t.is(body.length, 1)
  t.is((await skillOf(daemon)).status, 'revoked')
})

test('promoted-skills-18: what a skill was is kept fifty times, and what it was when it was active beside', async (t) => {
  const { daemon, act } = await start(t)
  const learning = await procedure(daemon)
  const { definition_fingerprint } = await activate(daemon, learning)
  await act('revoke')
  for (let n = 0; n < 110; n += 1) await promote(daemon, learning, { instructions: `Way ${n}.` })
  t.like((await act('rollback')).body, { status: 'active', definition_fingerprint })
  for (let n = 0; n < 50; n += 1) {
    await act('revoke')
    await act('rollback')
  }
  const { lifecycle_events } = await skillOf(daemon)
  t.is(lifecycle_events.length, 200)
  t.like(lifecycle_events.at(-1), { event: 'rollback' })
})
