/** Kinds of subjects, profiles and transcribers of other plugins that answer what they must not; docs/rules/derivations.md. */
import test, { type ExecutionContext } from 'ava'
import { rm } from 'node:fs/promises'
import { createClock } from '../../../../core/base/clock.js'
import { longestAnswerMs } from '../../../../core/host/context/own-view.js'
import { errors } from '../../../../core/host/errors.js'
import { unsafeCast } from '../../../../core/plugin.js'
import {
  derivationErrors,
  DerivationProfiles,
  DerivationSubjects,
  Transcribers,
  type Transcriber,
} from '../../../../plugins/media/derivations/contract.js'
import { createSpeech, mostMs } from '../../../../plugins/media/derivations/speech.js'
import { asTold, charged, faultsOf, poisons, say, startAsTold } from '../../../support/as-told.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { rewriteRecord } from '../../../support/rewrite.js'
import { codeOf } from '../../../support/runs.js'
import { storeNotes } from '../../../support/sent-files.js'
import { sounds } from '../../../support/sounds.js'

/** Waits for others, of seconds or half an hour, are a fifth of a second. */
const hasty = () => {
  const clock = createClock()
  const sleep = (ms: number, signal?: AbortSignal) =>
    clock.sleep([longestAnswerMs, mostMs].includes(ms) ? 200 : ms, signal)
  return { ...clock, sleep }
}
const hang = (): Promise<unknown> => new Promise(() => {})
const broken = (): never => {
  throw new Error('it is broken')
}
const wrong: Readonly<Record<string, (...given: never[]) => unknown>> = {
  ...poisons,
  broken,
  number: () => 7,
  nothing: () => null,
  empty: () => ({}),
}

const derive = (daemon: TestDaemon, subject: object, profile = 'canonical_text') =>
  daemon.request('POST', '/v1/derivations', { profile, subject })
const told = { type: 'told' }
const storeSound = async (daemon: TestDaemon): Promise<object> => {
  const { media_type, bytes } = sounds['wav'] ?? { media_type: '', bytes: Buffer.alloc(0) }
  const content_base64 = Buffer.from(bytes).toString('base64')
  const { body } = await daemon.request('POST', '/v1/assets', { file_name: 'a.wav', media_type, content_base64 })
  return { type: 'asset', asset_id: body.asset_id }
}

/** Each answer refuses the request by the name of the plugin, which alone is charged, and nothing is recorded. */
const allRefused = async (
  t: ExecutionContext,
  daemon: TestDaemon,
  what: string,
  answers: Readonly<Record<string, (...given: never[]) => unknown>>,
  ask: () => ReturnType<typeof derive>,
  beside: Parameters<typeof say>[0] = {},
  kept = 0,
): Promise<void> => {
  for (const [name, answer] of Object.entries(answers)) {
    say({ ...beside, [what]: answer })
    const refused = await ask()
    t.deepEqual(codeOf(refused), [503, 'plugin_failed'], `${what} ${name}`)
    t.true(refused.body.detail.includes(`The plugin ${asTold} failed in ${what}`), refused.body.detail)
    charged(t, daemon, what, `${what} ${name}`)
  }
  t.is((await daemon.request('GET', '/v1/derivations')).body.length, kept)
}

