/** Normalisers of other plugins that make what they must not; docs/rules/normalisers.md. */
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { longestAnswerMs } from '../../../../core/host/context/own-view.js'
import { unsafeCast } from '../../../../core/plugin.js'
import { assetErrors, AssetNormalisers } from '../../../../plugins/media/assets/contract.js'
import { asTold, charged, faultsOf, say, startAsTold } from '../../../support/as-told.js'
import type { TestDaemon } from '../../../support/daemon.js'
import { codeOf } from '../../../support/runs.js'

const hasty = () => {
  const clock = createClock()
  const sleep = (ms: number, signal?: AbortSignal) => clock.sleep(ms === longestAnswerMs ? 200 : ms, signal)
  return { ...clock, sleep }
}
const upload = (daemon: TestDaemon, media_type = 'text/x-told') =>
  daemon.request('POST', '/v1/assets', { file_name: 'a', media_type, content_base64: 'aGVsbG8=' })

const bytes = Buffer.from('hello')
const wrong: Readonly<Record<string, () => unknown>> = {
  broken: () => {
    throw new Error('it is broken')
  },
  nothing: () => null,
  number: () => 7,
  empty: () => ({}),
  text: () => ({ bytes: 'hello' }),
  none: () => ({ bytes: Buffer.alloc(0) }),
  large: () => ({ bytes: Buffer.alloc(13_000_000) }),
  words: () => ({ bytes, text: 'hello' }),
  utf8: () => ({ bytes, text: Buffer.from([0xff]) }),
  preview: () => ({ bytes, preview: 'x' }),
  null: () => ({ bytes, preview: null }),
  type: () => ({ bytes, preview: { media_type: 'image/png\r\nX: y', bytes } }),
  hang: () => new Promise(() => {}),
}

test.serial(
  'normalisers-9: what a normaliser may not make refuses the file by its plugin, and nothing is stored',
  async (t) => {
    const daemon = await startAsTold(t, { clock: hasty() })
    for (const [name, answer] of Object.entries(wrong)) {
      say({ 'normalise of asset-normalisers@1': answer })
      const refused = await upload(daemon)
      t.deepEqual(codeOf(refused), [503, 'plugin_failed'], name)
      t.true(refused.body.detail.includes(`The plugin ${asTold} failed in normalise of asset-normalisers@1`))
      charged(t, daemon, 'normalise of asset-normalisers@1', name)
      t.notRegex(faultsOf(daemon).last?.message ?? '', /Cannot /u, name)
    }
    t.deepEqual((await daemon.request('GET', '/v1/assets')).body, [])
  },
)

test.serial(
  'normalisers-9: a problem of a normaliser is its answer, and what it made is stored as it was then',
  async (t) => {
    const daemon = await startAsTold(t)
    say({
      'normalise of asset-normalisers@1': () => {
        throw assetErrors.asset_invalid({ details: { media_type: 'text/x-told', reason: 'it is odd' } })
      },
    })
    t.deepEqual(codeOf(await upload(daemon)), [400, 'asset_invalid'])
    const made = Buffer.from('made')
    say({
      'normalise of asset-normalisers@1': () => {
        setImmediate(() => made.fill('x'))
        return { bytes: made, text: made }
      },
    })
    const { body } = await upload(daemon)
    t.is(await (await fetch(`${daemon.url}/v1/assets/${body.asset_id}/raw`)).text(), 'made')
    t.deepEqual(faultsOf(daemon).ids, [])
  },
)

test('normalisers-9: media types are such, and of two that have one the second is warned of', async (t) => {
  const check = (media_types: unknown) =>
    AssetNormalisers.check?.(unsafeCast({ id: 'odd', media_types, normalise() {} }))
  for (const odd of [[7], ['banana'], ['text/x-odd; charset=utf-8'], {}])
    t.regex(check(odd) ?? '', /^media_types of a normaliser of assets must be a list of media types/u)
  t.is(check(['text/x-odd', 'application/vnd.odd+json']), undefined)
  const daemon = await startAsTold(t)
  const { body } = await daemon.request('GET', '/v1/status')
  const warned = body.health.warnings.filter(({ code }: { code: string }) => code === 'normaliser_unasked')
  t.deepEqual(
    warned.map(({ message, action }: { message: string; action: string }) => [message, action]),
    [
      [
        'The normaliser told is never asked about text/plain: text is, which was there before.',
        `Take text/plain out of media_types of told in the plugin ${asTold}.`,
      ],
    ],
  )
  const { body: refused } = await upload(daemon, 'text/x-nobody')
  t.is(refused.errors[0].rule.match(/text\/plain/gu).length, 1)
})
