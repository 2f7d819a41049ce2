import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { startTestDaemon } from '../../../support/daemon.js'

const clock = createClock()

test('runtime-5: a changed file in config is noticed, a wrong one is named, and the daemon keeps what it started with', async (t) => {
  const daemon = await startTestDaemon(t)
  const codes = async (): Promise<string[]> => {
    const { body } = await daemon.request('GET', '/v1/status')
    const { health } = body as { health: { warnings?: { code: string; message: string }[] } }
    return (health.warnings ?? [])
      .filter(({ code }) => code.startsWith('config_'))
      .map(({ code, message }) => (code === 'config_invalid' ? `${code} ${message}` : code))
  }
  const until = async (wanted: RegExp): Promise<string> => {
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const found = (await codes()).join()
      if (wanted.test(found)) return found
      await clock.sleep(100)
    }
    return (await codes()).join()
  }
  const file = join(daemon.root, 'config', 'models.toml')
  mkdirSync(join(daemon.root, 'config'), { recursive: true })
  t.deepEqual(await codes(), [])

  writeFileSync(file, 'colour = "red"\n')
  t.regex(await until(/config_invalid/u), /config\/models\.toml colour is not a known field/u)

  writeFileSync(file, 'idle_timeout_ms = 5000\n')
  t.is(await until(/config_changed/u), 'config_changed')
})
