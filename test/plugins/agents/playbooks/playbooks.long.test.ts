/** How work is done, kept version by version. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRequire } from 'node:module'
import test from 'ava'
import fc from 'fast-check'
import { unsafeCast, type JsonObject } from '../../../../core/plugin.js'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, startTestDaemon, type Reachable } from '../../../support/daemon.js'
import { codeOf } from '../../../support/runs.js'

/** Its types tell of a module with a default, which it is not. */
const canonicalize = unsafeCast<(value: unknown) => string | undefined>(createRequire(import.meta.url)('canonicalize'))

const manifest = (more: JsonObject = {}): JsonObject => ({
  playbook_id: 'notes',
  version: '1',
  title: 'Release notes',
  objective: 'Readers understand them.',
  phases: [{ phase_id: 'write', objective: 'Write them.', acceptance_criteria: ['All changes are in.'] }],
  acceptance_criteria: ['Somebody has read them.'],
  ...more,
})
const evidence = [{ kind: 'review', id: 'r-1' }]
const judged = (value: JsonObject): string =>
  createHash('sha256')
    .update(canonicalize(value) ?? '')
    .digest('hex')
/** The daemon takes no integers that a double would change. */
const safe = (_: string, value: unknown): unknown =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? Number(value) % 2 ** 53 : value
const create = async ({ request }: Reachable, more: JsonObject = {}): Promise<any> =>
  (await request('POST', '/v1/playbooks', { manifest: manifest(more) })).body
const versionsOf = async ({ request }: Reachable, id = 'notes'): Promise<any[]> =>
  (await request('GET', `/v1/playbooks/${id}`)).body.versions

test('playbooks-1: all that is wrong with a manifest is told with its place, and nothing is kept', async (t) => {
  const daemon = await startTestDaemon(t)
  const validate = async (given: JsonObject) =>
    (await daemon.request('POST', '/v1/playbooks/validate', { manifest: given })).body
  const phase = { phase_id: 'a', objective: 'Do it.', acceptance_criteria: ['Done.'] }
  const twice = { kind: 'review', id: 'x' }
  const wrong: [JsonObject, RegExp][] = [
    [{ title: ' ' }, /^manifest\.title: must not be blank$/u],
    [{ objective: undefined }, /^manifest\.objective: /u],
    [{ playbook_id: 'a/b' }, /^manifest\.playbook_id: /u],
    [{ version: '..' }, /^manifest\.version: /u],
    [{ phases: [{ ...phase, objective: '' }] }, /^manifest\.phases\.0\.objective: /u],
    [{ phases: [phase, phase] }, /^manifest\.phases\.1\.phase_id: must be unique in its list$/u],
    [{ roles: ['a', 'a'].map((role_id) => ({ role_id, purpose: 'p' })) }, /^manifest\.roles\.1\.role_id: must be un/u],
    [{ inputs: [{ name: 'n' }, { name: 'n' }] }, /^manifest\.inputs\.1\.name: must be unique/u],
    [{ required_evidence: [twice, twice] }, /^manifest\.required_evidence\.1: must be unique/u],
    [{ phases: [{ ...phase, required_evidence: [twice, twice] }] }, /^manifest\.phases\.0\.required_evidence\.1: mu/u],
    [{ colour: 'red' }, /^manifest\.colour: /u],
    [{ scopes: { required_capability_scope: { skill_allow: [' '] } } }, /^manifest\.scopes\.required_capability_scop/u],
    [{ tools: { enforce: 'yes' } }, /^manifest\.tools\.enforce: /u],
  ]
  for (const [more, place] of wrong) {
    const verdict = await validate(manifest(more))
    t.is(verdict.valid, false, String(place))
    t.is(verdict.digest, undefined)
    t.regex(verdict.errors[0], place)
    const answer = await daemon.request('POST', '/v1/playbooks', { manifest: manifest(more) })
    t.deepEqual(codeOf(answer), [400, 'playbook_manifest_invalid'])
    t.regex(answer.body.errors[0].path, /^body\.manifest\./u)
  }
  t.true((await validate({})).errors.length > 3)
  const many = { title: '', phases: [phase, phase], inputs: [{ name: 'n' }, { name: 'n' }], required_evidence: 'x' }
  const told: string[] = (await validate(manifest(many))).errors
  for (const place of ['title: must ', 'required_evidence: must be an array', 'phases.1.phase_id: ', 'inputs.1.name: '])
    t.true(
      told.some((error) => error.startsWith(`manifest.${place}`)),
      `${place} of ${told.join('; ')}`,
    )
  const strange = { runtime_defaults: { route_id: 'x' }, phases: [{ ...phase, evidence: [] }] }
  const [route = '', evidence_ = ''] = (await validate(manifest(strange))).errors.toSorted().toReversed()
  t.regex(route, /runtime_defaults\.route_id: is not a known field: there are provider, model$/u)
  t.regex(evidence_, /phases\.0\.evidence: .*: there are phase_id, objective, acceptance_criteria, required_evidence$/u)
  t.regex((await validate(manifest({ playbook_id: 'a b' }))).errors[0], /must be an id without blanks and slashes/u)
  t.deepEqual((await daemon.request('GET', '/v1/playbooks')).body, [])
})

