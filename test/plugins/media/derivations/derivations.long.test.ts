/** Derivations as clients see them; docs/rules/derivations.md. */
import test from 'ava'
import { createHash } from 'node:crypto'
import { readdirSync, unlinkSync } from 'node:fs'
import path from 'node:path'
import sharp from 'sharp'
import { literal, object, string } from '../../../../core/plugin.js'
import { Assets, assetErrors } from '../../../../plugins/media/assets/contract.js'
import {
  defineSubject,
  DerivationProfiles,
  DerivationSubjects,
  derivationErrors,
  type Derived,
} from '../../../../plugins/media/derivations/contract.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { createLatch } from '../../../support/latch.js'
import { makePdf } from '../../../support/pdf.js'
import { testPlugin } from '../../../support/plugins.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'

const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex')

const store = async (daemon: TestDaemon, content: string | Uint8Array, more: object = {}): Promise<any> =>
  (
    await daemon.request('POST', '/v1/assets', {
      file_name: 'a.txt',
      media_type: 'text/plain',
      content_base64: Buffer.from(content).toString('base64'),
      ...more,
    })
  ).body
const pdfAsset = (daemon: TestDaemon, text: string): Promise<any> =>
  store(daemon, makePdf([{ content: `BT /F1 12 Tf 72 720 Td (${text}) Tj ET` }]), {
    file_name: 'a.pdf',
    media_type: 'application/pdf',
  })
const whitePicture = async (daemon: TestDaemon): Promise<any> => {
  const white = sharp({ create: { width: 4, height: 4, channels: 3, background: '#fff' } })
  return store(daemon, await white.png().toBuffer(), { file_name: 'white.png', media_type: 'image/png' })
}
const derive = (daemon: TestDaemon, body: object, query = '') => daemon.request('POST', `/v1/derivations${query}`, body)
const wordsOf = (daemon: TestDaemon, asset_id: string, query = '') =>
  derive(daemon, { profile: 'canonical_text', subject: { type: 'asset', asset_id } }, query)
const read = async (daemon: TestDaemon, asset_id: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(`${daemon.url}/v1/assets/${asset_id}/raw`)).arrayBuffer())
const list = async (daemon: TestDaemon, query = ''): Promise<any[]> =>
  (await daemon.request('GET', `/v1/derivations${query}`)).body

test('derivations-1: the words of a file are derived, and what was made of what is told', async (t) => {
  const daemon = await startTestDaemon(t)
  const pdf = await pdfAsset(daemon, 'Hello, derivations')
  const { status, body } = await wordsOf(daemon, pdf.asset_id)
  t.is(status, 200)
  const { derivation_id, result_asset_id, created_at_ms } = body
  t.deepEqual(body, {
    derivation_id,
    profile: 'canonical_text',
    profile_version: 1,
    subject: { type: 'asset', asset_id: pdf.asset_id },
    source_fingerprint: `asset:v2:application/pdf:${pdf.sha256}:canonical:text/plain:${pdf.text_sha256}`,
    status: 'completed',
    result_asset_id,
    reused_subject_asset: false,
    created_at_ms,
    cache_status: 'miss',
  })
  t.is((await read(daemon, result_asset_id)).toString(), 'Hello, derivations')
  const { body: result } = await daemon.request('GET', `/v1/assets/${result_asset_id}`)
  t.is(result.media_type, 'text/plain')
  t.is(result.file_name, 'a.pdf.txt')
  t.is((await daemon.request('GET', '/v1/capabilities')).body.derivations, true)
})

