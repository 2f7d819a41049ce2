/** Runs with an approval in their middle whose daemon is killed in front of each step that it does on its disk. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { freshRoot, spawnDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { startOpenAiServer, type Asked, type Reply } from '../../../support/openai-server.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { vendors, type Vendor } from '../../../support/vendors.js'
import { partOf } from '../../../support/volume.js'

const preload = pathToFileURL(join(import.meta.dirname, '../../../support/kill-step.js')).href
/** Grok is asked by the protocol of OpenAI. */
const grok = vendors.filter(({ provider }) => provider === 'openai').map((vendor) => ({ ...vendor, provider: 'xai' }))
/** More than the steps of such a run. */
const most = 200

/** Acts, then says what it was told of that. */
const model = (vendor: Vendor, asked: Asked): Reply => {
  if (vendor.told(asked).at(-1)?.startsWith('result') !== true)
    return vendor.calling({ id: 'call_e', name: 'bash', input: '{"command":"echo done >> effects"}' })
  return vendor.saying(/outcome_unknown|unknown/u.test(JSON.stringify(asked.body)) ? 'Nobody knows.' : 'Acted.')
}

/** Drives the run of the session to its end, in whatever state it is found. */
const drive = async (daemon: SpawnedDaemon): Promise<any> => {
  await openSession(daemon)
  const [found] = (await daemon.request('GET', '/v1/runs?session_id=s1')).body
  const { run_id } = found ?? (await submit(daemon, 's1', 'Act.'))
  const run = await until(daemon, run_id, 'waiting_for_approval', 'completed', 'failed')
  if (run.status !== 'waiting_for_approval') return run
  const resolutions = [{ request_id: run.pending_approval_ids[0], behavior: 'allow' }]
  await daemon.request('POST', `/v1/runs/${run_id}/approvals`, { resolutions })
  return until(daemon, run_id, 'completed', 'failed')
}

/** One run on a fresh root, killed in front of step `at`; `killed` is false where it had fewer. */
const live = async (t: ExecutionContext, vendor: Vendor, url: string, at: number) => {
  const [root, workspace] = [await freshRoot(), await freshRoot()]
  t.teardown(() => [root, workspace].forEach((path) => rmSync(path, { recursive: true, force: true })))
  mkdirSync(workspace, { recursive: true })
  const name = vendor.provider === 'xai' ? 'grok-4' : 'm'
  const flags = [
    ['--provider', vendor.provider, '--provider-base-url', url, '--model', name, '--api-key', 'k'],
    ['--workspace-root', workspace],
  ].flat()
  const when = join(workspace, 'now')
  const first = await spawnDaemon({
    root,
    flags,
    env: { NODE_OPTIONS: `--import ${preload}`, KILL_AT: String(at), KILL_WHEN: when },
  })
  writeFileSync(when, '')
  const ended = await Promise.race([drive(first).catch(() => first.exited.then(() => undefined)), first.exited])
  const killed = ended?.status === undefined
  await first.kill('SIGKILL')
  const second = await spawnDaemon({ root, flags })
  const run = await drive(second)
  await second.stop()
  let effects = ''
  try {
    effects = readFileSync(join(workspace, 'effects'), 'utf8')
  } catch {
    // Nothing was done.
  }
  return { run, killed, effects }
}

for (const [place, vendor] of [...vendors, ...grok].entries())
  test.serial(
    `models-37: with ${vendor.provider} a run with an approval in its middle, killed in front of any step on the disk, has one effect and the right answer`,
    async (t) => {
      const server = await startOpenAiServer((asked) => model(vendor, asked))
      t.teardown(() => server.close())
      let [steps, unknown, killed] = [0, 0, true]
      // The steps are those of the daemon, whatever its model speaks: of the others each tries some of them.
      for (let at = 1 + (place % 3); killed && at < most; at += place === 0 ? partOf(2, 1) : partOf(8, 3)) {
        const life = await live(t, vendor, server.url, at)
        killed = life.killed
        steps += 1
        const said = life.run.outputs?.map(({ content }: { content: string }) => content)
        const where = `${vendor.provider} in front of step ${at}: ${JSON.stringify(said)} ${life.run.error}`
        // A command that a kill cut off has an outcome that nobody knows: it is told so, and never made again.
        if (said?.[0] === 'Nobody knows.') {
          unknown += 1
          t.true(['', 'done\n'].includes(life.effects), where)
        } else t.deepEqual([said, life.effects], [['Acted.'], 'done\n'], where)
      }
      t.false(killed)
      // How many there are follows from what comes together in one commit.
      t.true(steps > (place === 0 ? 8 : 1) && unknown < steps, `${steps} steps, ${unknown} unknown`)
      t.log(`${steps - 1} kills, ${unknown} in the middle of the command`)
    },
  )
