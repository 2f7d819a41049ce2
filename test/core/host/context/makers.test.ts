/** Errors of what a plugin makes and does not listen to: they end the daemon, which says why and whose they are. */
import test, { type ExecutionContext } from 'ava'
import { rootWith } from '../../../support/broken-plugins.js'
import { spawnTestDaemon } from '../../../support/daemon.js'

const plugin = 'hears-no-errors'

/** The last lines of a daemon that such an error ended. */
const lastLines = async (t: ExecutionContext, what: string) => {
  const daemon = await spawnTestDaemon(t, { root: await rootWith(plugin), flags: ['--log-format', 'json'] })
  await daemon.request('GET', `/v1/unheard/${what}`).catch(() => {})
  t.deepEqual(await daemon.exited, { code: 1, signal: null }, what)
  const lines: any[] = daemon
    .logText()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const error = lines.find(({ msg }) => msg === 'an uncaught exception')
  return { error, last: lines.at(-1) }
}

for (const [what, told] of [
  ['program', { plugin }],
  ['socket', { plugin }],
  ['request', { plugin }],
  ['file', { plugins_of_others: plugin }],
] as const)
  test.serial(
    `runtime-47: an error that nobody listens to ends the daemon with its reason, and whose it is: ${what}`,
    async (t) => {
      const { error, last } = await lastLines(t, what)
      t.like(error, told)
      t.like(last, { reason: 'uncaught_exception', clean: true })
    },
  )
