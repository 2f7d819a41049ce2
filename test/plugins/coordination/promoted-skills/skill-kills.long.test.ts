/** A real process, killed at every step of what makes, activates and ends a skill. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import { spawnDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { rootForKills } from '../../../support/folders.js'
import { completed, procedure, promote, skillOf } from '../../../support/promoted.js'

const preload = pathToFileURL(join(import.meta.dirname, '../../../support/kill-step.js')).href

const agree = async (t: any, daemon: SpawnedDaemon, root: string): Promise<string> => {
  const { source_learning_id: of = 'none', digest, ...found } = await skillOf(daemon)
  const status = of === 'none' ? 'none' : found.status
  const file = join(root, 'skills/procedural', of, 'SKILL.md')
  const isActive = status === 'active'
  t.is(existsSync(file), isActive, status)
  const { status: answer, body } = await daemon.request('GET', '/v1/skills/notes')
  t.is(answer, isActive ? 200 : 404, status)
  if (isActive) t.true(readFileSync(file, 'utf8').includes(body.instructions))
  if (isActive) t.is(digest, body.digest)
  return status
}

test('promoted-skills-20, promoted-skills-22: through kills the files of a skill are as its record says', async (t) => {
  const root = rootForKills()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const ready = join(root, 'config', 'kill-now')
  const first = await spawnDaemon({ root })
  const learning = await procedure(first)
  const { body } = await first.request('GET', `/v1/runs/${await completed(first)}/events`)
  const said: string = body.find(({ event }: any) => event.type === 'output').event.output.content
  const expected_output_contains = said.slice(0, 10)
  await first.kill('SIGKILL')
  const show = async (daemon: SpawnedDaemon, kind: string) => {
    const run_id = await completed(daemon)
    return daemon.request('POST', `/v1/learning-skills/notes/rollout-result`, {
      kind,
      run_id,
      expected_output_contains,
    })
  }
  /** From wherever it is to active, or from active to the end. */
  const goOn = async (daemon: SpawnedDaemon): Promise<void> => {
    const steps = [
      () => daemon.request('POST', `/v1/learning-skills/notes/revoke`),
      () => promote(daemon, learning),
      () => show(daemon, 'verification'),
      () => promote(daemon, learning, { status: 'verified' }),
      () => promote(daemon, learning, { status: 'canary' }),
      () => show(daemon, 'canary'),
      () => promote(daemon, learning, { status: 'active' }),
      () => daemon.request('POST', `/v1/learning-skills/notes/revoke`),
      () => daemon.request('POST', `/v1/learning-skills/notes/rollback`),
    ]
    for (const step of steps) await step()
  }
  const seen = new Set<string>()
  for (let at = 2; ; at += 4) {
    rmSync(ready, { force: true })
    const env = { NODE_OPTIONS: `--import ${preload}`, KILL_AT: String(at), KILL_WHEN: ready }
    const daemon = await spawnDaemon({ root, env })
    writeFileSync(ready, '')
    const isWhole = await goOn(daemon).then(
      () => true,
      () => false,
    )
    await daemon.die()
    const next = await spawnDaemon({ root })
    seen.add(await agree(t, next, root))
    await next.kill('SIGKILL')
    if (isWhole) break
  }
  t.log([...seen].join(' '))
  t.true(seen.has('active') && seen.size > 2)
})