test('derivations-2: a subject that is not there or does not fit leaves nothing behind', async (t) => {
  const daemon = await startTestDaemon(t)
  const asset = await store(daemon, 'words')
  await openSession(daemon, 's1')
  const cases = [
    [{ type: 'asset', asset_id: 'asset_none' }, [404, 'asset_not_found'], 'body.subject.asset_id'],
    [{ type: 'session_input', session_id: 's2', offset: 1 }, [404, 'session_not_found'], undefined],
    [{ type: 'session_input', session_id: 's1', offset: 99 }, [404, 'session_input_not_found'], undefined],
    [{ type: 'session_input', session_id: 's1', offset: 0 }, [404, 'session_input_not_found'], undefined],
    [{ type: 'asset' }, [400, 'derivation_invalid'], 'body.subject.asset_id'],
    [{ type: 'asset', asset_id: '  ' }, [400, 'derivation_invalid'], 'body.subject.asset_id'],
    [{ type: 'asset', asset_id: asset.asset_id, also: 1 }, [400, 'derivation_invalid'], 'body.subject.also'],
    [{ type: 'session_input', session_id: 's1', offset: -1 }, [400, 'derivation_invalid'], 'body.subject.offset'],
    [{ type: 'moon' }, [400, 'derivation_invalid'], 'body.subject.type'],
  ] as const
  for (const [subject, refusal, at] of cases) {
    const answer = await derive(daemon, { profile: 'canonical_text', subject })
    t.deepEqual(codeOf(answer), [...refusal], JSON.stringify(subject))
    t.is(answer.body.errors?.[0].path, at)
  }
  const profile = await derive(daemon, { profile: 'sonnet', subject: { type: 'asset', asset_id: asset.asset_id } })
  t.deepEqual([...codeOf(profile), profile.body.errors[0].path], [400, 'derivation_invalid', 'body.profile'])
  t.deepEqual(await list(daemon), [])
})

test('derivations-3: a text is its own words, a file without words is named, an input has those of its files', async (t) => {
  const daemon = await startTestDaemon(t)
  const text = await store(daemon, 'my words')
  const own = await wordsOf(daemon, text.asset_id)
  t.is(own.body.result_asset_id, text.asset_id)
  t.true(own.body.reused_subject_asset)
  const picture = await whitePicture(daemon)
  const named = await wordsOf(daemon, picture.asset_id)
  t.is(
    (await read(daemon, named.body.result_asset_id)).toString(),
    `[file white.png, image/png, asset ${picture.asset_id}]`,
  )
  const session_id = await openSession(daemon)
  const { body: run } = await daemon.request('POST', `/v1/sessions/${session_id}/runs`, {
    input_items: [
      { type: 'text', text: 'What is this?' },
      { type: 'asset_reference', asset_id: text.asset_id },
      { type: 'asset_reference', asset_id: picture.asset_id },
    ],
  })
  await until(daemon, run.run_id, 'completed')
  const { body: log } = await daemon.request('GET', `/v1/sessions/${session_id}/events`)
  const { seq } = log.session.journal.find(({ entry }: any) => entry.event?.type === 'accepted')
  const subject = { type: 'session_input', session_id, offset: seq }
  const told = await derive(daemon, { profile: 'canonical_text', subject })
  const words = (await read(daemon, told.body.result_asset_id)).toString()
  t.is(
    words,
    `What is this?\n\n[file a.txt, text/plain, asset ${text.asset_id}]\nmy words\n\n` +
      `[file white.png, image/png, asset ${picture.asset_id}]`,
  )
  t.is(told.body.source_fingerprint, sha256(words))
  t.deepEqual(told.body.subject, subject)
  const other = await derive(daemon, { profile: 'canonical_text', subject: { ...subject, offset: seq + 1 } })
  t.is(other.status, 404, 'only what a run was told')
})

test('derivations-21: what a run was told is refused unread where its words are more than a file may have', async (t) => {
  const daemon = await startTestDaemon(t)
  const files: any[] = []
  for (const sign of ['a', 'b']) files.push(await store(daemon, sign.repeat(6_400_000)))
  const session_id = await openSession(daemon)
  const { body: run } = await daemon.request('POST', `/v1/sessions/${session_id}/runs`, {
    input_items: files.map(({ asset_id }) => ({ type: 'asset_reference', asset_id })),
  })
  await until(daemon, run.run_id, 'completed')
  const subject = { type: 'session_input', session_id, offset: 1 }
  const { status, body } = await derive(daemon, { profile: 'canonical_text', subject })
  t.is(status, 400)
  t.like(body, { code: 'derivation_invalid', errors: [{ path: 'body.subject' }] })
  t.regex(body.detail, /has 12800000 bytes as text, and 12582912 are the most/u)
  t.deepEqual(await list(daemon), [])
})

