/** The page on promoted skills is true: its lines are run as somebody who pastes them. */
import test from 'ava'
import { mainFile } from '../support/daemon.js'
import { startMortal } from '../support/mortal.js'
import { blocksFor, sh } from '../support/docs.js'

const names = [
  'promoted-skills-draft',
  'promoted-skills-verified',
  'promoted-skills-active',
  'promoted-skills-back',
  'promoted-skills-file',
]

test('a procedure becomes a skill that models use, exactly as printed', async (t) => {
  const daemon = await startMortal(t)
  const holdfast = `SERVICE_DAEMON_URL=${daemon.url} '${process.execPath}' '${mainFile}' "$@"`
  const before = `set -e\nSERVICE_STATE_ROOT=${daemon.root}\nholdfast() { ${holdfast}; }\n`
  const blocks = names.map((name) => `echo "## ${name}"\n${blocksFor('docs/promoted-skills.md', name).join('\n')}\n`)
  const { code, out, err } = await sh(before + blocks.join(''), daemon.root, 240_000)
  t.deepEqual([code, err], [0, ''], out)
  const [, draft = '', verified = '', active = '', back = '', file = ''] = out.split(/^## [\w-]+$/mu)
  t.regex(draft, /notes {2}draft[^]*no results yet[^]*next: to be verified/u)
  t.regex(verified, /run_\w+ counts good as verification\nnotes {2}draft[^]*notes {2}verified/u)
  t.regex(
    active,
    /run_\w+ counts good as canary\n[^]*\nnotes {2}active[^]*\nnotes {2}explicit[^]*\/notes {2}completed/u,
  )
  t.regex(back, /notes {2}revoked[^]*notes {2}draft[^]*notes {2}active/u)
  t.regex(
    file,
    /cannot be used: its file has not the instructions[^]*No skills\.[^]*notes {2}active[^]*notes {2}explicit/u,
  )
  await daemon.stop()
})
