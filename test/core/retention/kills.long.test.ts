/** A process that is killed while something falls: docs/rules/retention.md. */
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { verifyShipped } from '../../support/copied-root.js'
import { createCommandLine } from '../../support/command-line.js'
import { freshRoot, spawnMain, startTestDaemon } from '../../support/daemon.js'
import { createLeapingClock } from '../../../core/testing/leaping-clock.js'
import { complete, day } from '../../support/retention.js'
import { codeOf, openSession } from '../../support/runs.js'

const preload = pathToFileURL(join(import.meta.dirname, '../../support/kill-behind.js')).href

/** A root that nobody holds, with a run that is due. */
const dueRoot = async (t: ExecutionContext): Promise<{ readonly root: string; readonly run_id: string }> => {
  const [root, past] = [await freshRoot(), createLeapingClock()]
  past.jump(-100 * day)
  const daemon = await startTestDaemon(t, { root, clock: past })
  await openSession(daemon)
  const run_id = await complete(daemon, 'long ago')
  await daemon.stop()
  mkdirSync(join(root, 'config'), { recursive: true })
  return { root, run_id }
}

/** A copy of it with a folder for archives. */
const copyWithArchives = async (from: string) => {
  const [root, folder] = [await freshRoot(), await freshRoot()]
  cpSync(from, root, { recursive: true })
  mkdirSync(folder, { recursive: true })
  const config = `archive_dir = ${JSON.stringify(folder)}\n[kinds.runs]\nmax_age = "30d"\n`
  writeFileSync(join(root, 'config/retention.toml'), config)
  const archives = (): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) =>
      name.endsWith('.gz') ? [join(folder, name)] : [],
    )
  return { root, archives }
}

/** Renames behind that of the archive after which the process is killed: more than there are. */
const most = 12

test('retention-7: killed behind the archive, a run is there whole or fell, and each archive has it', async (t) => {
  const { root: from, run_id } = await dueRoot(t)
  const line = createCommandLine({ url: 'http://127.0.0.1:1' })
  const ends: string[] = []
  for (let renames = 0; renames < most && ends.at(-1) !== 'not killed'; renames += 1) {
    const { root, archives } = await copyWithArchives(from)
    const env = { NODE_OPTIONS: `--import ${preload}`, KILL_BEHIND: `.ndjson.gz${' '.repeat(renames)}` }
    const { signal } = await spawnMain(['state', 'retention', '--state-root', root], env).exited
    t.is(archives().length, 1)
    const daemon = await startTestDaemon(t, { root })
    const answer = await daemon.request('GET', `/v1/runs/${run_id}`)
    const events = await daemon.request('GET', `/v1/runs/${run_id}/events`)
    await daemon.stop()
    const isThere = answer.status === 200
    if (isThere) t.is(events.body.at(-1).event.type, 'completed')
    else t.deepEqual([codeOf(answer), codeOf(events)], Array(2).fill([404, 'run_expired']))
    t.deepEqual((await verifyShipped(root)).findings, [])
    const { out } = await line('state', 'retention', '--state-root', root)
    t.regex(out, isThere ? /^fell: runs: 1 record / : /^Nothing fell\./u)
    t.is(archives().length, isThere ? 2 : 1)
    for (const archive of archives()) {
      const stored = await line('state', 'show', 'runs', run_id, '--archive', archive)
      t.is(JSON.parse(stored.out).run_id, run_id, stored.err)
    }
    ends.push(signal === null ? 'not killed' : isThere ? 'is there' : 'fell')
  }
  t.deepEqual([...new Set(ends)], ['is there', 'fell', 'not killed'], ends.join())
})
