/** A daemon that died and that its parent never asked for, as in a container whose first process is not made for it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { findHolder, isRunning, readOwner } from '../../../../core/state/root/owner.js'
import { freshRoot, mainFile, spawnMain, spawnTestDaemon } from '../../../support/daemon.js'

/** Its parent does nothing but sleep. */
const startUnreaped = async (t: ExecutionContext, root: string): Promise<number> => {
  const daemon = [process.execPath, mainFile, 'serve', '--bind', '127.0.0.1:0', '--state-root', root]
  const parent = spawn('/bin/sh', ['-c', '"$@" & exec sleep 300', 'sh', ...daemon], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'] ?? '', HOME: root },
  })
  t.teardown(() => parent.kill('SIGKILL'))
  await once(parent.stdout, 'data')
  return readOwner(join(root, 'owner.json'))?.pid ?? 0
}

const stateOf = (pid: number): string => /^\d+ \(.*\) (\w)/su.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? ''

/** SIGKILL, and the wait until the kernel keeps nothing but its number. */
const killUnreaped = async (pid: number): Promise<string> => {
  process.kill(pid, 'SIGKILL')
  for (let look = 0; look < 500 && isRunning(pid); look += 1)
    await new Promise((resolve) => {
      setTimeout(resolve, 10)
    })
  return stateOf(pid)
}

const run = async (...args: readonly string[]) => {
  const { text, exited } = spawnMain(args)
  const { code } = await exited
  return { code, said: `${text.out}${text.err}` }
}

test('state-1: a killed owner whom nobody reaped holds its root no more, for whoever asks', async (t) => {
  const root = await freshRoot()
  const pid = await startUnreaped(t, root)
  t.is(findHolder(root)?.pid, pid)
  t.is(await killUnreaped(pid), 'Z')
  t.is(findHolder(root), undefined)
  const verified = await run('state', 'verify', '--state-root', root)
  t.is(verified.code, 0, verified.said)
  t.notRegex(verified.said, /at work/u)
  for (const line of [
    ['state', 'repair'],
    ['backup', 'create', `${root}-backup`],
  ]) {
    const { code, said } = await run(...line, '--state-root', root)
    t.is(code, 0, `${line.join(' ')}: ${said}`)
  }
  await (await spawnTestDaemon(t, { root })).stop()
})
