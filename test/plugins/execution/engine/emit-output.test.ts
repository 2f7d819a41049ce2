/** Outputs with files; docs/rules/runs.md. */
import test from 'ava'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { day, retain, stand, weekOfRuns } from '../../../support/retention.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'
import { deleteInOutputs } from '../../../support/sent-files.js'

const start = async (t: any, root?: string): Promise<TestDaemon> => {
  const daemon = await startTestDaemon(t, { ...(root !== undefined && { root }) })
  await openSession(daemon)
  return daemon
}
const store = async ({ request }: TestDaemon, text: string, file_name = 'notes.md'): Promise<string> => {
  const content_base64 = Buffer.from(text).toString('base64')
  return (await request('POST', '/v1/assets', { file_name, media_type: 'text/markdown', content_base64 })).body.asset_id
}
const emit = (input: object): string => `/tool emit_output ${JSON.stringify(input)}\n---\n/say done`
/** The outputs of a run that sends something and then ends. */
const sent = async (daemon: TestDaemon, input: object): Promise<{ run_id: string; outputs: any[] }> => {
  const { run_id } = await submit(daemon, 's1', emit(input))
  return { run_id, outputs: (await until(daemon, run_id, 'completed')).outputs.slice(0, -1) }
}
const idsOf = (files: any[] = []): string[] => files.map(({ id }) => id)
const referencesOf = async ({ request }: TestDaemon, asset_id: string): Promise<any[]> =>
  (await request('GET', `/v1/assets/${asset_id}/references`)).body.references

test('runs-51: an output shows words and files in their order, and its content is the plain text of both', async (t) => {
  const daemon = await start(t)
  const [a, b] = [await store(daemon, '# A', 'a.md'), await store(daemon, '# B', 'b\u202e.md')]
  const { run_id, outputs } = await sent(daemon, {
    parts: [
      { type: 'text', text: '  First\n' },
      { type: 'asset', asset_id: a },
      { type: 'text', text: ' ' },
      { type: 'asset', asset_id: b },
    ],
    content: 'for those who see no parts',
  })
  const [output] = outputs
  t.regex(output.content, /^First\n\[file a\.md, text\/markdown\]\n\[file "b\S+\.md", text\/markdown\]$/u)
  t.false(output.content.includes('\u202e'))
  t.like(output.parts, { 0: { type: 'text', text: '  First\n' }, length: 3 })
  t.like(output.parts[1], { type: 'attachment', attachment: { id: a, media_type: 'text/markdown', file_name: 'a.md' } })
  t.false('artifacts' in output)
  t.deepEqual((await daemon.request('GET', '/v1/sessions/s1/events')).body.daemon_outputs[0].parts, output.parts)
  const events = (await daemon.request('GET', `/v1/runs/${run_id}/events`)).body
  t.deepEqual(events.find(({ event }: any) => event.type === 'output').event.output, output)
})

test('runs-52: files that go along are artifacts; they are shown where that is asked, and where nothing else is said', async (t) => {
  const daemon = await start(t)
  const [a, b] = [await store(daemon, '# A'), await store(daemon, '# B')]
  const along = (await sent(daemon, { content: 'See', artifact_ids: [a, b, a] })).outputs[0]
  t.deepEqual(idsOf(along.artifacts), [a, b])
  t.deepEqual([along.content, along.parts], ['See', [{ type: 'text', text: 'See' }]])
  const input = {
    content: 'See',
    parts: [{ type: 'asset', asset_id: a }],
    artifact_ids: [a, b],
    include_artifacts_inline: true,
  }
  const inline = (await sent(daemon, input)).outputs[0]
  t.deepEqual(
    inline.parts.map(({ attachment, text }: any) => attachment?.id ?? text),
    ['See', a, b],
  )
  t.deepEqual(idsOf(inline.artifacts), [a, b])
  const alone = (await sent(daemon, { artifact_ids: [b] })).outputs[0]
  t.deepEqual(idsOf(alone.parts.map(({ attachment }: any) => attachment)), [b])
  t.is(alone.content, '[file notes.md, text/markdown]')
})

