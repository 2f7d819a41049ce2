/** Ctrl-C amid the long work of a command: it ends at once with 130, says how things stand, and nothing looks finished. */
import test, { type ExecutionContext } from 'ava'
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createLeapingClock } from '../../../core/testing/leaping-clock.js'
import { runLine } from '../../support/command-line.js'
import { freshRoot, mainFile, spawnMain, spawnTestDaemon, startTestDaemon } from '../../support/daemon.js'
import { createPause } from '../../support/pause.js'
import { complete, day } from '../../support/retention.js'
import { openSession } from '../../support/runs.js'

const blobBytes = 400 * 1024 * 1024

/** A stopped root whose check and copy take a while, because of one large file. */
const largeRoot = async (t: ExecutionContext): Promise<{ readonly root: string; readonly blob: string }> => {
  const root = await freshRoot()
  const daemon = await startTestDaemon(t, { root })
  await openSession(daemon)
  await complete(daemon, 'hello')
  await daemon.stop()
  const hash = createHash('sha256')
  const piece = new Uint8Array(1024 * 1024)
  for (let done = 0; done < blobBytes; done += piece.length) hash.update(piece)
  const sha256 = hash.digest('hex')
  const blob = join(root, 'blobs/large', sha256.slice(0, 2), sha256)
  mkdirSync(dirname(blob), { recursive: true, mode: 0o700 })
  writeFileSync(blob, '', { mode: 0o600 })
  truncateSync(blob, blobBytes)
  return { root, blob }
}

const opens = (pid: number, wanted: RegExp): boolean => {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).some((fd) => {
    try {
      return wanted.test(readlinkSync(join(folder, fd)))
    } catch {
      return false
    }
  })
}

/** Starts a command, and resolves as soon as its process has a file of that name open. */
const startedUntil = async (t: ExecutionContext, amid: RegExp, line: readonly string[]) => {
  const started = spawnMain(line)
  const { child, text } = started
  while (child.exitCode === null && !opens(child.pid ?? 0, amid)) await setTimeout(2)
  t.is(child.exitCode, null, `it ended before it was interrupted: ${text.out}${text.err}`)
  return started
}

/** Presses Ctrl-C, which npm passes on once more, as soon as the process has a file of that name open. */
const interrupted = async (t: ExecutionContext, amid: RegExp, ...line: string[]) => {
  const { child, text, exited } = await startedUntil(t, amid, line)
  child.kill('SIGINT')
  await setTimeout(5)
  child.kill('SIGINT')
  const { code } = await exited
  return { code, ...text }
}

test.serial('state-35: an interrupt ends a check and a backup at once, and leaves none of a copy', async (t) => {
  const { root, blob } = await largeRoot(t)
  const inBlob = new RegExp(blob.slice(-64), 'u')
  const checked = await interrupted(t, inBlob, 'state', 'verify', '--state-root', root)
  t.deepEqual(checked, {
    code: 130,
    out: '',
    err: 'holdfast: Broken off. Nothing was changed, and nobody knows yet whether the root is clean. (interrupted)\n',
  })
  t.is((await interrupted(t, inBlob, 'state', 'repair', '--state-root', root)).code, 130)
  const [to, restored] = [await freshRoot(), join(await freshRoot(), 'restored')]
  const asBefore = (what: string, at: string): string =>
    `holdfast: Broken off. No ${what} was made, and ${at} is as it was before. (interrupted)\n`
  const copied = await interrupted(t, inBlob, 'backup', 'create', to, '--state-root', root)
  t.deepEqual(copied, { code: 130, out: '', err: asBefore('backup', to) })
  t.deepEqual(readdirSync(to), [])

  const asked = spawnMain(['backup', 'create', to, '--state-root', root])
  const pause = createPause()
  while (!existsSync(join(to, 'root/blobs'))) await pause()
  asked.child.kill('SIGTERM')
  t.is((await asked.exited).code, 130)
  t.is(asked.text.err, asBefore('backup', to), 'a service manager asks for the same')
  t.deepEqual(readdirSync(to), [])

  const made = await runLine('backup', 'create', to, '--state-root', root)
  t.is(made.code, 0, made.err)
  const compared = await interrupted(t, inBlob, 'backup', 'verify', to)
  t.deepEqual([compared.code, compared.out], [130, ''])
  // Whenever the key comes: while its code is loaded too, and before anybody hears it.
  for (let ms = 120; ms < 600; ms += 40) {
    const { child, exited } = spawnMain(['backup', 'verify', to])
    await setTimeout(ms)
    child.kill('SIGINT')
    const { code, signal } = await exited
    t.true(code === 130 || signal === 'SIGINT', `${ms} ms: ${code}`)
  }
  const inTarget = new RegExp(`^${restored}/`, 'u')
  const back = await interrupted(t, inTarget, 'backup', 'restore', to, '--to', restored)
  t.deepEqual(back, { code: 130, out: '', err: asBefore('root', restored) })
  t.false(existsSync(restored))
  t.is((await runLine('backup', 'verify', to)).code, 0)
})

