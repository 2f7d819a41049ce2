/** Every shell command in README and the guides is run by a test, or cannot be. */
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { startMortal } from '../support/mortal.js'
import { blocksFor, blocksOf, pages, repository, sh } from '../support/docs.js'

/** Blocks by name: the test that runs them, or why none does. */
const treated: Readonly<Record<string, string>> = {
  'first-run': 'test/docs/readme.long.test.ts',
  watch: 'test/docs/readme.long.test.ts',
  'real-model': 'test/docs/readme.long.test.ts',
  'state-example': 'test/docs/readme.long.test.ts',
  'command-line': 'test/docs/readme.long.test.ts',
  dice: 'test/docs/dice.long.test.ts',
  author: 'test/docs/dice.long.test.ts',
  'author-new': 'test/docs/package.long.test.ts',
  'author-test': 'test/docs/dice.long.test.ts',
  tour: 'test/docs/blocks.long.test.ts',
  'state-format': 'test/docs/blocks.long.test.ts',
  operations: 'test/docs/operations.long.test.ts',
  'operations-retention-run': 'test/docs/operations.long.test.ts',
  connectors: 'test/plugins/connectors/registry/connector-health.test.ts',
  'mcp-call': 'test/docs/mcp.test.ts',
  'connectors-live': 'test/docs/connectors-slack.long.test.ts',
  'connectors-slack': 'test/docs/connectors-slack.long.test.ts',
  'connectors-http': 'test/docs/connectors-pages.long.test.ts',
  'connectors-telegram': 'test/docs/connectors-pages.long.test.ts',
  'grants-settings': 'test/docs/grants.long.test.ts',
  'grants-scope': 'test/docs/grants.long.test.ts',
  'grants-remembered': 'test/docs/grants.long.test.ts',
  'grants-secrets': 'test/docs/grants.long.test.ts',
  'grants-model': 'test/docs/grants.long.test.ts',
  'grants-skill': 'test/docs/grants.long.test.ts',
  'grants-skill-shown': 'test/docs/grants.long.test.ts',
  'grants-goal': 'test/docs/grants.long.test.ts',
  'grants-metrics': 'test/docs/grants.long.test.ts',
  capture: 'test/docs/capture.long.test.ts',
  files: 'test/docs/files.long.test.ts',
  'hooks-guard': 'test/docs/hooks.long.test.ts',
  'hooks-try': 'test/docs/hooks.long.test.ts',
  'hooks-take-over': 'test/docs/hooks.long.test.ts',
  'agents-spawn': 'test/docs/agents.long.test.ts',
  'agents-ways': 'test/docs/agents.long.test.ts',
  'agents-explain': 'test/docs/agents.long.test.ts',
  'agents-mail': 'test/docs/agents.long.test.ts',
  'agents-question': 'test/docs/agents.long.test.ts',
  'channels-make': 'test/docs/channels.long.test.ts',
  'channels-see': 'test/docs/channels.long.test.ts',
  'channels-policy': 'test/docs/channels.long.test.ts',
  'channels-stimuli': 'test/docs/channels.long.test.ts',
  'channels-close': 'test/docs/channels.long.test.ts',
  'trip-members': 'test/docs/channels.long.test.ts',
  'trip-question': 'test/docs/channels.long.test.ts',
  'trip-again': 'test/docs/channels.long.test.ts',
  'trip-asks': 'test/docs/channels.long.test.ts',
  'trip-allowed': 'test/docs/channels.long.test.ts',
  'trip-stimuli': 'test/docs/channels.long.test.ts',
  'projects-make': 'test/docs/channels.long.test.ts',
  'projects-start': 'test/docs/channels.long.test.ts',
  'projects-again': 'test/docs/channels.long.test.ts',
  'projects-close': 'test/docs/channels.long.test.ts',
  'leaflet-project': 'test/docs/channels.long.test.ts',
  'leaflet-tasks': 'test/docs/channels.long.test.ts',
  'leaflet-facts': 'test/docs/channels.long.test.ts',
  'leaflet-text': 'test/docs/channels.long.test.ts',
  'leaflet-evidence': 'test/docs/channels.long.test.ts',
  'promoted-skills-draft': 'test/docs/promoted-skills.long.test.ts',
  'promoted-skills-verified': 'test/docs/promoted-skills.long.test.ts',
  'promoted-skills-active': 'test/docs/promoted-skills.long.test.ts',
  'promoted-skills-back': 'test/docs/promoted-skills.long.test.ts',
  'promoted-skills-file': 'test/docs/promoted-skills.long.test.ts',
  'playbooks-publish': 'test/docs/playbooks.long.test.ts',
  'playbooks-flow': 'test/docs/playbooks.long.test.ts',
  'playbooks-work': 'test/docs/playbooks.long.test.ts',
  'playbooks-evidence': 'test/docs/playbooks.long.test.ts',
  'playbooks-schedule': 'test/docs/playbooks.long.test.ts',
  'learnings-first': 'test/docs/learnings.long.test.ts',
  'learnings-told': 'test/docs/learnings.long.test.ts',
  'learnings-policy': 'test/docs/learnings.long.test.ts',
  'learnings-end': 'test/docs/learnings.long.test.ts',
  'learnings-secret': 'test/docs/learnings.long.test.ts',
  sidecars: 'test/docs/sidecars.long.test.ts',
  'sidecars-chat': 'test/docs/sidecars.long.test.ts',
  'sidecars-alone': 'test/docs/sidecars.long.test.ts',
  'sidecars-events': 'test/docs/sidecars.long.test.ts',
  'operations-machine': 'needs root, systemd or an engine for containers, and a machine that may be changed',
  install: 'a test cannot install what it runs in; .ci/run does, and every other block needs what it built',
}

