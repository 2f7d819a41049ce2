/** The example of a state root is real: sound, complete, free of anything of a machine, and described file by file. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import test from 'ava'
import { declarationsOf, shippedPlugins } from '../../core/shipped.js'
import { commentFile } from '../../docs/make/state-example.js'
import { contents, kindOf, rootFiles } from '../../docs/make/root-files.js'
import { copyRoot, verifyShipped } from '../support/copied-root.js'
import { startTestDaemon } from '../support/daemon.js'
import { repository, sh } from '../support/docs.js'

const example = join(repository, 'state-example')

const walk = (root: string): { readonly path: string; readonly file: boolean }[] =>
  readdirSync(root, { recursive: true, withFileTypes: true }).map((entry) => ({
    path: relative(root, join(entry.parentPath, entry.name)),
    file: entry.isFile(),
  }))
const files = walk(example)
  .filter(({ file }) => file)
  .map(({ path }) => path)

test('state verify finds nothing in it', async (t) => {
  const { findings, clean, records } = await verifyShipped(copyRoot(t, example))
  t.deepEqual(findings, [])
  t.true(clean)
  t.true((records['runs'] ?? 0) >= 6)
})

test('a daemon starts on it, repairs nothing, and what waits can be answered', async (t) => {
  const root = copyRoot(t, example)
  const { daemon, request, log, stop } = await startTestDaemon(t, { root })
  const step = (name: string) => daemon.view.boot().steps.find((each) => each.step === name)?.details
  t.is(step('repair')?.['found'], 0)
  t.true(Number(step('recover')?.['replayed']) > 0, 'a part of it is in the log')
  t.deepEqual(
    log.filter(({ level }) => level === 'warn' || level === 'error'),
    [],
  )
  const waiting = (await request('GET', '/v1/runs?priority_active=true')).body.filter(
    ({ status }: { status: string }) => status.startsWith('waiting'),
  )
  t.deepEqual(waiting.map(({ status }: { status: string }) => status).toSorted(), [
    'waiting_for_approval',
    'waiting_for_user_question',
  ])
  const asking = waiting.find(({ status }: { status: string }) => status === 'waiting_for_approval')
  const { body } = await request('POST', '/v1/sessions/garden/approvals', {
    resolutions: [{ request_id: asking.pending_approvals[0].id, behavior: 'allow' }],
  })
  t.is(body.outputs.at(-1).content, 'Watered.')
  await stop()
  t.deepEqual(
    (await verifyShipped(root)).findings.filter(({ kind }) => kind !== 'mode'),
    [],
  )
})

test('it has every kind of file that a daemon leaves for good, and every collection and stream', async (t) => {
  const without = new Set([
    'ballast',
    'daemon.lock',
    'owner.json',
    'lock/',
    'quarantine/',
    'tombstones/<collection>.ndjson',
    'config/plugins.toml',
    'plugins/<folder>/',
    'secrets/<name>',
    'secrets/slots.key',
    'worktrees/<worktree>/',
  ])
  t.deepEqual(
    rootFiles
      .map(({ name }) => name)
      .filter((name) => !without.has(name) && !files.some((path) => kindOf(path)?.name === name)),
    [],
  )
  t.deepEqual(
    files.filter((path) => without.has(kindOf(path)?.name ?? 'unknown')),
    [],
  )
  const { collections, streams } = await declarationsOf(await shippedPlugins())
  const declared = [...collections.keys(), ...streams.keys()].toSorted()
  t.deepEqual(Object.keys(contents).toSorted(), declared)
  // Refused requests are kept otherwise than by earlier versions, no conversation became too long, no key is here, no hook was set, the workspace is no repository, no server held calls back, no agent waits for its parent, no picture was made of another, nobody writes from a chat, and no session speaks in a channel.
  const passing = new Set([
    'asset_sources',
    'debug_runs',
    'control_plane_auth',
    'thread_starts',
    'worktrees',
    'secret_slots',
    'auth_leases',
    'auth_subjects',
    'hook_calls',
    'session_skills',
    'default_skills',
    'hook_dead_letters',
    'mcp_calls',
    'mcp_oauth_marks',
    'lasting_keys',
    'session_permissions',
    'grants',
    'model_holds',
    'clarifications',
    'connector_events',
    'telegram_cursors',
    'delivery_progress',
    'live_drafts',
    'live_asks',
    'channel_calls',
    'channel_removals',
    'channel_work_bindings',
    'turn_leases',
    'mailbox_files',
    'learning_captures',
  ])
  t.deepEqual(
    [
      ...new Set(files.filter((path) => /^(?:data|streams)\//u.test(path)).map((path) => path.split('/')[1])),
    ].toSorted(),
    declared.filter((name) => !passing.has(name)),
    'evidence of runs has a time to live, so none is kept here',
  )
})

test('nothing in it belongs to a machine', (t) => {
  for (const path of files.filter((each) => each !== 'README.md'))
    t.notRegex(
      readFileSync(join(example, path), 'utf8'),
      /\/(?:tmp|home|root|work|Users|var)\/|Bearer|for-the-making|boot_id/u,
      path,
    )
})

test('its comment file has a line for each file, and the commands in it read what they say', async (t) => {
  const text = readFileSync(join(example, 'README.md'), 'utf8')
  t.is(text, commentFile(example))
  const commands = [...text.matchAll(/\| `((?:tail|jq|cat) .*)` \|$/gmu)].map(([, command = '']) =>
    command.replaceAll('\\|', '|'),
  )
  t.is(commands.length, files.length - 1)
  const jq = (await sh('command -v jq', repository)).code === 0
  for (const command of commands.filter((each) => jq || !each.includes('jq '))) {
    const { code, out, err } = await sh(command, example)
    t.deepEqual([code, err], [0, ''], command)
    t.not(out.trim(), '', command)
  }
})