test('playbooks-2: what is unwise is told and refuses nothing', async (t) => {
  const { request } = await startTestDaemon(t)
  const warned = async (more: JsonObject): Promise<string[]> => {
    const { body } = await request('POST', '/v1/playbooks/validate', { manifest: manifest(more) })
    t.true(body.valid)
    return (body.warnings ?? []).map((text: string) => text.split(':')[0])
  }
  t.deepEqual(await warned({}), [])
  t.deepEqual(await warned({ phases: [] }), ['manifest.phases'])
  t.deepEqual(await warned({ acceptance_criteria: [] }), ['manifest.acceptance_criteria'])
  t.deepEqual(await warned({ phases: [{ phase_id: 'a', objective: 'b' }] }), ['manifest.phases.0.acceptance_criteria'])
  t.deepEqual(await warned({ tools: { enforce: true } }), ['manifest.tools.enforce'])
  t.deepEqual(await warned({ tools: { deny: ['bash'] } }), ['manifest.tools.enforce'])
  t.deepEqual(await warned({ tools: { enforce: true, deny: ['bash'] } }), [])
  t.deepEqual(await warned({ required_evidence: [{ kind: 'run', id: 'run_1' }] }), ['manifest.required_evidence.0.id'])
  t.deepEqual(await warned({ required_evidence: [{ kind: 'run', id: '*' }] }), [])
  t.deepEqual(await warned({ required_evidence: [{ kind: 'Agent', id: '*' }] }), ['manifest.required_evidence.0.kind'])
  t.deepEqual(await warned({ tools: { enforce: true, allow: ['task_*', 'spawn_agnet', 'no_*'] } }), [
    'manifest.tools.allow.1',
    'manifest.tools.allow.2',
  ])
  t.deepEqual(await warned({ runtime_defaults: { provider: 'nope' } }), ['manifest.runtime_defaults.provider'])
  t.deepEqual(await warned({ runtime_defaults: { provider: 'demo' } }), [])
  t.is((await request('POST', '/v1/playbooks', { manifest: manifest({ phases: [] }) })).status, 201)
})

