/** Agents in worktrees whose daemon is killed again and again: what git knows, and what the daemon says, is the same. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { call } from '../../../support/agents.js'
import { spawnDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { rootForKills } from '../../../support/folders.js'
import { checkObjects, checkSound, git, hasGit, makeRepository, worktreesOf } from '../../../support/repositories.js'
import { openSession, submit } from '../../../support/runs.js'
import { partOf } from '../../../support/volume.js'

const clock = createClock()
const inGit = hasGit ? test : test.skip
const over = ['completed', 'failed', 'interrupted', 'cancelled']
const kills = partOf(8, 20)

/** Numbers below 1, the same for the same seed. */
const numbers = (seed: number) => {
  let state = seed
  return (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

/** One leaves a file, one a commit, one nothing. */
const works = [
  call('bash', { command: 'echo left > left.txt' }),
  call('bash', { command: 'echo more >> a.txt && git -c user.name=t -c user.email=t@e commit -qam more' }),
  call('bash', { command: 'cat a.txt' }),
]
const lead = works
  .map((work, n) =>
    call('spawn_agent', { name: `w${n}`, prompt: `/sleep ${n * 40}\n${work}\n/say done`, isolation: 'worktree' }),
  )
  .join('\n')

const openRuns = async ({ request }: SpawnedDaemon): Promise<any[]> =>
  (await request('GET', '/v1/runs?limit=100')).body.filter(({ status }: any) => !over.includes(status))

inGit(
  'agents-1, worktrees-13: through kills git knows the worktrees that the daemon lists, and is sound',
  async (t) => {
    const [root, workspace] = [rootForKills(), await makeRepository(t)]
    t.teardown(() => rmSync(root, { recursive: true, force: true }))
    const flags = ['--workspace-root', workspace, '--permission-mode', 'bypassPermissions']
    const boot = (): Promise<SpawnedDaemon> => spawnDaemon({ root, flags })
    const random = numbers(5)
    const head = git(workspace, 'rev-parse', 'HEAD')
    let daemon = await boot()
    const begin = async (session: string): Promise<void> => {
      await openSession(daemon, session)
      await submit(daemon, session, lead)
    }
    for (let kill = 0; kill < kills; kill += 1) {
      if (kill % 4 === 0) await begin(`s${kill}`)
      await clock.sleep(random() * 700)
      await daemon.kill('SIGKILL')
      checkObjects(workspace)
      daemon = await boot()
    }
    // Of these nothing is cut off.
    await begin('last')
    while ((await openRuns(daemon)).length > 0) await clock.sleep(50)
    const listed = async (): Promise<any[]> => (await daemon.request('GET', '/v1/worktrees')).body
    while ((await listed()).some(({ state }) => state !== 'kept')) await clock.sleep(50)
    const kept = await listed()
    const paths = kept.map(({ path }) => path).toSorted()
    t.deepEqual(worktreesOf(workspace).toSorted(), paths, 'what git lists')
    for (const { path } of kept) t.true(existsSync(path))
    t.true(kept.some(({ path }) => existsSync(join(path, 'left.txt'))))
    t.true(kept.some(({ path }) => readFileSync(join(path, 'a.txt'), 'utf8').includes('more')))
    t.is(git(workspace, 'rev-parse', 'HEAD'), head, 'the workspace is as it was')
    t.is(git(workspace, 'status', '--porcelain'), '')
    const agents: any[] = (await daemon.request('GET', '/v1/agents/summaries')).body
    t.is(agents.filter(({ parent_agent_id }) => parent_agent_id !== undefined).length, (kills / 4 + 1) * works.length)
    for (const { run_id } of kept) await daemon.request('DELETE', `/v1/worktrees/${run_id}`)
    t.deepEqual([worktreesOf(workspace), await listed()], [[], []])
    await daemon.stop()
    checkSound(workspace)
  },
)
