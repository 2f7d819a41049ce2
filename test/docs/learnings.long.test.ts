/** The page on learnings is true: its lines are run as somebody who pastes them. */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, mainFile } from '../support/daemon.js'
import { startMortal } from '../support/mortal.js'
import { blocksFor, repository, sh } from '../support/docs.js'

const page = 'docs/learnings.md'
const names = ['learnings-first', 'learnings-told', 'learnings-policy', 'learnings-end', 'learnings-secret']

test('learnings are brought, decided, told and ended, exactly as printed', async (t) => {
  const folder = await freshRoot()
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const example = 'docs/examples/learnings'
  cpSync(join(repository, example), join(folder, example), { recursive: true })
  const daemon = await startMortal(t, { flags: ['--workspace-root', folder] })
  const holdfast = `SERVICE_DAEMON_URL=${daemon.url} '${process.execPath}' '${mainFile}' "$@"`
  const script = names.map((name) => `echo "## ${name}"\n${blocksFor(page, name).join('\n')}\necho\n`)
  const { code, out, err } = await sh(`set -e\nholdfast() { ${holdfast}; }\n${script.join('')}`, folder)
  t.is(code, 0, `${out}\n${err}`)
  t.regex(err, /<content>.*secret/u)
  const [, first = '', told = '', policy = '', end = '', secret = ''] = out.split(/^## [\w-]+$/mu)
  t.regex(
    first,
    /(?:People are to decide|has not been looked at)[^]*active {2}fact of workspace default {2}80% {2}The harbour is deep\./u,
  )
  t.regex(told, /The harbour is deep\./u)
  t.regex(
    policy,
    /rule facts: publish_active \(kind fact, [^]*active {2}fact of session quay {2}98% {2}the crane is red/u,
  )
  t.regex(end, /The harbour is shallow\.[^]*superseded by learning_[^]*1 learning revoked/u)
  t.regex(secret, /pending {2}fact.*The password is kept in the vault\.|escalated/u)
  const routed = JSON.parse(blocksFor(page, 'learnings-route').join(''))
  const set = await daemon.request('POST', '/v1/runtime/learning-policy', { policy: routed })
  t.is(set.status, 200, JSON.stringify(set.body))
  await daemon.stop()
})
