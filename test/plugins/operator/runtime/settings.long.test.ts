/** A real process, killed at many moments: what was acknowledged holds. */
import { rmSync } from 'node:fs'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { freshRoot, spawnDaemon } from '../../../support/daemon.js'
import { partOf } from '../../../support/volume.js'

const clock = createClock()
const kills = partOf(12, 50)

test(`runtime-26: after each of ${kills} kills the settings are those of the last change that was acknowledged, or of the one under way`, async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  let acknowledged = 0
  const limitAt = (revision: number): number => revision + 1
  for (let kill = 0; kill <= kills; kill += 1) {
    const daemon = await spawnDaemon({ root })
    const { config, tool_runtime_limits } = (await daemon.request('GET', '/v1/runtime')).body
    t.true(config.revision === acknowledged || config.revision === acknowledged + 1, `kill ${kill}`)
    if (config.revision > 0) t.is(tool_runtime_limits.max_parallel_tools, limitAt(config.revision))
    acknowledged = config.revision
    const change = async (): Promise<void> => {
      for (;;) {
        const expected_revision = acknowledged
        const { status } = await daemon.request('POST', '/v1/runtime/tool-limits', {
          limits: { max_parallel_tools: limitAt(expected_revision + 1) },
          expected_revision,
        })
        t.is(status, 200)
        acknowledged += 1
      }
    }
    const changing = change().catch(() => {})
    const enough = acknowledged + 1 + (kill % 3)
    while (acknowledged < enough) await clock.sleep(1)
    await clock.sleep((kill * 7) % 20)
    await daemon.kill('SIGKILL')
    await changing
  }
  t.true(acknowledged > kills)
})