test('derivations-4: a picture is its own preview, a drawing has one, and words have none', async (t) => {
  const daemon = await startTestDaemon(t)
  const picture = await whitePicture(daemon)
  const look = (asset_id: string, more: object = {}) =>
    derive(daemon, { profile: 'visual_preview', subject: { type: 'asset', asset_id }, ...more })
  const own = await look(picture.asset_id)
  t.is(own.body.result_asset_id, picture.asset_id)
  t.true(own.body.reused_subject_asset)
  const dxf = ['0', 'SECTION', '2', 'ENTITIES', '0', 'LINE', '10', '0', '20', '0', '11', '9', '21', '9', '0', 'ENDSEC']
  const drawing = await store(daemon, [...dxf, '0', 'EOF', ''].join('\n'), {
    file_name: 'a.dxf',
    media_type: 'application/dxf',
  })
  const drawn = await look(drawing.asset_id)
  const { body: made } = await daemon.request('GET', `/v1/assets/${drawn.body.result_asset_id}`)
  t.deepEqual([made.media_type, made.file_name], ['image/png', 'a.dxf.preview.png'])
  t.not(made.asset_id, drawing.asset_id)
  const text = await store(daemon, 'words')
  t.deepEqual(codeOf(await look(text.asset_id)), [400, 'visual_preview_unsupported'])
  const input = { type: 'session_input', session_id: await openSession(daemon), offset: 1 }
  const run = await submit(daemon, 's1', 'Hello')
  await until(daemon, run.run_id, 'completed')
  const words = await derive(daemon, { profile: 'visual_preview', subject: input })
  t.deepEqual(codeOf(words), [400, 'visual_preview_unsupported'])
  const wish = await look(picture.asset_id, { transcription: { language: 'en' } })
  t.deepEqual([...codeOf(wish), wish.body.errors[0].path], [400, 'derivation_invalid', 'body.transcription'])
  t.is((await list(daemon)).length, 2)
})

/** A profile and a kind of subjects as a third party adds them. */
const shout = () => {
  const latch = createLatch()
  const seen = { calls: 0, atOnce: 0, most: 0 }
  let outcome: 'completed' | 'failed' | 'rejected' = 'completed'
  const plugin = testPlugin('shouter', {
    needs: { assets: Assets },
    register(ctx, { assets }) {
      const derived = async (words: string): Promise<Derived> => {
        const problem = derivationErrors.transcription_failed({
          details: { asset_id: 'x', reason: 'It was too loud.' },
        })
        if (outcome === 'rejected') throw derivationErrors.transcription_unready({ retryAfter: 7 })
        if (outcome === 'failed') return { type: 'failed', problem }
        const bytes = Buffer.from(`${words.toUpperCase()} ${seen.calls}`)
        return { type: 'completed', result: await assets.add({ file_name: 'loud', media_type: 'text/plain', bytes }) }
      }
      ctx.contribute(DerivationProfiles, {
        profile: 'shout',
        version: 3,
        async derive({ material: { words = '' } }) {
          seen.calls += 1
          seen.atOnce += 1
          seen.most = Math.max(seen.most, seen.atOnce)
          await latch.wait()
          seen.atOnce -= 1
          return derived(words)
        },
      })
      ctx.contribute(
        DerivationSubjects,
        defineSubject({
          type: 'whisper',
          struct: object({ type: literal('whisper'), words: string() }),
          key: ({ words }) => `whisper:${words}`,
          resolve({ words }) {
            if (words === 'gone') throw assetErrors.asset_not_found({ details: { asset_id: 'gone' } })
            return { fingerprint: words, words }
          },
        }),
      )
    },
  })
  const ask = (daemon: TestDaemon, words = 'hey', query = '') =>
    derive(daemon, { profile: 'shout', subject: { type: 'whisper', words } }, query)
  return { plugin, latch, seen, ask, become: (next: typeof outcome) => void (outcome = next) }
}

test('derivations-5: the same is derived once, also over a restart; another content anew', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  const pdf = await pdfAsset(first, 'Once')
  const made = await wordsOf(first, pdf.asset_id)
  const again = await wordsOf(first, pdf.asset_id)
  t.deepEqual(again.body, { ...made.body, cache_status: 'hit' })
  await first.stop()
  const second = await startTestDaemon(t, { root })
  t.deepEqual((await wordsOf(second, pdf.asset_id)).body, again.body)
  const other = await pdfAsset(second, 'Twice')
  t.is((await wordsOf(second, other.asset_id)).body.cache_status, 'miss')
})

