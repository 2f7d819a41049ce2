/** What connectors keep and never show. */
import { readFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { unsafeCast } from '../../../../core/plugin.js'
import type { AnyConnectorKind } from '../../../../plugins/connectors/registry/contract.js'
import { openedSettings, sealedSettings } from '../../../../plugins/connectors/registry/sealed.js'
import { formsOf } from '../../../support/canaries.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { eventually } from '../../../support/mcp.js'

const path = '/v1/runtime/connectors/external/chat'
const env = { API_TOKEN: 'canary-7f3a91c2d4', PLACE: 'canary.of.a.plain.name' }
const settings = {
  platform: 'test',
  mode: 'child_process',
  base_url: 'http://127.0.0.1:9',
  shared_token: { value: 'canary-of-the-shared-token' },
  child_process: { command: '/bin/sh', args: ['-c', 'echo "no: $API_TOKEN $PLACE" >&2; exit 3'], env },
}
const canaries = [...Object.values(env), 'canary-of-the-shared-token']

test('connectors-28 and external-2: variables of a child stand nowhere but sealed, and nobody is told them', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const first = await startTestDaemon(t, { root })
  t.is((await first.request('PUT', path, settings)).status, 200)
  const told = await eventually(async () => {
    const { body, text } = await first.request('GET', path)
    return /ended with code 3/u.test(body.health.cause) ? text : undefined
  })
  t.true(told.includes('[redacted]'), told)
  t.false(
    canaries.some((canary) => told.includes(canary)),
    told,
  )
  t.is((await first.request('PUT', path, { include_self_output: false })).status, 200)
  t.deepEqual((await first.request('GET', path)).body.child_process.env_keys, ['API_TOKEN', 'PLACE'])
  await first.stop()
  const names = await readdir(root, { recursive: true, withFileTypes: true })
  for (const entry of names.filter((one) => one.isFile())) {
    const bytes = await readFile(join(entry.parentPath, entry.name))
    for (const form of canaries.flatMap(formsOf)) t.false(bytes.includes(form), `${entry.name} has ${form}`)
  }

  const second = await startTestDaemon(t, { root })
  const again = await eventually(async () => {
    const { body, text } = await second.request('GET', path)
    return /ended with code 3/u.test(body.health.cause) ? text : undefined
  })
  t.true(again.includes('[redacted]'), 'it was given its variables again')
})

test('connectors-28: what does not open is left out and named, and opens nowhere else', (t) => {
  const kind = unsafeCast<AnyConnectorKind>({ kind: 'external', sealed: { child_process: 'env' } })
  const seal = {
    sealLasting: (value: unknown, about: string) => ({ sealed_with: about, sealed: JSON.stringify(value) }),
    open: ({ sealed_with, sealed }: { sealed_with: string; sealed: string }, about: string) =>
      about === sealed_with ? JSON.parse(sealed) : undefined,
  }
  const plain = { platform: 'p', child_process: { command: 'c', env } }
  const kept = sealedSettings(seal, { kind, name: 'one' }, plain)
  t.deepEqual(openedSettings(seal, { kind, name: 'one' }, kept), { settings: plain, locked: [] })
  t.deepEqual(openedSettings(seal, { kind, name: 'two' }, kept), {
    settings: { platform: 'p', child_process: { command: 'c' } },
    locked: ['child_process.env'],
  })
  for (const without of [{ platform: 'p' }, { child_process: null }, { child_process: { command: 'c', env: {} } }])
    t.deepEqual(sealedSettings(seal, { kind, name: 'one' }, without), without)
})