test('playbooks-3: the digest is the SHA-256 of the canonical JSON of the manifest as it was given', async (t) => {
  const { request } = await startTestDaemon(t)
  const digestOf = async (given: JsonObject): Promise<string> =>
    (await request('POST', '/v1/playbooks/validate', { manifest: given })).body.digest
  t.is(await digestOf(manifest()), judged(manifest()))
  const turned = Object.fromEntries(Object.entries(manifest()).toReversed())
  t.is(await digestOf(turned), judged(manifest()))
  t.not(await digestOf(manifest({ roles: [] })), judged(manifest()), 'what is left out is not what is empty')
  const metadata = fc.dictionary(fc.string({ maxLength: 12 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 })
  const title = fc.string({ minLength: 1, maxLength: 30 }).filter((text) => /\S/u.test(text))
  for (const given of fc.sample(fc.record({ metadata, title }), { numRuns: 1_000, seed: 11 })) {
    const whole = manifest(JSON.parse(JSON.stringify(given), safe))
    t.is(await digestOf(whole), judged(whole), JSON.stringify(whole))
  }
})

test('playbooks-4: a version is created once, and never becomes another manifest', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const first = await startTestDaemon(t, { root })
  const made = await first.request('POST', '/v1/playbooks', { manifest: manifest() })
  t.is(made.status, 201)
  t.like(made.body, { playbook_id: 'notes', latest_version: '1', title: 'Release notes' })
  t.like(made.body.selected_version, { version: '1', status: 'draft', digest: judged(manifest()) })
  t.deepEqual(made.body.selected_version.manifest, manifest())
  const again = await first.request('POST', '/v1/playbooks', { manifest: manifest() })
  t.deepEqual([again.status, again.body], [201, made.body])
  const other = await first.request('POST', '/v1/playbooks', { manifest: manifest({ title: 'Others' }) })
  t.deepEqual(codeOf(other), [409, 'playbook_version_conflict'])
  t.like(await create(first, { version: '2', title: 'Better' }), { latest_version: '2', title: 'Better' })
  await first.stop()
  const second = await startTestDaemon(t, { root })
  t.deepEqual(
    (await versionsOf(second)).map(({ version, status }) => [version, status]),
    [
      ['1', 'draft'],
      ['2', 'draft'],
    ],
  )
  t.deepEqual((await second.request('GET', '/v1/playbooks/notes?version=1')).body.selected_version.manifest, manifest())
})

test('playbooks-5: publishing needs the digest and evidence, and makes a version startable', async (t) => {
  const daemon = await startTestDaemon(t)
  const digest = (await create(daemon)).selected_version.digest
  const publish = (body: JsonObject, id = 'notes') => daemon.request('POST', `/v1/playbooks/${id}/publish`, body)
  const good = { version: '1', digest, evidence_refs: evidence }
  t.deepEqual(codeOf(await publish({ ...good, evidence_refs: [] })), [400, 'bad_request'])
  t.deepEqual(codeOf(await publish({ version: '1', digest })), [400, 'bad_request'])
  t.deepEqual(codeOf(await publish({ ...good, status: 'draft' })), [400, 'bad_request'])
  t.deepEqual(codeOf(await publish({ ...good, status: 'revoked' })), [400, 'bad_request'])
  t.deepEqual(codeOf(await publish({ ...good, digest: 'ab' })), [400, 'playbook_digest_mismatch'])
  t.deepEqual(codeOf(await publish({ ...good, version: '9' })), [404, 'playbook_version_not_found'])
  t.deepEqual(codeOf(await publish(good, 'nobody')), [404, 'playbook_not_found'])
  t.is((await versionsOf(daemon))[0].status, 'draft', 'what is refused changes nothing')
  for (const status of ['verified', 'canary', 'active']) {
    const { body } = await publish({ ...good, status })
    t.like(body.selected_version, { status, evidence_refs: evidence })
  }
  const before = await versionsOf(daemon)
  await publish(good)
  t.deepEqual(await versionsOf(daemon), before, 'active is what it becomes where nothing is said, and it is so')
  const more = await publish({ ...good, evidence_refs: [...evidence, { kind: 'run', id: 'run_1', description: 'd' }] })
  t.is(more.body.versions[0].evidence_refs.length, 2)
})

