/** `state retention` where no daemon holds the root, and what it says where some of it fails. */
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { noInterrupts } from '../../../core/base/interrupts.js'
import { noProgress, type Progress } from '../../../core/base/text/progress.js'
import { readConfig } from '../../../core/retention/policy.js'
import { retainStopped } from '../../../core/retention/retain-stopped.js'
import { shipped } from '../../../core/shipped.js'
import { createCommandLine, createLine } from '../../support/command-line.js'
import { freshRoot, startTestDaemon } from '../../support/daemon.js'
import { createLeapingClock } from '../../../core/testing/leaping-clock.js'
import { complete, day, statusOf } from '../../support/retention.js'
import { codeOf, openSession, until } from '../../support/runs.js'

/** A stopped root with runs and a receipt that are a hundred days old. */
const oldRoot = async (t: ExecutionContext, contents: readonly string[]): Promise<string> => {
  const root = await freshRoot()
  const clock = createLeapingClock()
  clock.jump(-100 * day)
  const daemon = await startTestDaemon(t, { root, clock })
  await openSession(daemon)
  for (const content of contents) await complete(daemon, content)
  const keyed = { content: 'keyed', idempotency_key: 'once' }
  await until(daemon, (await daemon.request('POST', '/v1/sessions/s1/runs', keyed)).body.run_id, 'completed')
  await daemon.stop()
  return root
}
const configure = (root: string, archive_dir: string): void => {
  mkdirSync(join(root, 'config'), { recursive: true, mode: 0o700 })
  const lines = [`archive_dir = "${archive_dir}"`, '[kinds.runs]', 'max_age = "30d"']
  writeFileSync(join(root, 'config/retention.toml'), `${lines.join('\n')}\n`, { mode: 0o600 })
}

interface Told {
  readonly what: string
  readonly bytes: number
  readonly steps: number[]
}
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

test('an archive tells how far it is, in about as many bytes as fall', async (t) => {
  const root = await oldRoot(t, ['one', 'two', 'x'.repeat(600_000)])
  const archive_dir = await freshRoot()
  mkdirSync(archive_dir, { recursive: true })
  const told: Told[] = []
  const progress: Progress = {
    begin: (what, bytes) => void told.push({ what, bytes, steps: [] }),
    advance: (bytes) => void told.at(-1)?.steps.push(bytes),
    end: () => {},
  }
  const retain = async (dry_run: boolean) =>
    retainStopped({
      root,
      config: readConfig({ table: { archive_dir, kinds: { runs: { max_age: '30d' } } } }, root),
      declared: await shipped.declarations(),
      complete: true,
      dry_run,
      progress,
      interrupts: noInterrupts,
    })
  await retain(true)
  t.deepEqual(told, [])
  const { parts, failed } = await retain(false)
  t.deepEqual(failed, [])
  t.deepEqual(
    told.map(({ what }) => what),
    ['archive runs', 'archive receipts'],
  )
  for (const { what, bytes, steps } of told) {
    t.is(bytes, parts.find(({ kind }) => `archive ${kind}` === what)?.bytes ?? 0)
    t.true(steps.length > 0, what)
  }
  const [runs] = told
  t.true((runs?.steps.length ?? 0) > 1)
  const share = sum(runs?.steps ?? []) / (runs?.bytes ?? 0)
  t.true(share > 0.5 && share < 1.5, `${share}`)
})

/** The longest path that Linux takes, in bytes. */
const longestPath = 4095
const moment = '2027-01-31T09-00-00-000Z'
const isTooLong = (own: string, of: string): boolean => join(own, `${of}-${moment}.ndjson.gz.part`).length > longestPath
/** A folder so deep that there is a path for archives of runs in it, and none for those of receipts. */
const deepFolder = async (t: ExecutionContext): Promise<string> => {
  const top = await freshRoot()
  t.teardown(() => rmSync(top, { recursive: true, force: true }))
  const rootId = '0'.repeat(32)
  let folder = top
  while (!isTooLong(join(folder, 'x'.repeat(200), rootId), 'receipts')) folder = join(folder, 'x'.repeat(200))
  const room = longestPath - join(folder, rootId, `runs-${moment}.ndjson.gz.part`).length
  folder = room < 2 ? folder : join(folder, 'x'.repeat(room - 1))
  t.deepEqual(
    ['runs', 'receipts'].map((of) => isTooLong(join(folder, rootId), of)),
    [false, true],
  )
  mkdirSync(folder, { recursive: true })
  return folder
}

const said =
  /^fell: runs: \d+ records? .*\n {2}kept in (.*)\ndid not fall: receipts: Of receipts nothing fell, because .*: ENAMETOOLONG\. \(archive_not_written\)\n$/u