test.serial('state-35: a service manager or a closed terminal ends the looks of a repair at once', async (t) => {
  const { root, blob } = await largeRoot(t)
  const inBlob = new RegExp(blob.slice(-64), 'u')
  const line = ['state', 'repair', '--state-root', root, '--apply']
  const endedBy = async (signal: 'SIGTERM' | 'SIGHUP', isAt = () => true): Promise<void> => {
    const { child, text, exited } = await startedUntil(t, inBlob, line)
    while (child.exitCode === null && !(isAt() && opens(child.pid ?? 0, inBlob))) await setTimeout(2)
    child.kill(signal)
    t.deepEqual({ ...(await exited), ...text }, { code: null, signal, out: '', err: '' })
  }
  await endedBy('SIGTERM')
  await endedBy('SIGHUP')
  const isLocked = (): boolean => existsSync(join(root, 'lock'))
  chmodSync(root, 0o755)
  await endedBy('SIGTERM', isLocked)
  t.true(isLocked(), 'it was ended amid the look behind the first one')
  chmodSync(join(root, 'data'), 0o755)
  const again = await runLine(...line)
  t.is(again.code, 0, again.err)
  t.true(again.out.endsWith('The root is clean.\n'), again.out)
})

test.serial(
  'state-35: a terminal that is closed amid a copy leaves none of it, and the command ends by its signal',
  async (t) => {
    const { root } = await largeRoot(t)
    const [to, ended] = [await freshRoot(), join(await freshRoot(), 'ended')]
    const line = `'${process.execPath}' '${mainFile}' backup create '${to}' --state-root '${root}' --progress`
    // The shell outlives the terminal, and says how the command ended.
    const shell = `trap '' HUP; ${line}; echo $? > '${ended}'`
    const terminal = spawn('script', ['-qec', shell, '/dev/null'], { stdio: ['pipe', 'ignore', 'ignore'] })
    const pause = createPause()
    while (!existsSync(join(to, 'root/blobs'))) await pause()
    terminal.kill('SIGKILL')
    while (!existsSync(ended) || readFileSync(ended, 'utf8') === '') await pause()
    t.is(readFileSync(ended, 'utf8'), '129\n')
    t.deepEqual(readdirSync(to), [])
  },
)

/** A root whose runs are more text than a pipe takes. */
const wordyRoot = async (t: ExecutionContext): Promise<string> => {
  const root = await freshRoot()
  const daemon = await startTestDaemon(t, { root })
  await openSession(daemon)
  for (let made = 0; made < 4; made += 1) await complete(daemon, 'word '.repeat(40_000))
  await daemon.stop()
  return root
}

test.serial('command-line-47: an interrupt ends the print of a long text whose reader waits', async (t) => {
  const root = await wordyRoot(t)
  const { child, exited } = spawnMain(['state', 'show', 'session_journal', 's1', '--state-root', root])
  await once(child.stdout, 'data')
  // The rest is more than a pipe takes.
  child.stdout.pause()
  await setTimeout(200)
  child.kill('SIGINT')
  t.is((await exited).signal, 'SIGINT')
})

test.serial('command-line-46: who does not wait for a daemon is told that it goes on', async (t) => {
  const { root } = await largeRoot(t)
  await spawnTestDaemon(t, { root })
  const to = await freshRoot()
  const { child, text, exited } = spawnMain(['backup', 'create', to, '--state-root', root])
  const pause = createPause()
  while (!existsSync(join(to, 'root'))) await pause()
  child.kill('SIGINT')
  t.is((await exited).code, 130)
  const file = join(to, 'backup.json')
  t.is(text.err, `holdfast: Broken off. The daemon goes on: ${file} is there once the backup is whole. (interrupted)\n`)
  while (!existsSync(file)) await pause()
  t.is((await runLine('backup', 'verify', to)).code, 0)
})

/** A stopped root whose runs and receipts are a hundred days old and are to fall, and the folder of its archives. */
const oldRoot = async (t: ExecutionContext): Promise<{ readonly root: string; readonly archives: string }> => {
  const [root, archives] = [await freshRoot(), await freshRoot()]
  const clock = createLeapingClock()
  clock.jump(-100 * day)
  const daemon = await startTestDaemon(t, { root, clock })
  await openSession(daemon)
  for (let made = 0; made < 12; made += 1) await complete(daemon, randomBytes(400_000).toString('base64'))
  await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'keyed', idempotency_key: 'once' })
  await complete(daemon, 'last')
  await daemon.stop()
  mkdirSync(join(root, 'config'), { recursive: true, mode: 0o700 })
  const text = `archive_dir = "${archives}"\n[kinds.runs]\nmax_age = "30d"\n`
  writeFileSync(join(root, 'config/retention.toml'), text, { mode: 0o600 })
  return { root, archives }
}

test.serial(
  'retention-11: an interrupt before a kind falls keeps it whole, and no archive says that it fell',
  async (t) => {
    const { root, archives } = await oldRoot(t)
    const line = ['state', 'retention', '--state-root', root]
    const would = await runLine(...line, '--dry-run')
    const broken = await interrupted(t, /\.part$/u, ...line)
    t.deepEqual(broken, {
      code: 130,
      out: '',
      err: 'holdfast: Broken off. Nothing fell. (interrupted)\n',
    })
    t.deepEqual(
      readdirSync(archives, { recursive: true }).filter((name) => String(name).includes('runs')),
      [],
    )
    t.is((await runLine('state', 'verify', '--state-root', root)).code, 0)
    t.is((await runLine(...line, '--dry-run')).out, would.out)
    const whole = await runLine(...line)
    t.deepEqual([whole.code, whole.out.match(/^fell: /gmu)?.length], [0, 2])
  },
)
