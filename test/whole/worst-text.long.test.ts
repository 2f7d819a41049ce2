/** No text that a model, a caller or a file may bring keeps the daemon from answering others. */
import test from 'ava'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { spawnDaemon, type SpawnedDaemon } from '../support/daemon.js'
import { leastOfTries, most, send, worstFlags, worstTexts, type Target } from './worst-texts.js'

let daemon: SpawnedDaemon | undefined
let workspace = ''
test.before(async () => {
  workspace = await mkdtemp(path.join(tmpdir(), 'holdfast-worst-'))
  daemon = await spawnDaemon({ flags: ['--workspace-root', workspace, ...worstFlags] })
})
test.after.always(async () => {
  await daemon?.kill('SIGKILL')
  await rm(workspace, { recursive: true, force: true })
})

worstTexts.forEach(({ title, prepare, act }, n) => {
  test.serial(`others are answered meanwhile: ${title}`, async (t) => {
    if (daemon === undefined) throw new TypeError('no daemon')
    const target: Target = { url: daemon.url, workspace, session: `worst-${n}` }
    await send(target, 'POST', '/v1/sessions', { session_id: target.session })
    await prepare?.(target)
    const longest = await leastOfTries(daemon, () => act(target))
    t.true(longest <= most, `${Math.round(longest)} ms of work before another request was answered`)
  })
})