test('derivations-6: fifty equal requests are one, those of one subject wait, others do not', async (t) => {
  const { plugin, latch, seen, ask } = shout()
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  const equal = Array.from({ length: 50 }, () => ask(daemon))
  const forced = ask(daemon, 'hey', '?force_refresh=true')
  const others = [ask(daemon, 'ho'), ask(daemon, 'hu')]
  while (seen.calls < 3) await new Promise((resolve) => setTimeout(resolve, 5))
  t.is(seen.atOnce, 3, 'three subjects')
  latch.open()
  const answers = await Promise.all(equal)
  t.is(new Set(answers.map(({ body }) => body.derivation_id)).size, 1)
  t.is(answers.filter(({ body }) => body.cache_status === 'miss').length, 1)
  t.is((await forced).body.cache_status, 'miss')
  await Promise.all(others)
  t.is(seen.calls, 4)
  t.is(seen.most, 3)
  t.is((await list(daemon)).length, 4)
})

test('derivations-7: what is forced is preferred when it completes, and a key keeps its last sixteen', async (t) => {
  const { plugin, latch, ask, become } = shout()
  latch.open()
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  const first = (await ask(daemon)).body
  const second = (await ask(daemon, 'hey', '?force_refresh=true')).body
  t.not(second.derivation_id, first.derivation_id)
  t.is((await ask(daemon)).body.derivation_id, second.derivation_id)
  t.is((await ask(daemon, 'hey', '?retry_failed=true')).body.cache_status, 'hit', 'it has not failed')
  become('failed')
  t.is((await ask(daemon, 'hey', '?force_refresh=true')).status, 502)
  t.is((await ask(daemon)).body.derivation_id, second.derivation_id)
  t.is((await list(daemon, '?query=failed')).length, 1)
  become('completed')
  for (let more = 0; more < 20; more += 1) await ask(daemon, 'hey', '?force_refresh=true')
  const kept = await list(daemon)
  t.is(kept.length, 16)
  t.false(kept.some(({ derivation_id }) => derivation_id === first.derivation_id))
  t.deepEqual((await daemon.request('GET', `/v1/assets/${first.result_asset_id}`)).body.derivation_ids, [])
})

test('derivations-8: a failure that lasts is recorded and answered, one that may pass is not recorded', async (t) => {
  const { plugin, latch, seen, ask, become } = shout()
  latch.open()
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  become('rejected')
  const passing = await ask(daemon)
  t.deepEqual(codeOf(passing), [503, 'transcription_unready'])
  t.is(new Headers(passing.headers).get('retry-after'), '7')
  t.deepEqual(await list(daemon), [])
  become('failed')
  const lasting = await ask(daemon)
  t.deepEqual(codeOf(lasting), [502, 'transcription_failed'])
  const hit = await ask(daemon)
  t.is(hit.status, 200)
  const { derivation_id } = lasting.body
  t.like(hit.body, { derivation_id, status: 'failed', result_asset_id: '', cache_status: 'hit', profile_version: 3 })
  t.regex(hit.body.error, /too loud/u)
  t.is(seen.calls, 2)
  become('completed')
  t.is((await ask(daemon)).body.status, 'failed')
  const retried = await ask(daemon, 'hey', '?retry_failed=true')
  t.like(retried.body, { status: 'completed', cache_status: 'miss' })
  t.is((await ask(daemon)).body.derivation_id, retried.body.derivation_id)
  t.is((await ask(daemon, 'gone')).status, 404)
})

test('derivations-9: a completed derivation holds its assets, and its id stands in the result', async (t) => {
  const daemon = await startTestDaemon(t)
  const pdf = await pdfAsset(daemon, 'Held')
  const { derivation_id, result_asset_id } = (await wordsOf(daemon, pdf.asset_id)).body
  const references = async (asset_id: string) =>
    (await daemon.request('GET', `/v1/assets/${asset_id}/references`)).body.references
  const held = { domain: 'derivations', owner_id: derivation_id, hard: true, detail_id: 'completed' }
  t.deepEqual(await references(pdf.asset_id), [{ ...held, role: 'subject_asset' }])
  t.deepEqual(await references(result_asset_id), [{ ...held, role: 'result_asset' }])
  for (const asset_id of [pdf.asset_id, result_asset_id])
    t.deepEqual(codeOf(await daemon.request('DELETE', `/v1/assets/${asset_id}`)), [409, 'asset_delete_blocked'])
  const { body: gc } = await daemon.request('POST', '/v1/assets/gc', { dry_run: false })
  t.like(gc, { blocked_count: 2, deleted_count: 0 })
  t.deepEqual((await daemon.request('GET', `/v1/assets/${result_asset_id}`)).body.derivation_ids, [derivation_id])
  t.is((await daemon.request('GET', `/v1/assets?query=${derivation_id}`)).body[0].asset_id, result_asset_id)
})