test.serial('derivations-24: what a kind of subjects may not answer refuses the request by its plugin', async (t) => {
  const daemon = await startAsTold(t, { clock: hasty() })
  const ask = () => derive(daemon, told)
  const resolved = (more: object) => () => ({ fingerprint: 'f', words: 'w', ...more })
  await allRefused(
    t,
    daemon,
    'resolve of derivation-subjects@1',
    {
      ...wrong,
      neither: () => ({ fingerprint: 'f' }),
      fingerprint: resolved({ fingerprint: 7 }),
      long: resolved({ fingerprint: 'f'.repeat(1_025) }),
      words: resolved({ words: 7 }),
      large: resolved({ words: 'w'.repeat(26_000_000) }),
      asset: resolved({ asset: { asset_id: 'asset_1' } }),
      canonical: resolved({ canonical: 'yes' }),
    },
    ask,
  )
  await allRefused(
    t,
    daemon,
    'key of derivation-subjects@1',
    {
      ...wrong,
      ours: () => 'asset:1',
      long: () => `told:${'k'.repeat(512)}`,
      promise: async () => 'told:1',
    },
    ask,
  )
  say({})
  t.deepEqual([(await ask()).body.cache_status, (await ask()).body.cache_status], ['miss', 'hit'])
  await allRefused(t, daemon, 'resolve of derivation-subjects@1', { hang }, ask, {}, 1)
})

test.serial(
  'derivations-24: an asset that is not there blames the plugin that named it, and a caller his own',
  async (t) => {
    const daemon = await startAsTold(t)
    const asset_id = await storeNotes(daemon, 'hello')
    const { body: stored } = await daemon.request('GET', `/v1/assets/${asset_id}`)
    const [gone, nope] = [{ ...stored, asset_id: 'asset_nope' }, { asset_id: 'asset_nope' }]
    const words = { media_type: 'text/plain', sha256: stored.sha256 }
    const resolved = (more: object) => () => ({ fingerprint: 'f', words: 'w', ...more })
    for (const profile of ['canonical_text', 'visual_preview', 'told'])
      await allRefused(
        t,
        daemon,
        'resolve of derivation-subjects@1',
        { asset: resolved({ asset: gone }), canonical: resolved({ canonical: { ...words, asset: gone } }) },
        () => derive(daemon, told, profile),
      )
    const completed = (more: object) => () => ({ type: 'completed', result: { asset_id }, ...more })
    await allRefused(
      t,
      daemon,
      'derive of derivation-profiles@1',
      { result: completed({ result: nope }), times: completed({ timestamps: nope }) },
      () => derive(daemon, { type: 'asset', asset_id }, 'told'),
    )
    t.regex(faultsOf(daemon).last?.message ?? '', /^it named the asset asset_nope, which is not there$/u)
    const own = await derive(daemon, { type: 'asset', ...nope }, 'told')
    t.deepEqual([...codeOf(own), own.body.errors[0].path], [404, 'asset_not_found', 'body.subject.asset_id'])
  },
)

test.serial('derivations-24: an asset that is deleted while it is derived of is no fault of the profile', async (t) => {
  const daemon = await startAsTold(t)
  const asset_id = await storeNotes(daemon, 'hello')
  const deleted = async () => {
    t.is((await daemon.request('DELETE', `/v1/assets/${asset_id}`)).status, 200)
    return { type: 'completed', result: { asset_id } }
  }
  say({ 'derive of derivation-profiles@1': deleted })
  t.deepEqual(codeOf(await derive(daemon, { type: 'asset', asset_id }, 'told')), [404, 'asset_not_found'])
  t.deepEqual(faultsOf(daemon).ids, [])
})

test.serial('derivations-24: a problem of a kind of subjects is its answer, and no fault', async (t) => {
  const daemon = await startAsTold(t)
  for (const of of ['resolve', 'key']) {
    const refuse = () => {
      throw derivationErrors.derivation_subject_refused({ details: { reason: 'It is asleep.' } })
    }
    say({ [`${of} of derivation-subjects@1`]: refuse })
    t.deepEqual(codeOf(await derive(daemon, told)), [400, 'derivation_subject_refused'])
  }
  t.deepEqual(faultsOf(daemon).ids, [])
})

