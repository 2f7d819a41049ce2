import { spawn } from 'node:child_process'
import test from 'ava'

const module = new URL('../../core/stop-limit.js', import.meta.url).href

for (const [what, loop] of [
  ['is blocked', 'for (;;) {}'],
  ['runs nothing but microtasks', 'for (;;) await undefined'],
])
  test(`runtime-15: a process whose event loop ${what} ends when the limit of its stop is over, and says so`, async (t) => {
    const script = `import { limitStop } from '${module}'; limitStop({ ms: 300, line: 'too late\\n' }); ${loop}`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    const signal = await new Promise((resolve) => child.once('close', (_, by) => resolve(by)))
    t.is(signal, 'SIGKILL')
    t.is(said, 'too late\n')
  })

test('a process that ends in time is not kept by the limit of its stop', async (t) => {
  const script = `import { limitStop } from '${module}'; limitStop({ ms: 60_000, line: 'too late\\n' })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' })
  t.is(await new Promise((resolve) => child.once('close', (code) => resolve(code))), 0)
})
