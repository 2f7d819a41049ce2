/** The example of the guide for files, and every example as an operator installs it. */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'ava'
import { assertPassed, checkPlugin, createTestDaemon } from '../../core/testing/contract.js'
import makeCards from '../../docs/examples/cards/plugin.js'
import { freshRoot, spawnTestDaemon } from '../support/daemon.js'
import { codeOf } from '../support/runs.js'

test.serial('cards: it keeps what a plugin must keep', async (t) => {
  assertPassed(await checkPlugin(makeCards))
  t.pass()
})

test.serial('cards: a tool gives a file, a record keeps it, and its outline is derived once', async (t) => {
  const daemon = await createTestDaemon({ plugins: [makeCards] })
  t.teardown(() => daemon.close())
  const { request } = daemon
  await request('POST', '/v1/sessions', { session_id: 'desk' })
  const content = '/tool make_card {"title":"Moin","text":"From the sea."}\n/say made'
  const run = await request('POST', '/v1/sessions/desk/input', { content })
  t.is(run.body.outputs[0].content, 'made')
  const [card] = (await request('GET', '/v1/assets')).body
  t.is(card.file_name, 'card.md')
  const { references } = (await request('GET', `/v1/assets/${card.asset_id}/references`)).body
  t.deepEqual(references.map(({ domain }: { domain: string }) => domain).toSorted(), ['cards', 'runs'])
  t.deepEqual(codeOf(await request('DELETE', `/v1/assets/${card.asset_id}`)), [409, 'asset_delete_blocked'])
  const { owner_id: card_id } = references.find(({ domain }: { domain: string }) => domain === 'cards')
  const derive = (subject: object) => request('POST', '/v1/derivations', { profile: 'outline', subject })
  const made = await derive({ type: 'card', card_id })
  t.is((await request('GET', `/v1/assets/${made.body.result_asset_id}/raw`)).text, '# Moin\n')
  t.is((await derive({ type: 'card', card_id })).body.cache_status, 'hit')
  t.deepEqual(codeOf(await derive({ type: 'card', card_id: 'none' })), [404, 'card_not_found'])
  t.deepEqual(codeOf(await derive({ type: 'card', card: 'x' })), [400, 'derivation_invalid'])
  const plain = { file_name: 'a.txt', media_type: 'text/plain', content_base64: Buffer.from('flat').toString('base64') }
  const { asset_id } = (await request('POST', '/v1/assets', plain)).body
  t.deepEqual(codeOf(await derive({ type: 'asset', asset_id })), [422, 'outline_empty'])
  t.is((await derive({ type: 'asset', asset_id })).body.status, 'failed', 'it is recorded')
})

test.serial('examples: each is loaded from a folder of the state root, with the kit alone', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const compiled = resolve(import.meta.dirname, '../../docs/examples')
  const ids = readdirSync(compiled, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(compiled, entry.name, 'plugin.js')))
    .map(({ name }) => name)
  for (const id of ids) {
    const folder = join(root, 'plugins', id)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    cpSync(join(compiled, id, 'plugin.js'), join(folder, 'plugin.js'))
    const manifest = { name: id, version: '1.0.0', type: 'module', main: 'plugin.js', holdfast: { api: 1 } }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  }
  mkdirSync(join(root, 'config'), { mode: 0o700 })
  writeFileSync(join(root, 'config', 'plugins.toml'), ids.map((id) => `[${id}]\nfrom = "state:${id}"\n`).join(''))
  const daemon = await spawnTestDaemon(t, { root })
  const { plugins } = (await daemon.request('GET', '/v1/status')).body
  const shown = plugins.filter(({ from }: { from: string }) => from !== 'shipped')
  t.deepEqual(
    shown.map(({ id, state, reason }: Record<string, string>) => [id, state, reason]),
    ids.map((id) => [id, 'ready', undefined]),
  )
  await daemon.stop()
})