test.serial(
  'derivations-24: where attach fails or what a profile completed is wrong nothing is recorded',
  async (t) => {
    const daemon = await startAsTold(t)
    const asset_id = await storeNotes(daemon, 'hello')
    const completed = (more: object) => () => ({ type: 'completed', result: { asset_id }, ...more })
    const ask = () => derive(daemon, told, 'told')
    const attached = { 'derive of derivation-profiles@1': completed({ attach: true }) }
    await allRefused(t, daemon, 'attach of derivation-subjects@1', { broken, promise: async () => {} }, ask, attached)
    await allRefused(
      t,
      daemon,
      'derive of derivation-profiles@1',
      {
        ...wrong,
        backend: completed({ backend: 7 }),
        half: completed({ backend: { kind: 'transcription' } }),
        times: completed({ timestamps: 7 }),
        attach: completed({ attach: 7 }),
        number: () => ({ type: 'completed', result: { asset_id: 7 } }),
      },
      ask,
    )
    await allRefused(t, daemon, 'fingerprint of derivation-profiles@1', { long: () => 'f'.repeat(3_000_000) }, ask)
  },
)

const plan = { route_id: 'r', provider: 'p', model: 'm', tellsTimes: true, takesPrompt: true }
const transcript = (more: object) => async () => ({ type: 'transcript', text: 'hello', ...more })

test.serial(
  'derivations-24, derivations-25: what a transcriber may not answer refuses the request by its plugin',
  async (t) => {
    const daemon = await startAsTold(t, { clock: hasty() })
    const sound = await storeSound(daemon)
    const ask = () => derive(daemon, sound)
    await allRefused(
      t,
      daemon,
      'plan of transcribers@1',
      {
        ...wrong,
        member: () => ({ ...plan, route_id: 7 }),
        promise: async () => plan,
        long: () => 'x'.repeat(3_000_000),
      },
      ask,
    )
    const planned = { 'plan of transcribers@1': () => plan }
    await allRefused(
      t,
      daemon,
      'transcribe of transcribers@1',
      {
        ...wrong,
        kind: async () => ({ type: 'banana' }),
        text: transcript({ text: 7 }),
        words: transcript({ words: [{ text: 7, start_ms: 'a' }] }),
        backwards: transcript({ words: [{ text: 'a', start_ms: 500, end_ms: 100 }] }),
        usage: transcript({ usage: { input_tokens: -1, output_tokens: 1 } }),
        message: async () => ({ type: 'failed', retryable: true, message: 7 }),
        large: transcript({ text: 'x'.repeat(9_000_000) }),
      },
      ask,
      planned,
    )
    say({ ...planned, 'transcribe of transcribers@1': hang })
    t.deepEqual(codeOf(await ask()), [503, 'transcription_unready'])
    t.deepEqual((await daemon.request('GET', '/v1/derivations')).body, [])
    say({ ...planned, 'transcribe of transcribers@1': transcript({ duration_ms: 900, words: [] }) })
    t.like((await ask()).body, { status: 'completed', backend: { route_id: 'r' } })
  },
)

test.serial('derivations-25: a sound that has its words needs no plan of a transcriber that fails', async (t) => {
  const daemon = await startAsTold(t)
  const sound = await storeSound(daemon)
  say({ 'plan of transcribers@1': () => plan })
  t.is((await derive(daemon, sound)).status, 200)
  say({ 'plan of transcribers@1': broken })
  t.like((await derive(daemon, sound)).body, { status: 'completed' })
  charged(t, daemon, 'plan of transcribers@1')
  t.is(faultsOf(daemon).last?.where, 'plan of transcribers@1 told')
})

test.serial('derivations-25: a plan that fails is charged once for a request', async (t) => {
  const daemon = await startAsTold(t)
  const sound = await storeSound(daemon)
  say({ 'plan of transcribers@1': broken })
  const faultCount = (): number => daemon.daemon.view.plugins().find(({ id }) => id === asTold)?.fault_count ?? 0
  const wish = { profile: 'canonical_text', subject: sound }
  for (const [query, body] of [
    ['', wish],
    ['?force_refresh=true', wish],
    ['', { ...wish, transcription: { language: 'en' } }],
  ] as const) {
    const before = faultCount()
    t.is((await daemon.request('POST', `/v1/derivations${query}`, body)).status, 503)
    t.is(faultCount(), before + 1, JSON.stringify([query, body]))
  }
})

