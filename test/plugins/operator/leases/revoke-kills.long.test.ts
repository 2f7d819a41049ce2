/** Revocations, and the daemon killed as soon as each was answered. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, spawnDaemon } from '../../../support/daemon.js'
import { partOf } from '../../../support/volume.js'

const kills = partOf(10, 20)

/** A plugin as people write them, which lends over HTTP. */
const lendingPlugin = `
export default ({ definePlugin, defineRoute, jsonReply, jsonObject, object, string }) => definePlugin({
  id: 'lends', version: '1.0.0', api: 1, summary: 'Lends leases.', config: object({}),
  needs: { leases: { token: 'leases@1' } },
  register(ctx, { leases }) {
    const route = (name, body, handler) => defineRoute({
      id: 'lends.' + name, method: 'POST', path: '/v1/lends/' + name, summary: name, access: 'admin', body,
      reply: jsonReply(jsonObject()), durability: 'A', handler: ({ body }) => handler(body),
    })
    ctx.routes(
      route('issue', object({ subject: string(), slot: string() }), async ({ subject, slot }) => {
        await leases.admit(subject)
        return leases.issue({
          subject: { id: subject, kind: 'connector' },
          audience: { type: 'connector', connector: 'c', env_keys: [], secret_refs: [slot] },
        })
      }),
      route('check', object({ token: string() }), ({ token }) => ({ good: leases.check(token) !== undefined })),
    )
  },
})
`

const prepare = (root: string): void => {
  const folder = join(root, 'plugins', 'lends')
  mkdirSync(folder, { recursive: true })
  mkdirSync(join(root, 'config'))
  const manifest = { name: 'lends', version: '1.0.0', type: 'module', main: 'plugin.js', holdfast: { api: 1 } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'plugin.js'), lendingPlugin)
  writeFileSync(join(root, 'config', 'plugins.toml'), '[lends]\nfrom = "state:lends"\n')
}

test('secrets-17, secrets-18, secrets-20: a kill behind the answer leaves a lease, a subject and a secret revoked', async (t) => {
  const root = await freshRoot()
  prepare(root)
  const dead: string[] = []
  const alive: { readonly token: string; readonly expires_at_ms: number }[] = []
  const values = Array.from({ length: kills }, (_, n) => `slot${n}`)
  for (let n = 0; n < kills; n += 1) {
    const daemon = await spawnDaemon({ root })
    const ask = async (path: string, body?: object): Promise<any> => {
      const { status, body: got, text } = await daemon.request('POST', path, body)
      t.is(status, 200, text)
      return got
    }
    await ask('/v1/runtime/secrets', { slot_id: values[n], state: { value: 'x' } })
    const issue = (subject: string, slot: string) => ask('/v1/lends/issue', { subject, slot })
    const [one, two] = [await issue(`s${n}`, `slot${n}`), await issue(`s${n}`, `slot${n}`)]
    const bystander = await issue('bystander', 'other')
    // Other commits are under way meanwhile, so that the revocation shares its batch or waits for one.
    const noise = Array.from({ length: n % 5 }, () =>
      daemon.request('POST', '/v1/sessions', {}).then(
        () => undefined,
        () => undefined,
      ),
    )
    const revoke = [
      `/v1/runtime/auth/leases/${one.lease.id}/revoke`,
      `/v1/runtime/auth/subjects/s${n}/revoke`,
      `/v1/runtime/auth/slots/slot${n}/revoke`,
    ] as const
    await ask(revoke[n % 3] ?? revoke[0])
    await daemon.kill('SIGKILL')
    await Promise.all(noise)
    dead.push(one.token, ...(n % 3 === 0 ? [] : [two.token]))
    for (const { token, lease } of [bystander, ...(n % 3 === 0 ? [two] : [])])
      alive.push({ token, expires_at_ms: lease.expires_at_ms })
  }
  const last = await spawnDaemon({ root })
  const good = async (token: string): Promise<boolean> =>
    (await last.request('POST', '/v1/lends/check', { token })).body.good
  for (const token of dead) t.false(await good(token))
  for (const { token, expires_at_ms } of alive) t.true((await good(token)) || expires_at_ms <= Date.now())
  const { body } = await last.request('GET', '/v1/runtime/secrets')
  for (const { slot_id, details } of body)
    if (slot_id.startsWith('slot'))
      t.is(details.revoked_at_ms !== undefined, Number(slot_id.slice(4)) % 3 === 2, slot_id)
  await last.kill('SIGKILL')
})
