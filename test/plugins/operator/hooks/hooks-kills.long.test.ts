/** A real process, killed while hooks with secrets are set and the key of secrets changes. */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { freshRoot, spawnDaemon } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { makeFolder } from '../../../support/tools.js'
import { partOf } from '../../../support/volume.js'

const clock = createClock()
const kills = partOf(8, 20)

/** Each has a secret of its own, and says which it is. */
const hooksOf = (n: number) => ({
  user_prompt_submit: [
    { name: 'guard', executor: { type: 'command', command: `: canary-secret-${n}; echo ${n} > seen` } },
  ],
  stop_failure: [{ name: 'web', executor: { type: 'http', url: `https://example.com/canary-path-${n}` } }],
})

test(`hooks-17: after each of ${kills} kills the hooks that were acknowledged work, through new keys, and their secrets stand nowhere`, async (t) => {
  const [root, workspace] = [await freshRoot(), await makeFolder(t)]
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const flags = ['--workspace-root', workspace]
  let [acknowledged, rekeys] = [0, 0]
  for (let kill = 0; kill <= kills; kill += 1) {
    const daemon = await spawnDaemon({ root, flags })
    t.teardown(() => daemon.kill('SIGKILL'))
    const { hooks } = (await daemon.request('GET', '/v1/runtime/hooks')).body
    if (kill === 0) await openSession(daemon)
    else {
      const command: string = hooks.user_prompt_submit[0].executor.command
      const n = Number(/secret-(\d+)/u.exec(command)?.[1])
      t.true(n === acknowledged || n === acknowledged + 1, `kill ${kill}: ${n} of ${acknowledged}`)
      t.deepEqual(hooks, hooksOf(n))
      acknowledged = n
      await until(daemon, (await submit(daemon, 's1', 'hello')).run_id, 'completed')
      t.is((await readFile(join(workspace, 'seen'), 'utf8')).trim(), String(n), 'it works')
      const { warnings } = (await daemon.request('GET', '/v1/status')).body.health
      t.deepEqual(
        warnings.filter(({ code }: any) => /^setting_|^secrets_key/u.test(code)),
        [],
      )
    }
    const change = async (): Promise<void> => {
      for (;;) {
        const { status } = await daemon.request('POST', '/v1/runtime/hooks', { hooks: hooksOf(acknowledged + 1) })
        if (status === 200) acknowledged += 1
      }
    }
    const rekey = async (): Promise<void> => {
      for (;;) {
        const { status } = await daemon.request('POST', '/v1/runtime/secrets-key')
        if (status === 200) rekeys += 1
      }
    }
    const changing = [change(), rekey()].map((work) => work.catch(() => {}))
    const enough = acknowledged + 1 + (kill % 4)
    // Every other time in the middle of the first change of the key, else behind one.
    const keys = rekeys + (kill % 2)
    while (acknowledged < enough || rekeys < keys) await clock.sleep(1)
    await clock.sleep((kill * 13) % 40)
    await daemon.kill('SIGKILL')
    await Promise.all(changing)
    t.is(spawnSync('grep', ['-rlaE', 'canary-(secret|path)', root]).stdout.toString(), '', `kill ${kill}`)
  }
  t.true(acknowledged > kills && rekeys >= kills / 2, `${acknowledged} changes, ${rekeys} keys`)
})