test('runs-52: an output with an unknown file, with too many files or with nothing in it is not sent', async (t) => {
  const daemon = await start(t)
  const a = await store(daemon, '# A')
  const many = await Promise.all(Array.from({ length: 33 }, (_, at) => store(daemon, `# ${at}`)))
  for (const [input, code] of [
    [{ content: 'x', artifact_ids: ['asset_none'] }, 'asset_not_found'],
    [{ parts: [{ type: 'asset', asset_id: 'asset_none' }] }, 'asset_not_found'],
    [{ artifact_ids: many }, 'output_files_limit'],
    [{ parts: [{ type: 'text', text: ' ' }], content: '\n' }, 'output_empty'],
  ] as const) {
    const { run_id, outputs } = await sent(daemon, input)
    t.deepEqual(outputs, [], code)
    const { journal } = (await daemon.request('GET', '/v1/sessions/s1/events?after=0')).body.session
    const told = journal.filter((one: any) => one.type === 'outcome' && one.run_id === run_id)
    t.deepEqual(
      told.map(({ entry }: any) => entry.output.error.code),
      [code],
    )
  }
  t.deepEqual(await referencesOf(daemon, a), [])
  t.is((await sent(daemon, { artifact_ids: many.slice(1) })).outputs[0].artifacts.length, 32)
})

test('runs-53: a file that a run put out is named by the run and by its session, and cannot be deleted', async (t) => {
  const root = await freshRoot()
  const first = await start(t, root)
  const a = await store(first, '# A')
  await sent(first, { content: 'none' })
  const { run_id } = await submit(
    first,
    's1',
    `/emit first\n---\n${emit({ content: 'x', parts: [{ type: 'asset', asset_id: a }], artifact_ids: [a] })}`,
  )
  await until(first, run_id, 'completed')
  const runs = { domain: 'runs', owner_id: run_id, hard: true, parent_id: 's1', detail_id: 'output:1' }
  const session = { ...runs, domain: 'session_outputs', owner_id: 's1', parent_id: run_id }
  const expected = [
    { ...runs, role: 'output_part' },
    { ...runs, role: 'output_artifact' },
    { ...session, role: 'output_part' },
    { ...session, role: 'output_artifact' },
  ]
  t.deepEqual(await referencesOf(first, a), expected)
  await first.stop()
  const daemon = await start(t, root)
  t.deepEqual(await referencesOf(daemon, a), expected)
  t.deepEqual(codeOf(await daemon.request('DELETE', `/v1/assets/${a}`)), [409, 'asset_delete_blocked'])
  t.is((await daemon.request('POST', '/v1/assets/gc', { dry_run: false })).body.deleted_count, 0)
})

test('runs-53: what a run put out may be deleted when the run has fallen', async (t) => {
  const daemon = await stand(t, weekOfRuns)
  await openSession(daemon)
  const a = await store(daemon, '# A')
  const { run_id } = await sent(daemon, { artifact_ids: [a] })
  await retain(daemon, true)
  t.is((await referencesOf(daemon, a)).length, 4)
  daemon.clock.leap(20 * day)
  await retain(daemon, false)
  t.deepEqual(codeOf(await daemon.request('GET', `/v1/runs/${run_id}`)), [404, 'run_expired'])
  t.deepEqual(await referencesOf(daemon, a), [])
  t.is((await daemon.request('DELETE', `/v1/assets/${a}`)).status, 200)
})

test('runs-53: it may be deleted also while what the fallen run had stays for the sake of another', async (t) => {
  const root = await freshRoot()
  const first = await stand(t, weekOfRuns, root)
  await openSession(first)
  await openSession(first, 's2')
  const waiting = await submit(first, 's2', '/ask Well? | A | B')
  await until(first, waiting.run_id, 'waiting_for_user_question')
  const a = await store(first, '# A')
  await sent(first, { artifact_ids: [a] })
  await retain(first, true)
  first.clock.leap(day)
  await sent(first, { artifact_ids: [a] })
  const counted = async ({ request }: TestDaemon) => (await request('GET', `/v1/assets/${a}/references`)).body
  t.like(await counted(first), { hard_reference_count: 8, pagination: { total_count: 8 } })
  first.clock.leap(7.5 * day)
  await retain(first, true)
  t.regex((await retain(first, false)).stays[0], /may have a part/u)
  const half = await counted(first)
  t.deepEqual([half.hard_reference_count, half.references.length], [4, 4], 'one of two runs fell')
  await first.stop()
  const daemon = await stand(t, weekOfRuns, root)
  t.deepEqual(await counted(daemon), half)
  daemon.clock.leap(40 * day)
  await retain(daemon, true)
  await retain(daemon, false)
  t.like(await counted(daemon), { hard_reference_count: 0, references: [] })
  t.is((await daemon.request('DELETE', `/v1/assets/${a}`)).status, 200)
})

test('runs-53: of a hundred deletions in the middle of an output each comes first and fails it, or is refused', (t) =>
  deleteInOutputs(t, 5))
