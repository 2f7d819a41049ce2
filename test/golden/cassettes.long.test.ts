import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { loadCassette } from '../../plugins/providers/streamed/cassette/load.js'
import { partingOf, stepsOf } from '../../plugins/providers/streamed/cassette/replay.js'
import { freshRoot, spawnDaemon, spawnMain, spawnTestDaemon, startTestDaemon } from '../support/daemon.js'
import { openSession, submit, until } from '../support/runs.js'
import { vendors } from '../support/vendors.js'
import { answered, cassetteOf, told } from './record-cassettes.js'

const files = {
  'package.json': '{"name":"mean","type":"module","private":true}\n',
  'mean.js':
    'export const mean = (values) => {\n  let sum = 0\n' +
    '  for (let at = 1; at < values.length; at += 1) sum += values[at]\n  return sum / values.length\n}\n',
  'mean.test.js':
    "import assert from 'node:assert'\nimport test from 'node:test'\nimport { mean } from './mean.js'\n\n" +
    "test('the mean of some values', () => assert.equal(mean([3, 4, 5]), 4))\n",
}
const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd, encoding: 'utf8' })

test('models-48: a played model finds a failing test of a real repository, mends it by real tools and tests again', async (t) => {
  const [root, workspace] = [await freshRoot(), await freshRoot()]
  t.teardown(() => [root, workspace].forEach((path) => rmSync(path, { recursive: true, force: true })))
  mkdirSync(workspace, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(workspace, name), text)
  git(workspace, 'init', '-q')
  git(workspace, 'add', '.')
  git(workspace, 'commit', '-qm', 'A mean that is wrong')
  const daemon = await spawnDaemon({
    root,
    flags: [
      ['--provider', 'anthropic', '--api-key', 'none', '--model', 'claude-opus-4-6'],
      ['--play-cassette', join(process.cwd(), 'test/golden/cassettes/mended-repository.cassette')],
      ['--workspace-root', workspace, '--permission-mode', 'bypassPermissions'],
    ].flat(),
  })
  await openSession(daemon)
  const run = await until(daemon, (await submit(daemon, 's1', 'A test fails. Mend it.')).run_id, 'completed', 'failed')
  t.is(run.error, undefined)
  t.is(run.outputs.at(-1).content, 'The mean left out the first value; the tests pass now.')
  const evidence = JSON.stringify((await daemon.request('GET', `/v1/runs/${run.run_id}/events?steps=true`)).body)
  const used = [...evidence.matchAll(/"tool_name":"(\w+)"/gu)].map(([, name]) => name)
  t.deepEqual([...new Set(used)], ['bash', 'read_file', 'apply_patch'], evidence)
  t.deepEqual(
    readdirSync(workspace)
      .filter((name) => name !== '.git')
      .sort(),
    Object.keys(files).sort(),
  )
  t.is(git(workspace, 'diff', '--stat').trim().split('\n').length, 2, 'one file was changed')
  const expected = { ...files, 'mean.js': files['mean.js'].replace('at = 1', 'at = 0') }
  for (const [name, text] of Object.entries(expected)) t.is(readFileSync(join(workspace, name), 'utf8'), text, name)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  t.notThrows(() => execFileSync(process.execPath, ['--test'], { cwd: workspace, env }))
})

for (const vendor of vendors) {
  test(`models-48: a run with ${vendor.provider} is played from pieces that were cut anywhere`, async (t) => {
    const cassette = await loadCassette(cassetteOf(vendor))
    const pieces = cassette.exchanges.flatMap(({ answer }) => answer)
    t.true(pieces.length > 50 && pieces.every((piece) => Buffer.byteLength(piece) <= 16), `${pieces.length} pieces`)
    const daemon = await startTestDaemon(t, {
      config: {
        models: { provider: vendor.provider, base_url: 'http://127.0.0.1:9/v1', model: 'm', api_key: 'none' },
        'streamed-models': { play_cassette: cassetteOf(vendor) },
      },
    })
    await openSession(daemon)
    const run = await until(daemon, (await submit(daemon, 's1', told)).run_id, 'completed', 'failed')
    t.is(run.error, undefined)
    t.is(run.outputs.at(-1).content, answered)
    t.deepEqual([run.usage.calls], [2])
  })

  test(`models-51: a cassette of ${vendor.provider} is shown step by step, and another one is told where it parts`, async (t) => {
    const cassette = await loadCassette(cassetteOf(vendor))
    const [first, second] = stepsOf(cassette)
    t.like(first, { provider: vendor.provider, model: 'm', status: 200, end: 'whole' })
    t.deepEqual(first?.asked, [{ who: 'user', text: told }])
    t.deepEqual(
      first?.said.calls.map(({ name, input }) => [name, JSON.parse(input)]),
      [['list_skills', {}]],
    )
    t.deepEqual([second?.asked.map(({ who }) => who), second?.said.text], [['tool'], answered])
    t.is(partingOf(cassette, cassette), undefined)
    const { exchanges } = cassette
    const changed = exchanges.map((one, at) =>
      at === 0 ? one : { ...one, answer: one.answer.join('').replaceAll('Keine', 'Eine').split(/(?=k)/u) },
    )
    t.like(partingOf(cassette, { ...cassette, exchanges: changed }), { path: 'answer.text', line: exchanges[1]?.line })
    t.like(partingOf(cassette, { ...cassette, exchanges: exchanges.slice(0, 1) }), { path: 'exchange', now: 'absent' })
  })

  test(`models-51: the line that a cassette of ${vendor.provider} is shown with plays it`, async (t) => {
    const { text, exited } = spawnMain(['replay', cassetteOf(vendor)])
    t.is((await exited).code, 0, text.err)
    const line = /^Play it without a server: holdfast serve --state-root NEW (.*)$/mu.exec(text.out)?.[1] ?? ''
    const daemon = await spawnTestDaemon(t, { root: await freshRoot(), flags: line.split(' ') })
    await openSession(daemon)
    const run = await until(daemon, (await submit(daemon, 's1', told)).run_id, 'completed', 'failed')
    t.deepEqual([run.error, run.outputs.at(-1).content], [undefined, answered])
  })
}
