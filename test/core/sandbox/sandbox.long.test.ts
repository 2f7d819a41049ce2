/** Jobs that do the worst that they can; docs/rules/sandbox.md. */
import test, { type ExecutionContext } from 'ava'
import { createServer } from 'node:net'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { getPriority } from 'node:os'
import { nullable, number, object, string } from '../../../core/base/schema.js'
import { Sandbox, type JobFamily, type JobLimits } from '../../../core/sandbox/contract.js'
import { startTestDaemon } from '../../support/daemon.js'
import { lender } from '../../support/plugins.js'

const mebibyte = 1024 * 1024
const Answer = object({ said: nullable(string()), length: number(), pid: number() })
const familyOf = (limits: Partial<JobLimits> = {}): JobFamily<any> => ({
  name: 'hostile',
  program: new URL('./hostile-program.js', import.meta.url),
  answer: Answer,
  limits: { ms: 20_000, memoryBytes: 400 * mebibyte, resultBytes: 16 * mebibyte, ...limits },
})

const start = async (t: ExecutionContext, limits: Partial<JobLimits> = {}) => {
  const lending = lender({ sandbox: Sandbox })
  const daemon = await startTestDaemon(t, { plugins: [lending.plugin] })
  const { sandbox } = lending.services()
  const family = familyOf(limits)
  const run = (deed: string, more: object = {}, job: object = {}) =>
    sandbox.run(family, { bytes: Buffer.from('abc'), options: { do: deed, ...more }, ...job })
  const echo = async (say = 'hello'): Promise<any> => {
    const result = await run('echo', { say })
    t.is(result.type, 'done', JSON.stringify(result))
    return result.type === 'done' ? result.answer : undefined
  }
  return { daemon, sandbox, family, run, echo }
}

const commandLines = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      } catch {
        return ''
      }
    })

test('sandbox-1: jobs of a family are done in a process of its own, one after the other, and files come back', async (t) => {
  const { run, echo } = await start(t)
  const first = await echo()
  t.deepEqual([first.said, first.length], ['hello', 3])
  const many = await Promise.all(Array.from({ length: 50 }, (_, at) => echo(`job ${at}`)))
  t.deepEqual(
    many.map(({ said }) => said),
    Array.from({ length: 50 }, (_, at) => `job ${at}`),
  )
  t.deepEqual([...new Set(many.map(({ pid }) => pid))], [first.pid])
  const filed = await run('files', { size: 12 * mebibyte })
  t.is(filed.type, 'done')
  if (filed.type !== 'done') return
  t.deepEqual([...filed.files.keys()], ['big', 'small'])
  t.true(Buffer.from(filed.files.get('big') ?? []).equals(Buffer.alloc(12 * mebibyte, 7)))
  t.is(Buffer.from(filed.files.get('small') ?? []).toString(), 'abc')
})

test('sandbox-2: a job that takes too long, crashes, ends or lies fails alone; the next is done', async (t) => {
  const { run, echo } = await start(t, { ms: 3_000 })
  for (const [deed, code] of [
    ['loop', 'timed_out'],
    ['wait', 'timed_out'],
    ['abort', 'crashed'],
    ['segv', 'crashed'],
    ['exit', 'crashed'],
    ['lie', 'unfit'],
    ['long', 'unfit'],
    ['strange', 'unfit'],
  ] as const) {
    await echo()
    const result = await run(deed)
    t.like(result, { type: 'failed', code }, deed)
    t.is((await echo('after')).said, 'after', deed)
  }
  t.like(await run('twice'), { type: 'failed', code: 'unfit' })
  t.is((await echo('mine')).said, 'mine', 'the second answer is nobody’s')
})

test('sandbox-10: a process that does not begin says nothing of the file, and the next family is not held up', async (t) => {
  const { daemon, sandbox, family, echo } = await start(t)
  const job = { bytes: Buffer.from(''), options: null }
  const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-program-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(path.join(folder, 'program.mjs'), 'throw new Error("no program at all")')
  const throwing = { ...family, program: pathToFileURL(path.join(folder, 'program.mjs')) }
  const narrow = { ...family, limits: { ...family.limits, memoryBytes: 2 * mebibyte } }
  for (const broken of [throwing, narrow]) {
    await t.throwsAsync(sandbox.run(broken, job), { code: 'sandbox_not_begun' })
    await t.throwsAsync(sandbox.run(broken, job), { code: 'sandbox_not_begun' }, 'the next one is tried')
  }
  t.regex(JSON.stringify(daemon.log.filter(({ level }) => level === 'error')), /did not begin.*no program at all/u)
  t.is((await echo()).said, 'hello')
})