test('playbooks-6: a revoked version stays revoked, with its reason', async (t) => {
  const daemon = await startTestDaemon(t)
  const digest = (await create(daemon)).selected_version.digest
  const revoke = (body: JsonObject) => daemon.request('POST', '/v1/playbooks/notes/revoke', body)
  t.deepEqual(codeOf(await revoke({ version: '1', digest, reason: ' ' })), [400, 'bad_request'])
  t.deepEqual(codeOf(await revoke({ version: '1', digest: 'x', reason: 'r' })), [400, 'playbook_digest_mismatch'])
  await create(daemon, { version: '2' })
  const { body } = await revoke({ version: '1', digest, reason: 'Wrong.', evidence_refs: evidence })
  t.like(body.versions[0], { status: 'revoked', revoked_reason: 'Wrong.', evidence_refs: evidence })
  t.is(body.versions[1].status, 'draft')
  t.deepEqual((await revoke({ version: '1', digest, reason: 'Another.' })).body, body)
  const publish = { version: '1', digest, evidence_refs: evidence }
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/playbooks/notes/publish', publish)), [409, 'playbook_revoked'])
})

test('playbooks-7: the version that was made active last and still is, is the active one', async (t) => {
  const daemon = await startTestDaemon(t)
  const digests = new Map<string, string>()
  for (const version of ['1', '2', '3'])
    digests.set(version, (await create(daemon, { version })).selected_version.digest)
  const send = async (verb: string, version: string, more: JsonObject): Promise<any> => {
    await new Promise((resolve) => setTimeout(resolve, 3))
    const body = { version, digest: digests.get(version) ?? '', evidence_refs: evidence, ...more }
    return (await daemon.request('POST', `/v1/playbooks/notes/${verb}`, body)).body
  }
  t.is((await send('publish', '3', { status: 'verified' })).active_version, undefined)
  t.is((await send('publish', '2', {})).active_version, '2')
  t.is((await send('publish', '1', {})).active_version, '1')
  t.is((await daemon.request('GET', '/v1/playbooks/notes')).body.selected_version.version, '1')
  t.is((await send('revoke', '1', { reason: 'r' })).active_version, '2')
  const last = await send('revoke', '2', { reason: 'r' })
  t.like(last, { active_version: undefined, latest_version: '3' })
  t.is((await daemon.request('GET', '/v1/playbooks/notes')).body.selected_version.version, '3')
})

test('playbooks-8: playbooks are listed by id, by words in them, and by the status of a version', async (t) => {
  const daemon = await startTestDaemon(t)
  await create(daemon, { playbook_id: 'b', title: 'Ferns' })
  const { digest } = (await create(daemon, { playbook_id: 'a', objective: 'A garden.' })).selected_version
  await daemon.request('POST', '/v1/playbooks/a/publish', { version: '1', digest, evidence_refs: evidence })
  await create(daemon, { playbook_id: 'a', version: '2', objective: 'A garden.' })
  const ids = async (query: string): Promise<string[]> =>
    (await daemon.request('GET', `/v1/playbooks${query}`)).body.map(({ playbook_id }: any) => playbook_id)
  t.deepEqual(await ids(''), ['a', 'b'])
  t.deepEqual(await ids('?query=FERN'), ['b'])
  t.deepEqual(await ids('?query=garden'), ['a'])
  t.deepEqual(await ids(`?query=${digest.slice(3, 20)}`), ['a'])
  t.deepEqual(await ids('?status=active'), ['a'])
  t.deepEqual(await ids('?status=draft'), ['a', 'b'])
  t.deepEqual(await ids('?status=draft&query=ferns'), ['b'])
  t.deepEqual(await ids('?query=nothing'), [])
  const page = (await daemon.request('GET', '/v1/playbooks?page=true&limit=1')).body
  t.like(page, { pagination: { total_count: 2, has_more: true } })
  t.is(page.items[0].selected_version, undefined)
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/playbooks?status=gone')), [400, 'bad_request'])
  t.true((await daemon.request('GET', '/v1/capabilities')).body.playbooks)
})

