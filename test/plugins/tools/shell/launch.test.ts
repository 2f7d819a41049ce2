import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { launch } from '../../../../plugins/tools/shell/launch.js'

const module = new URL('../../../../plugins/tools/shell/launch.js', import.meta.url).href
/** Takes every descriptor that the process may have, then tries to start a command. */
const script = `
import { closeSync, openSync } from 'node:fs'
const { launch, letGo } = await import(${JSON.stringify(module)})
const held = []
try { for (;;) held.push(openSync('/dev/null', 'r')) } catch {}
const launched = launch({ command: 'echo hi', folder: '/', environment: {}, marker: 'm' })
const exit = await launched.exited
await launched.closed
letGo(launched)
for (const file of held) closeSync(file)
console.log(JSON.stringify({ exit, group: launched.group ?? null }))
`

test('a command that cannot be started for want of descriptors ends as not started, and nothing else ends', async (t) => {
  const child = spawn('/bin/sh', [
    '-c',
    'ulimit -n 64; exec "$0" --input-type=module -e "$1"',
    process.execPath,
    script,
  ])
  const [out, complaint] = await Promise.all([text(child.stdout), text(child.stderr)])
  t.is(complaint, '')
  t.deepEqual(JSON.parse(out), { exit: { started: false, code: null, signal: null }, group: null })
})

test('a command in a folder that is gone, or with an environment that no process can have, was not started', async (t) => {
  for (const wish of [
    { folder: '/nowhere/at/all', environment: {} },
    { folder: '/', environment: { LONG: 'x'.repeat(3_000_000) } },
  ]) {
    const launched = launch({ command: 'true', marker: 'm', ...wish })
    t.false((await launched.exited).started)
    await launched.closed
  }
})