test('sandbox-10: a process goes behind the daemon, and never before what the daemon itself goes behind', async (t) => {
  const worker = fileURLToPath(new URL('../../../core/sandbox/worker.js', import.meta.url))
  const program = new URL('./hostile-program.js', import.meta.url).href
  for (const [own, then] of [
    [0, 5],
    [5, 5],
    [10, 10],
  ]) {
    const child = spawn('nice', ['-n', String(own), process.execPath, worker, program], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    t.is(getPriority(child.pid ?? 0), then ?? 0)
  }
})

test('sandbox-3: memory is bounded, of the heap and beside it', async (t) => {
  const { run, echo } = await start(t, { memoryBytes: 250 * mebibyte })
  for (const deed of ['heap', 'buffers']) {
    const result = await run(deed)
    t.true(
      (result.type === 'failed' && result.code === 'crashed') || result.type === 'refused',
      `${deed} ${JSON.stringify(result)}`,
    )
  }
  t.is((await echo()).said, 'hello')
})

test('sandbox-4: more than may come back is not taken', async (t) => {
  const { run, echo } = await start(t, { resultBytes: mebibyte })
  t.like(await run('files', { size: mebibyte + 1 }), { type: 'failed', code: 'unfit' })
  t.is((await run('files', { size: mebibyte - 3 })).type, 'done')
  t.is((await echo()).said, 'hello')
})

test('sandbox-5: a refusal tells its reason, visibly and in few words; what only broke tells nothing', async (t) => {
  const { run } = await start(t)
  const refused = await run('refuse')
  t.is(refused.type, 'refused')
  const reason = refused.type === 'refused' ? refused.reason : ''
  t.true(reason.startsWith('it is ') && reason.endsWith('[31mred') && !reason.includes('\u001b'), reason)
  t.deepEqual(await run('throw'), { type: 'refused', reason: 'it cannot be read as what it says it is' })
})

test('sandbox-6: behind walls there is no network, no file of others, no variable, and nothing to write', async (t) => {
  const server = createServer((socket) => socket.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const { daemon, run, sandbox } = await start(t)
  const result = await run('look', { root: daemon.root, port })
  t.is(result.type, 'done', JSON.stringify(result))
  const walls = sandbox.walls()
  if (result.type !== 'done') return
  if (walls?.in_force !== true) return void t.log(`no walls here: ${walls?.reason}`)
  const { network, ...seen } = JSON.parse(result.answer.said)
  t.not(network, 'reached')
  t.deepEqual(seen, {
    passwd: 'ENOENT',
    root: 'absent',
    home: false,
    written: 'ENOENT',
    temporary: 'written',
    variables: [],
  })
})

test('sandbox-6: a program that lies in the temporary folder is seen behind walls too', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-program-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(
    path.join(folder, 'program.mjs'),
    'export const work = async () => ({ answer: { said: "there", length: 0, pid: 0 } })',
  )
  const { sandbox, family } = await start(t)
  const program = pathToFileURL(path.join(folder, 'program.mjs'))
  const result = await sandbox.run({ ...family, program }, { bytes: Buffer.from(''), options: null })
  t.like(result, { type: 'done', answer: { said: 'there' } })
})

test('sandbox-7: a job that is not wanted any more is ended, also while it waits', async (t) => {
  const { run, echo } = await start(t, { ms: 60_000 })
  await echo()
  const [one, two] = [new AbortController(), new AbortController()]
  const running = run('loop', {}, { signal: one.signal })
  const waiting = run('echo', {}, { signal: two.signal })
  two.abort(new Error('not that one'))
  setTimeout(() => one.abort(new Error('enough')), 100)
  await t.throwsAsync(running, { message: 'enough' })
  await t.throwsAsync(waiting, { message: 'not that one' })
  t.is((await echo()).said, 'hello')
})

test('sandbox-8: too much that waits is refused, and what waits is done', async (t) => {
  const { run, echo } = await start(t)
  const many = await Promise.allSettled(Array.from({ length: 100 }, () => run('echo')))
  const done = many.filter(({ status }) => status === 'fulfilled').length
  t.is(done, 64)
  for (const each of many) if (each.status === 'rejected') t.like(each.reason, { code: 'sandbox_busy' })
  t.is((await echo()).said, 'hello')
})

test('sandbox-9: nothing is left of a process that is ended, nor when the daemon stops', async (t) => {
  const mark = `left-${Date.now()}`
  const { daemon, run } = await start(t, { ms: 500 })
  t.is((await run('fork', { mark })).type, 'done')
  t.is(commandLines().filter((line) => line.includes(mark)).length, 1)
  await run('loop')
  t.is(commandLines().filter((line) => line.includes(mark)).length, 0)
  await run('fork', { mark })
  await daemon.stop()
  t.is(commandLines().filter((line) => line.includes(mark)).length, 0)
})

test('sandbox-1: the daemon goes on while jobs run, and does not grow', async (t) => {
  const { run, echo } = await start(t)
  await echo()
  const before = process.memoryUsage.rss()
  let turns = 0
  const count = (): void => void ((turns += 1), (turn = setImmediate(count)))
  let turn = setImmediate(count)
  const jobs = 10
  for (let at = 0; at < jobs; at += 1) await run('files', { size: 4 * mebibyte })
  clearImmediate(turn)
  t.true(turns > 3 * jobs, `${turns} turns: on a busy machine few are had, and none amid a job that is done here`)
  t.true(process.memoryUsage.rss() - before < 64 * mebibyte + 10 * 4 * mebibyte)
})
