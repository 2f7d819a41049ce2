import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { launch } from '../../../core/processes/launch.js'
import { processesFor } from '../../support/processes.js'

const moduleOf = (path: string): string => JSON.stringify(new URL(`../../../${path}`, import.meta.url).href)
/** Takes every descriptor that the process may have, then tries to start a command; twice if it could before. */
const script = `
import { closeSync, openSync } from 'node:fs'
const { launch } = await import(${moduleOf('core/processes/launch.js')})
const { createProcesses } = await import(${moduleOf('core/processes/processes.js')})
const { createClock } = await import(${moduleOf('core/base/clock.js')})
const { createIds } = await import(${moduleOf('core/base/ids.js')})
const none = () => {}
const processes = createProcesses({ ids: createIds(createClock()), log: { debug: none, warn: none } })
const attempt = async (command = 'true', others = undefined) => {
  const { program, exited, group = null } = await launch(processes, { run: command, folder: '/', environment: {}, marker: 'm' })
  if (others !== undefined) {
    await others()
    program.kill()
  }
  const exit = await exited
  program.stdout.resume()
  program.stderr.resume()
  await program.closed
  return { exit, group: group && 'group' }
}
const results = []
if (process.argv[1] === 'warm') for (let n = 0; n < 3; n += 1) results.push(await attempt())
const held = []
try { for (;;) held.push(openSync('/dev/null', 'r')) } catch {}
// They stay, so that none gives descriptors to another.
let tell
const all = new Promise((resolve) => (tell = resolve))
let left = 4
const others = () => {
  left -= 1
  if (left === 0) tell()
  return all
}
results.push(...(await Promise.all(Array.from({ length: 4 }, () => attempt('exec sleep 300', others)))))
for (const file of held) closeSync(file)
results.push(await attempt())
await processes.close()
console.log(JSON.stringify(results))
`
const good = { exit: { started: true, lost: false, code: 0, signal: null }, group: 'group' }
const killed = { exit: { ...good.exit, code: null, signal: 'SIGKILL' }, group: 'group' }
const refused = { exit: { started: false, lost: false, code: null, signal: null }, group: null }

for (const [what, ...before] of [['cold'], ['warm', good, good, good]] as const)
  test(`a command that cannot be started for want of descriptors ends as not started, nothing else ends, and the next one can (${what})`, async (t) => {
    const child = spawn('/bin/sh', [
      '-c',
      'ulimit -n 64; exec "$0" --input-type=module -e "$1" "$2"',
      process.execPath,
      script,
      what,
    ])
    const [out, complaint] = await Promise.all([text(child.stdout), text(child.stderr)])
    t.is(complaint, '')
    const results = JSON.parse(out)
    t.deepEqual(results.slice(0, before.length), before)
    t.deepEqual(results.at(-1), good)
    const without = results.slice(before.length, -1)
    // What was connected ahead of need still serves.
    t.true(without.some(({ group }: { group: unknown }) => group === null))
    for (const result of without) t.deepEqual(result, result.group === null ? refused : killed)
  })

test('a program that is not there is told without lines of what starts it', async (t) => {
  const wish = { run: ['no-such-program'], marker: 'm', folder: '/', environment: { PATH: '/usr/bin:/bin' } }
  const { program, exited } = await launch(processesFor(t), wish)
  t.regex(await text(program.stderr), /^\S+: (?:line 1: |1: )?exec: no-such-program: not found\n$/u)
  t.is((await exited).code, 127)
})

test('a command in a folder that is gone, or with an environment that no process can have, was not started', async (t) => {
  const processes = processesFor(t)
  for (const wish of [
    { folder: '/nowhere/at/all', environment: {} },
    { folder: '/', environment: { LONG: 'x'.repeat(3_000_000) } },
  ]) {
    const { program, exited, group } = await launch(processes, { run: 'true', marker: 'm', ...wish })
    t.false((await exited).started)
    t.is(group, undefined)
    await program.closed
  }
})