test('playbooks-9: a playbook has so many versions and so much evidence, and no more', async (t) => {
  const daemon = await startTestDaemon(t)
  const digest = (await create(daemon)).selected_version.digest
  const refs = (n: number) =>
    Array.from({ length: 20 }, (_, at) => ({ kind: 'k', id: `${n}-${at}`, description: 'x'.repeat(1_000) }))
  let answer
  for (let n = 0; n < 40; n += 1) {
    const body = { version: '1', digest, evidence_refs: refs(n) }
    answer = await daemon.request('POST', '/v1/playbooks/notes/publish', body)
    if (answer.status !== 200) break
  }
  t.deepEqual(codeOf(answer ?? t.fail()), [409, 'playbook_full'])
  t.true((await versionsOf(daemon))[0].evidence_refs.length > 400)
  for (let n = 1; n <= 200; n += 1) await create(daemon, { playbook_id: 'many', version: String(n) })
  const more = await daemon.request('POST', '/v1/playbooks', { manifest: manifest({ playbook_id: 'many' }) })
  t.is(more.status, 201, 'one that is there is there')
  const one = { manifest: manifest({ playbook_id: 'many', version: '201' }) }
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/playbooks', one)), [409, 'playbook_full'])
  t.is((await versionsOf(daemon, 'many')).length, 200)
})

test('playbooks-10: the command line validates, creates, publishes and revokes', async (t) => {
  const daemon = await startTestDaemon(t)
  const line = createCommandLine(daemon)
  const folder = mkdtempSync(join(tmpdir(), 'playbooks-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'manifest.json')
  writeFileSync(file, JSON.stringify(manifest({ title: '' })))
  const bad = await line('playbooks', 'validate', '--file', file)
  t.is(bad.code, 1)
  t.regex(bad.out, /It is not valid\.\nerror {4}manifest\.title: /u)
  writeFileSync(file, JSON.stringify(manifest({ phases: [] })))
  const good = await line('playbooks', 'validate', '--file', file)
  t.is(good.code, 0)
  t.regex(good.out, /its digest is [0-9a-f]{64}\.\nwarning {2}manifest\.phases: /u)
  t.regex((await line('playbooks', 'list')).out, /No playbooks yet/u)
  t.regex((await line('playbooks', 'create', '--file', file)).out, /^notes {2}draft {2}Release notes\n {2}1 {2}draft/u)
  const digest = judged(manifest({ phases: [] }))
  const named = ['notes', '1', '--digest', digest]
  const published = await line('playbooks', 'publish', ...named, '--evidence', 'review:https://example.org/1')
  t.regex(published.out, /^notes {2}active 1 /u)
  t.deepEqual((await versionsOf(daemon))[0].evidence_refs, [{ kind: 'review', id: 'https://example.org/1' }])
  t.regex((await line('playbooks', 'publish', ...named)).err, /--evidence/u)
  t.regex((await line('playbooks', 'get', 'notes')).out, new RegExp(`1 {2}active {2}${digest}`, 'u'))
  t.regex((await line('playbooks', 'list', '--status', 'active')).out, /^notes/u)
  const revoked = await line('playbooks', 'revoke', 'notes', '1', 'It is wrong.', '--digest', digest)
  t.regex(revoked.out, /revoked .*It is wrong\./u)
  await line('sessions', 'create', 's1')
  const late = await line('flows', 'start', 's1', ...named.slice(0, 2), 'go', '--digest', digest)
  t.regex(late.err, /is revoked; [^]*a revoked version stays revoked: name another one/u)
  writeFileSync(file, JSON.stringify(manifest({ playbook_id: 'a b' })))
  const unnamed = (await line('playbooks', 'create', '--file', file)).err
  t.regex(unnamed, /playbook_id of --file must be an id without blanks/u)
  t.notRegex(unnamed, /manifest-json|\\p/u)
  writeFileSync(file, '{\n  "manifest": tru\n}')
  const half = (await line('playbooks', 'create', '--file', file)).err
  t.regex(half, /manifest\.json, line 2, column 15: there must be a value/u)
})