const loseBytes = (root: string, digest: string): void => {
  const folder = path.join(root, 'blobs/assets')
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).find(({ name }) => name === digest)
  if (found !== undefined) unlinkSync(path.join(found.parentPath, found.name))
}

test('derivations-10: a completed derivation whose result is gone has failed, and frees its assets', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  const picture = await whitePicture(first)
  const { derivation_id, result_asset_id } = (await wordsOf(first, picture.asset_id)).body
  const { body: result } = await first.request('GET', `/v1/assets/${result_asset_id}`)
  await first.stop()
  loseBytes(root, result.sha256)
  const second = await startTestDaemon(t, { root })
  for (let seen = ''; seen !== 'failed';) seen = (await list(second))[0].status
  const { body: failed } = await second.request('GET', `/v1/derivations/${derivation_id}`)
  t.like(failed, { status: 'failed', result_asset_id: '', error: 'Its result is no longer there.' })
  t.deepEqual((await second.request('GET', `/v1/assets/${result_asset_id}`)).body.derivation_ids, [])
  const again = await wordsOf(second, picture.asset_id, '?retry_failed=true')
  t.like(again.body, { status: 'completed', cache_status: 'miss' })
  t.regex((await read(second, again.body.result_asset_id)).toString(), /white\.png/u)
  loseBytes(root, result.sha256)
  const { body: seen } = await second.request('GET', `/v1/derivations/${again.body.derivation_id}`)
  t.is(seen.status, 'failed', 'also when somebody asks for it')
  t.is((await wordsOf(second, picture.asset_id, '?retry_failed=true')).body.status, 'completed')
})

test('derivations-11: derivations are listed by id, found by what they say, and read', async (t) => {
  const { plugin, latch, ask, become } = shout()
  latch.open()
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  const pdf = await pdfAsset(daemon, 'Found')
  const made = (await wordsOf(daemon, pdf.asset_id)).body
  const loud = (await ask(daemon, 'needle')).body
  become('failed')
  await ask(daemon, 'other')
  const ids = (await list(daemon)).map(({ derivation_id }) => derivation_id)
  t.deepEqual(ids, ids.toSorted())
  t.is(ids.length, 3)
  for (const [query, expected] of [
    [made.derivation_id.slice(0, -1), [made.derivation_id]],
    ['NEEDLE', [loud.derivation_id]],
    ['canonical', [made.derivation_id]],
    [made.result_asset_id, [made.derivation_id]],
    [pdf.sha256.slice(0, 20), [made.derivation_id]],
    ['too loud', [ids[2]]],
    ['nothing like it', []],
  ] as const)
    t.deepEqual(
      (await list(daemon, `?query=${encodeURIComponent(query)}`)).map(({ derivation_id }) => derivation_id),
      [...expected],
      query,
    )
  const { body: page } = await daemon.request('GET', '/v1/derivations?page=true&limit=2')
  t.deepEqual(
    page.items.map(({ derivation_id }: any) => derivation_id),
    ids.slice(0, 2),
  )
  const { cache_status: _, ...shown } = made
  t.deepEqual((await daemon.request('GET', `/v1/derivations/${made.derivation_id}`)).body, shown)
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/derivations/none')), [404, 'derivation_not_found'])
})

test('derivations-12: profiles and subjects of others are kept, shared and listed like ours', async (t) => {
  const { plugin, latch, ask } = shout()
  latch.open()
  const root = await freshRoot()
  const daemon = await startTestDaemon(t, { root, plugins: [plugin] })
  const { body } = await ask(daemon, 'psst')
  t.like(body, { profile: 'shout', profile_version: 3, subject: { type: 'whisper', words: 'psst' } })
  t.is((await read(daemon, body.result_asset_id)).toString(), 'PSST 1')
  await daemon.stop()
  const second = await startTestDaemon(t, { root, plugins: [shout().plugin] })
  t.deepEqual((await ask(second, 'psst')).body, { ...body, cache_status: 'hit' })
})