test('every shell block is run by a test or excused, and every excuse is needed', (t) => {
  const shell = pages.flatMap((page) =>
    blocksOf(page)
      .filter(({ language }) => /^(?:sh|bash|shell|console|curl)$/u.test(language))
      .map((block) => ({ page, ...block })),
  )
  t.deepEqual(
    shell
      .filter(({ attributes }) => treated[attributes['test'] ?? ''] === undefined)
      .map(({ page, line }) => `${page}:${line}`),
    [],
  )
  t.deepEqual(
    Object.keys(treated).filter((name) => !shell.some(({ attributes }) => attributes['test'] === name)),
    [],
  )
  const unmarked = pages.flatMap((page) =>
    blocksOf(page)
      .filter(({ language, body }) => language === '' && /^(?:curl|npm|node|jq|holdfast) /mu.test(body))
      .map(({ line }) => `${page}:${line}`),
  )
  t.deepEqual(unmarked, [], 'commands stand in blocks marked sh')
  for (const [name, where] of Object.entries(treated))
    if (where.startsWith('test/'))
      t.true(readFileSync(join(repository, where), 'utf8').includes(`'${name}'`), `${where} does not run ${name}`)
})

test('the request of the tour comes back as frames', async (t) => {
  const daemon = await startMortal(t)
  await daemon.request('POST', '/v1/sessions', { session_id: 'first' })
  const commands = blocksFor('docs/tour.md', 'tour')
    .join('')
    .replaceAll('http://127.0.0.1:4000', daemon.url)
    .replace('curl -N', 'curl -sNm 6')
    .replace(' &\n', ' &\nsleep 2\n')
  const { out } = await sh(`${commands}\nwait`, daemon.root)
  t.regex(out, /"status":"(?:queued|running)"/u)
  t.regex(out, /event: run_updated\nid: \d+\ndata: \{"type":"run_updated",.*"status":"completed",.*You said: Hello/u)
  await daemon.stop()
})

test('a state root can be read by hand, as the page about its format says', async (t) => {
  if ((await sh('command -v jq', repository)).code !== 0) return t.pass('there is no jq here')
  const root = mkdtempSync(join(tmpdir(), 'holdfast-format-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  cpSync(join(repository, 'state-example'), root, { recursive: true })
  const commands = blocksFor('docs/state-format.md', 'state-format')
    .join('')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const inExample = await Promise.all(commands.map((command) => sh(command, root)))
  t.true(inExample.every(({ code, err }) => code === 0 && err === ''))
  mkdirSync(join(root, 'tombstones'), { recursive: true })
  appendFileSync(join(root, 'tombstones/sessions.ndjson'), '{"id":"garden","reason":"a test"}\n')
  for (const command of commands) {
    const { code, out, err } = await sh(command, root)
    t.deepEqual([code, err], [0, ''], command)
    t.not(out.trim(), '', command)
  }
})

test('the bench says what it takes and measures nothing meanwhile, and the page names every part of it', async (t) => {
  const { code, out } = await sh('node dist/test/bench/main.js --help', repository)
  t.is(code, 0)
  const [, parts = ''] = /^PART: (.*)$/mu.exec(out) ?? []
  const page = readFileSync(join(repository, 'docs/performance.md'), 'utf8')
  t.deepEqual(
    parts.split(', ').filter((part) => part === '' || !page.includes(`\`${part}\``)),
    [],
  )
})
