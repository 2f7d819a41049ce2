/** The page on playbooks is true: its lines are run as somebody who pastes them. */
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, mainFile } from '../support/daemon.js'
import { startMortal } from '../support/mortal.js'
import { fieldSchemas } from '../../core/base/schema.js'
import { PlaybookManifest, primitiveKinds, RequiredEvidence } from '../../plugins/agents/playbooks/contract.js'
import { blocksFor, repository, sh, textOf } from '../support/docs.js'

const page = 'docs/playbooks.md'

test('a playbook is published, followed and shown to be done, exactly as printed', async (t) => {
  const folder = await freshRoot()
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const example = 'docs/examples/release-notes'
  cpSync(join(repository, example), join(folder, example), { recursive: true })
  const daemon = await startMortal(t, { flags: ['--workspace-root', folder] })
  const holdfast = `SERVICE_DAEMON_URL=${daemon.url} '${process.execPath}' '${mainFile}' "$@"`
  const names = ['playbooks-publish', 'playbooks-flow', 'playbooks-work', 'playbooks-evidence', 'playbooks-schedule']
  const script = names.map((name) => `echo "## ${name}"\n${blocksFor(page, name).join('\n')}\necho\n`)
  const text = script.join('').replaceAll('http://127.0.0.1:4000', daemon.url)
  const { code, out, err } = await sh(`set -e\nholdfast() { ${holdfast}; }\n${text}`, folder)
  t.deepEqual([code, err], [0, ''], out)
  const [, publish = '', flow = '', work = '', evidence = '', schedule = ''] = out.split(/^## [\w-]+$/mu)
  t.regex(publish, /It is valid[^]*draft[^]*release-notes {2}active 1/u)
  t.notRegex(publish, /warning/u)
  t.regex(flow, /notes-1 {2}waiting[^]*pending {2}gather/u)
  t.regex(
    work,
    /The notes are written\.[^]*notes-1 {2}waiting[^]*blocked {2}write {2}lacks product_view:release-notes\.md/u,
  )
  t.regex(work, /passed {2}tools/u)
  t.regex(evidence, /It is as it must be\.[^]*notes-1 {2}succeeded[^]*satisfied {2}plan[^]*satisfied {2}review/u)
  t.regex(schedule, /"flow_start"/u)
  t.regex(readFileSync(join(folder, 'release-notes.md'), 'utf8'), /^# Summary/u)
  await daemon.stop()
})

test('the page has each member of a manifest, and no other', (t) => {
  const rows = [...textOf(page).matchAll(/^\| ((?:`\w+`(?:, )?)+) \| (.*) \|$/gmu)]
  const names = (text = ''): string[] => [...text.matchAll(/`(\w+)`/gu)].map(([, name = '']) => name)
  const fields = fieldSchemas(PlaybookManifest)
  t.deepEqual(rows.flatMap(([, members]) => names(members)).toSorted(), Object.keys(fields).toSorted())
  const told = new Set(rows.flatMap(([, , text]) => names(text)))
  const inner = Object.values(fields).flatMap(({ properties, items }: any) =>
    Object.keys(properties ?? items?.properties ?? {}),
  )
  for (const name of [...inner, ...Object.keys(fieldSchemas(RequiredEvidence)), ...primitiveKinds])
    t.true(told.has(name), name)
})
