import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'ava'
import type { SupervisedProgram } from '../../../core/processes/contract.js'
import { rootTag } from '../../../core/processes/marker.js'
import { readProcesses } from '../../../core/state/root/process-table.js'
import { supervisedFor } from '../../support/processes.js'

const environment = { PATH: process.env['PATH'] ?? '' }

/** What it said first. One that was refused or lost says nothing, and never will. */
const begun = async ({ stdout, exited }: SupervisedProgram): Promise<string> => {
  const [line] = await Promise.race([
    once(stdout, 'data'),
    exited.then((exit) => Promise.reject(new Error(`it ended before it began: ${JSON.stringify(exit)}`))),
  ])
  return String(line)
}

test('a supervised program is found by its name, reads its input, and is marked with its name', async (t) => {
  const supervised = supervisedFor(t, '/a root')
  const script = 'read -r a; echo "$1 $a $SERVICE_SHELL_TASK_ID"'
  const program = await supervised.start({
    run: ['sh', '-c', script, 'sh', 'with "quotes"'],
    name: 'mine',
    folder: '/',
    environment,
    input: true,
  })
  program.input?.end('hello\n')
  t.is(await text(program.stdout), `with "quotes" hello ${rootTag('/a root')}.1.mine\n`)
  t.deepEqual(await program.exited, { started: true, lost: false, code: 0, signal: null })
  await program.letGo()
})

test('a stop of a supervised program with an open input ends everything it started', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'supervised-'))
  t.teardown(() => rmSync(root, { recursive: true }))
  // The handles of programs keep no process alive, and a daemon has others that do.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const supervised = supervisedFor(t, root)
  const left = async () => (await readProcesses()).filter(({ marker }) => marker?.startsWith(`${rootTag(root)}.`))
  const programs = []
  for (let n = 0; n < 2; n += 1) {
    const program = await supervised.start({
      run: `trap '' TERM; (setsid sleep 300 &); echo ready; cat; sleep 300`,
      folder: '/',
      environment,
      input: true,
    })
    await begun(program)
    programs.push(program)
  }
  t.true((await left()).length >= 4)
  const stopped = await supervised.stop(programs, 50)
  t.deepEqual(stopped.remaining, [])
  t.deepEqual(await left(), [])
  await Promise.all(programs.map((program) => program.letGo()))
})

test('what was remembered of a program is ended, also when nothing tells any more whose it is', async (t) => {
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const supervised = supervisedFor(t, '/another root')
  // A session of its own and no marker: its parent alone tells whose it is.
  const run = `env -i setsid sh -c 'trap "" TERM; echo $$; exec sleep 300' & read -r _`
  const start = async () => {
    const program = await supervised.start({ run, folder: '/', environment, input: true })
    return { program, pid: Number(await begun(program)) }
  }
  const isThere = async (wanted: number) => (await readProcesses()).some(({ pid }) => pid === wanted)
  const [first, second] = [await start(), await start()]
  await supervised.remember([first.program, second.program])
  first.program.input?.end()
  await first.program.exited
  t.true(await isThere(first.pid))
  t.deepEqual((await supervised.stop([first.program], 50)).remaining, [])
  t.false(await isThere(first.pid))
  t.true(await isThere(second.pid), 'the other one goes on')
  // Its first process ends by the first signal, and leaves one that does not.
  t.deepEqual((await supervised.stop([second.program], 50)).remaining, [])
  t.false(await isThere(second.pid))
  await Promise.all([first, second].map(({ program }) => program.letGo()))
})

test('at the end of the daemon nothing is left of a program whose stop is under way, or that nobody stops', async (t) => {
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const root = '/a root that ends'
  const supervised = supervisedFor(t, root)
  const left = async () => (await readProcesses()).filter(({ marker }) => marker?.startsWith(`${rootTag(root)}.`))
  const run = `trap '' TERM INT HUP PIPE; sleep 300 & echo ready; while :; do sleep 1; done`
  const start = async () => {
    const program = await supervised.start({ run, folder: '/', environment })
    await begun(program)
    return program
  }
  const [stopping, forgotten] = [await start(), await start()]
  const stopped = supervised.stop([stopping], 60_000)
  await supervised.close()
  t.deepEqual(await left(), [])
  t.deepEqual((await stopped).remaining, [])
  await Promise.all([stopping, forgotten].map((program) => program.letGo()))
})
