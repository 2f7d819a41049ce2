/** Commands that are given a state root find the daemon that holds it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { runClient } from '../../../../core/cli/client-line.js'
import { urlOfHolder } from '../../../../core/cli/root/place.js'
import { shipped } from '../../../../core/shipped.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'

/** The owner's record, from the moment on when the daemon has written where it listens. */
const recordOf = async (file: string): Promise<any> => {
  for (let look = 0; look < 200; look += 1) {
    const read = JSON.parse(readFileSync(file, 'utf8'))
    if (read.bind !== undefined) return read
    await new Promise((resolve) => {
      setTimeout(resolve, 10)
    })
  }
  throw new Error('the daemon did not write where it listens')
}
const ownerOf = ({ root }: TestDaemon): string => join(root, 'owner.json')

const run = (...args: string[]) => runIn({}, ...args)

const runIn = async (environment: Readonly<Record<string, string>>, ...args: string[]) => {
  const printed: string[] = []
  const print = (text: string): void => void printed.push(text)
  const { signal } = new AbortController()
  const code = await runClient({ shipped, args, environment, signal, print })
  return { code, out: printed.join('\n') }
}

test('a daemon is found by its root, on whatever port it listens', async (t) => {
  const daemon = await startTestDaemon(t)
  const { bind } = await recordOf(ownerOf(daemon))
  t.is(`http://${bind}`, daemon.url)
  t.is((await run('state', 'retention', '--dry-run', '--state-root', daemon.root)).out, 'Nothing would fall.')
  const to = `${daemon.root}-backup`
  t.regex((await run('backup', 'create', to, '--state-root', daemon.root)).out, /backup\.json: /u)
})

test('where the root does not say it, the process that holds it is named', async (t) => {
  const daemon = await startTestDaemon(t)
  const { bind: _, ...record } = await recordOf(ownerOf(daemon))
  writeFileSync(ownerOf(daemon), JSON.stringify({ ...record, bind: '127.0.0.1:9' }))
  for (const line of [
    ['state', 'retention'],
    ['backup', 'create', `${daemon.root}-backup`],
  ])
    await t.throwsAsync(run(...line, '--state-root', daemon.root), {
      code: 'holder_unreachable',
      message: `Process ${process.pid} holds ${daemon.root}, and no daemon answers at http://127.0.0.1:9.`,
    })
})

test('an address in a root counts only if it is one of this machine: a token never leaves it', async (t) => {
  const daemon = await startTestDaemon(t)
  const record = await recordOf(ownerOf(daemon))
  const found = (bind: string): string | undefined => {
    writeFileSync(ownerOf(daemon), JSON.stringify({ ...record, bind }))
    return urlOfHolder({ 'state-root': daemon.root })
  }
  t.is(found('127.0.0.1:4001'), 'http://127.0.0.1:4001')
  t.is(found('0.0.0.0:4001'), 'http://127.0.0.1:4001')
  for (const bind of ['192.0.2.7:4001', 'example.org:4001', '127.0.0.1:4001@example.org:80', 'nonsense'])
    t.is(found(bind), undefined, bind)
})

test('command-line-31: where a daemon is named and no root, by the line or the environment, it is about the root of that daemon', async (t) => {
  const daemon = await startTestDaemon(t)
  const there = { SERVICE_DAEMON_URL: daemon.url }
  t.is((await runIn(there, 'state', 'retention', '--dry-run')).out, 'Nothing would fall.')
  t.regex((await runIn(there, 'backup', 'create', `${daemon.root}-backup`)).out, /backup\.json: /u)
  t.is((await run('state', 'retention', '--dry-run', '--base-url', daemon.url)).out, 'Nothing would fall.')
  await t.throwsAsync(run('state', 'retention', '--dry-run', '--state-root', `${daemon.root}-none`), {
    code: 'state_root_absent',
  })
})

test('the record of an owner is gone after the stop, also when its address was written late', async (t) => {
  const daemon = await startTestDaemon(t)
  await daemon.stop()
  t.throws(() => readFileSync(ownerOf(daemon)), { code: 'ENOENT' })
})
