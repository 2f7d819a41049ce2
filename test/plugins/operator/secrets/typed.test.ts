/** A value typed at a terminal. */
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import test from 'ava'
import { SecretSlots } from '../../../../plugins/operator/secrets/contract.js'
import { freshRoot, mainFile, startTestDaemon } from '../../../support/daemon.js'
import { lender } from '../../../support/plugins.js'

const hasTerminal = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0

/** Types into a terminal of its own once the prompt stands there; all that the terminal showed. */
const typing = (command: string, keys: string): Promise<{ code: number | null; shown: string }> =>
  new Promise((resolve) => {
    const child = spawn('script', ['-qfec', command, '/dev/null'], { env: { PATH: process.env['PATH'] ?? '' } })
    let shown = ''
    let typed = false
    child.stdout.on('data', (piece: Buffer) => {
      shown += piece.toString()
      if (typed || !shown.includes('it is not shown')) return
      typed = true
      child.stdin.write(keys)
    })
    child.once('close', (code) => resolve({ code, shown }))
  })

;(hasTerminal ? test : test.skip)(
  'secrets-12: a terminal does not show what is typed, also when it is taken back or given up',
  async (t) => {
    const slots = lender({ slots: SecretSlots })
    const { url } = await startTestDaemon(t, { plugins: [slots.plugin] })
    const history = join(await freshRoot(), 'unused')
    const command = `HISTFILE=${history} ${process.execPath} ${mainFile} --base-url=${url} secrets set a --stdin`
    const { code, shown } = await typing(command, 'canary-typedd\u007f\r')
    t.is(code, 0, shown)
    t.is(slots.services().slots.value('a'), 'canary-typed')
    t.regex(shown, /a {2}generic {2}a secret, version 1/u)
    t.false(/canary|typed/u.test(shown), shown)
    const given = await typing(command, 'canary-given-up\u0003')
    t.not(given.code, 0)
    t.false(given.shown.includes('canary'), given.shown)
    t.is(slots.services().slots.value('a'), 'canary-typed')
  },
)