test('derivations-25: the first transcriber that has a plan is asked, and one that fails is passed over', (t) => {
  const transcriber = (id: string, planned: () => unknown): Transcriber =>
    unsafeCast({ id, media_types: ['audio/wav'], plan: planned, transcribe: hang })
  const failing = transcriber('failing', () => {
    throw errors.plugin_failed({ details: { plugin: 'of-others', what: 'plan' } })
  })
  const [idle, able] = [transcriber('idle', () => 'it sleeps'), transcriber('able', () => plan)]
  const planOf = (...transcribers: Transcriber[]) =>
    createSpeech(unsafeCast({ transcribers: () => transcribers })).plan()
  t.like(planOf(failing, idle, able), { transcriber: { id: 'able' }, plan })
  for (const none of [planOf(failing, idle), planOf(idle, failing)]) t.like(none, { code: 'plugin_failed' })
  t.like(planOf(idle), { code: 'transcription_unavailable' })
})

test('derivations-24: what an earlier version kept of a wrong answer is taken away by a start, and nothing else', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const first = await startTestDaemon(t, { root })
  const made: any[] = []
  for (const text of ['one', 'two', 'three', 'four', 'five', 'six'])
    made.push((await derive(first, { type: 'asset', asset_id: await storeNotes(first, text) })).body)
  await first.stop()
  const garbage = [
    { source_fingerprint: 7 },
    { source_fingerprint: undefined, backend: {} },
    { source_fingerprint: 'f'.repeat(3_000_000) },
    { key: 'k'.repeat(2_000_000) },
    { source_fingerprint: 'f'.repeat(4_096) },
  ]
  for (const [at, odd] of garbage.entries())
    rewriteRecord(root, { collection: 'derivations', id: made[at].derivation_id }, (record) => ({ ...record, ...odd }))
  const second = await startTestDaemon(t, { root })
  t.is((await fetch(`${second.url}/v1/derivations?query=asset`)).status, 200)
  const ids = async (): Promise<string[]> => {
    const rows: any = await (await fetch(`${second.url}/v1/derivations`)).json()
    return rows.map(({ derivation_id }: any) => derivation_id)
  }
  while ((await ids()).length > 2);
  t.deepEqual(await ids(), [made[4].derivation_id, made[5].derivation_id])
  t.is((await derive(second, made[0].subject)).body.cache_status, 'miss')
  t.is((await derive(second, made[5].subject)).body.cache_status, 'hit')
})

test('derivations-24: contributions of another shape are refused with their plugin', (t) => {
  const works = () => {}
  const profile = { profile: 'odd', version: 1, derive: works }
  for (const more of [
    { version: 'x' },
    { version: -1 },
    { version: 1.5 },
    { version: 0 },
    { version: undefined },
    { check: 7 },
    { fingerprint: null },
  ])
    t.regex(
      DerivationProfiles.check?.(unsafeCast({ ...profile, ...more })) ?? '',
      /of a derivation profile|a derivation profile must/u,
    )
  t.is(DerivationProfiles.check?.(unsafeCast({ ...profile, check: works })), undefined)
  const kind = { type: 'odd', struct: {}, key: works, resolve: works }
  t.is(DerivationSubjects.check?.(unsafeCast(kind)), 'the struct of a kind of subjects must be a struct')
  t.is(
    DerivationSubjects.check?.(unsafeCast({ ...kind, attach: 7 })),
    'a kind of subjects must have the function attach or none',
  )
  for (const media_types of [[7], ['banana'], ['audio/wav; rate=1'], ['Audio/WAV'], { length: 0 }])
    t.regex(
      Transcribers.check?.(unsafeCast({ id: 'odd', media_types, plan: works, transcribe: works })) ?? '',
      /^media_types of a transcriber/u,
    )
})