test('retention-7: state retention ends with 1 where one kind fell and another could not be archived', async (t) => {
  const root = await oldRoot(t, ['one'])
  configure(root, await deepFolder(t))
  const copy = join(await freshRoot(), basename(root))
  mkdirSync(join(copy, '..'), { recursive: true })
  cpSync(root, copy, { recursive: true })
  const daemon = await startTestDaemon(t, { root: copy })
  const line = createCommandLine(daemon)
  for (const at of [root, copy]) {
    const { code, out, err } = await line('state', 'retention', '--state-root', at)
    t.deepEqual([code, err], [1, ''], out)
    const [, archive = ''] = said.exec(out) ?? []
    t.true(existsSync(archive), out)
    const again = await line('state', 'retention', '--state-root', at)
    t.deepEqual([again.code, again.out], [1, ''], 'nothing fell: that is the problem itself')
    t.regex(again.err, /ENAMETOOLONG.*archive_not_written/u)
  }
})

test('retention-7: POST /v1/retention answers 200 with what failed where something fell', async (t) => {
  const root = await oldRoot(t, ['one'])
  configure(root, await deepFolder(t))
  const daemon = await startTestDaemon(t, { root })
  const answer = await daemon.request('POST', '/v1/retention', { dry_run: false })
  t.is(answer.status, 200)
  t.like(answer.body.parts, [{ kind: 'runs' }])
  t.like(answer.body.failed, [{ kind: 'receipts', code: 'archive_not_written' }])
  const again = await daemon.request('POST', '/v1/retention', { dry_run: false })
  t.deepEqual(codeOf(again), [409, 'archive_not_written'])
})

test('retention-7: an archive that was broken off is told until a fall removes it, and so is one that is gone', async (t) => {
  const root = await oldRoot(t, ['one'])
  const archives = await freshRoot()
  configure(root, archives)
  const { root_id } = JSON.parse(readFileSync(join(root, 'root.json'), 'utf8'))
  const part = join(archives, root_id, `runs-${moment}.ndjson.gz.part`)
  mkdirSync(join(archives, root_id), { mode: 0o700 })
  writeFileSync(part, 'half')
  const line = createLine()
  const asked = await line('state', 'retention', '--state-root', root, '--dry-run')
  t.true(asked.out.includes(`warning: ${part} is an archive that was broken off`), asked.out)
  const fell = await line('state', 'retention', '--state-root', root)
  t.deepEqual([fell.code, fell.out.includes('warning: '), existsSync(part)], [0, false, false], fell.out)

  const daemon = await startTestDaemon(t, { root })
  const told = async () => (await createCommandLine(daemon)('status')).out.match(/(?<=^ {2}archive +)\/.*$/gmu)
  const [runs = '', receipts = ''] = (await told()) ?? []
  t.true(existsSync(runs), runs)
  rmSync(runs)
  t.deepEqual(await told(), [`${runs} (no longer there)`, receipts])
  writeFileSync(part, 'half')
  t.true(JSON.stringify(await statusOf(daemon)).includes('archive_unfinished'))
})

test('retention-11: an interrupt amid one kind keeps what fell before it, and all of that one', async (t) => {
  const root = await oldRoot(t, ['one'])
  const archive_dir = await freshRoot()
  const config = readConfig({ table: { archive_dir, kinds: { runs: { max_age: '30d' } } } }, root)
  const declared = await shipped.declarations()
  const parts = { root, config, declared, complete: true, dry_run: false, progress: noProgress }
  const brokenAt = (step: string) => {
    const broken = new AbortController()
    const begin = (what: string): void => {
      if (what === step) broken.abort(new Error('broken off'))
    }
    const interrupts = { ...noInterrupts, signal: broken.signal }
    return retainStopped({ ...parts, progress: { ...noProgress, begin }, interrupts })
  }
  await t.throwsAsync(
    brokenAt('archive runs'),
    { message: 'broken off' },
    'nothing fell, and that is all there is to tell',
  )
  const first = await brokenAt('archive receipts')
  t.deepEqual([first.parts.map(({ kind }) => kind), first.failed, first.left], [['runs'], [], ['receipts']])
  const [own = ''] = readdirSync(archive_dir)
  t.deepEqual(
    readdirSync(join(archive_dir, own)).map((name) => name.split('-', 1).join('')),
    ['runs'],
  )
  const kept = JSON.parse(readFileSync(join(root, 'documents/retention.json'), 'utf8'))
  t.deepEqual(Object.keys(kept.announced ?? kept.value.announced), ['runs'], 'what is left is told before it falls')
  const again = await retainStopped({ ...parts, interrupts: noInterrupts })
  t.deepEqual([again.parts.map(({ kind }) => kind), again.left], [['receipts'], undefined])
})
